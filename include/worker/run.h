/*
 * run - the run in progress: what the kinds share while they work.
 *
 * Every system call on the target is announced in the shared page before it is
 * made (run_enter) and taken back after (run_leave), so that the parent can say
 * in which phase a hung worker sits and since when. All functions here may block
 * for as long as the storage does: this is the one place where that is right.
 *
 * Errors are -errno; run->phase is then the phase of the call that failed.
 * -ECANCELED: the parent, or SIGTERM, asked to stop. EINTR never comes out.
 */
#ifndef SYNCPROBE_WORKER_RUN_H
#define SYNCPROBE_WORKER_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "core/pattern.h"
#include "core/proto.h"

/* The buffer holds a block, and at least this much, in which files are laid out. */
#define RUN_BUFFER_MIN_BYTES ((size_t) 1 << 20)

struct run {
        struct proto_page *page;
        const struct proto_run *order;
        const struct spec *spec; /* &order->spec */
        struct proto_report *report;
        uint32_t machine;        /* the machine id's first 8 hex digits */
        int directory;           /* where files are made */
        enum phase phase;        /* of the call in progress, or of the last */
        struct pattern *pattern;
        uint8_t *buffer;         /* page-aligned */
        size_t buffer_bytes;
};

extern volatile sig_atomic_t run_terminated; /* set by SIGTERM's handler, in worker.c */

static inline uint64_t run_now_ns(void) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec;
}

static inline void run_enter_at(struct run *r, enum phase phase, uint64_t now_ns) {
        r->phase = phase;
        atomic_store_explicit(&r->page->call, proto_call(phase, now_ns), memory_order_relaxed);
}

static inline void run_enter(struct run *r, enum phase phase) {
        run_enter_at(r, phase, run_now_ns());
}

static inline void run_leave(struct run *r) {
        atomic_store_explicit(&r->page->call, 0, memory_order_relaxed);
}

static inline bool run_is_cancelled(const struct run *r) {
        return run_terminated != 0 || atomic_load_explicit(&r->page->cancel, memory_order_relaxed) != 0;
}

/* Counts one sample in the page and in the report. */
static inline void run_count_sample(struct run *r, uint64_t written_bytes) {
        r->report->samples++;
        r->report->written_bytes += written_bytes;
        atomic_store_explicit(&r->page->samples, r->report->samples, memory_order_relaxed);
        atomic_store_explicit(&r->page->written_bytes, r->report->written_bytes, memory_order_relaxed);
}

/* The pattern and the buffer of this run's spec. Undone by run_done(). */
int run_init(struct run *r);
void run_done(struct run *r);

/* Notes the wall-clock time at which the timed part begins. */
void run_mark_started(struct run *r);

/* All of @bytes at @offset, short writes continued; r->phase is the caller's affair. */
int run_write_all(int fd, const void *data, size_t bytes, uint64_t offset);

/* fdatasync or fsync, as the spec says (dsync: fdatasync). */
int run_sync(const struct run *r, int fd);

/* Fills a file from @from to @size with data and makes it durable; untimed. */
int run_lay_out(struct run *r, int fd, uint64_t from, uint64_t size);

/* Sleeps until @until_ns. Returns 0 or -ECANCELED. */
int run_sleep_until(struct run *r, uint64_t until_ns);

/* Whether the run's limits are reached at @now_ns (after a sample): the sample
 * count, its duration, or max_duration, which marks the report truncated. */
bool run_is_complete(struct run *r, uint64_t started_ns, uint64_t now_ns);

/* Whether the order says how much has to stay free. */
static inline bool run_is_asked_for_space(const struct run *r) {
        return r->order->min_free_bytes > 0 || r->order->min_free_percent > 0;
}

/*
 * Whether writing @bytes more would leave less free than the order asks for, or
 * take more than half of what is free. Returns 0 (room enough, or nobody
 * asked), -ENOSPC, or another -errno.
 */
int run_check_space(struct run *r, uint64_t bytes);

#endif
