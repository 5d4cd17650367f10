/*
 * watch - evidence around a run: counters of the leaves, what others wrote, how
 * long the worker waited for a processor, and how the test file lies.
 *
 * Everything is read before the timed part or after it. All of it goes into
 * report->evidence; what cannot be seen stays PROTO_UNKNOWN, and is never an error.
 */
#ifndef SYNCPROBE_WORKER_WATCH_H
#define SYNCPROBE_WORKER_WATCH_H

#include "core/proto.h"

struct run;
struct ownfile;

struct watch {
        struct proto_counters before[STACK_LEAVES_MAX];
        uint64_t before_ns;
        uint64_t waited_ns, stolen_ns; /* totals at that time */
        unsigned cpu;                  /* whose stolen time it is */
        bool begun;
};

/* While nothing of ours goes on: how much others write. Sleeps for a moment,
 * once before the run and once after; a pulse does without. */
void watch_others(struct run *r);

/* Right before run_start(), right after the last sample. */
void watch_begin(struct run *r);
void watch_end(struct run *r);

/* Of the test file, closed and not yet removed: what is allocated to it. On ZFS it
 * waits until the transaction group must have gone. */
void watch_file(struct run *r, struct ownfile *f);

#endif
