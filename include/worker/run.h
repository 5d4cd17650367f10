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

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "core/pattern.h"
#include "core/proto.h"
#include "worker/watch.h"

/* Files are laid out in pieces of this size, or in blocks, if those are larger. */
#define RUN_LAYOUT_BYTES ((size_t) 1 << 20)

struct run {
        struct proto_page *page;
        const struct proto_run *order;
        const struct spec *spec; /* &order->spec */
        struct proto_report *report;
        uint32_t machine;        /* the machine id's first 8 hex digits */
        int directory;           /* where files are made */
        enum phase phase;        /* of the call in progress, or of the last */
        struct pattern *pattern;
        struct watch watch;
        uint64_t samples;        /* so far; in the report once the run has ended */
        uint64_t written_bytes;
        uint64_t started_ns;     /* of the timed part */
        uint64_t stop_ns;        /* the run ends with the sample that passes this, */
        uint64_t stop_samples;   /* or with this one */
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

static inline void run_count_sample(struct run *r, uint64_t written_bytes) {
        r->samples++;
        r->written_bytes += written_bytes;
        atomic_store_explicit(&r->page->samples, r->samples, memory_order_relaxed);
        atomic_store_explicit(&r->page->written_bytes, r->written_bytes, memory_order_relaxed);
}

/* Makes the data of this run's spec. Undone by run_done(). */
int run_init(struct run *r);
void run_done(struct run *r);

/* The timed part begins: from now on count, duration and max_duration run. */
void run_start(struct run *r);

/* Whether one of them is reached, after a sample that ended at @now_ns. Being cut
 * by max_duration marks the report truncated. */
bool run_is_over_at(struct run *r, uint64_t now_ns);
static inline bool run_is_complete(struct run *r, uint64_t now_ns) {
        return (r->samples >= r->stop_samples || now_ns >= r->stop_ns) && run_is_over_at(r, now_ns);
}

/*
 * The two calls that are timed are inline: a deep way through the kernel has
 * emptied the processor's return stack, and each further return on the way back to the clock
 * is mispredicted (two of them cost 25 ns a sample).
 */

/* What pwrite left over: -errno, or the rest of a short write, to the end. */
int run_write_rest(int fd, const void *data, size_t bytes, uint64_t offset, ssize_t written);

/* All of @bytes at @offset, short writes continued; r->phase is the caller's affair. */
static inline int run_write_all(int fd, const void *data, size_t bytes, uint64_t offset) {
        ssize_t n = pwrite(fd, data, bytes, (off_t) offset);

        return n == (ssize_t) bytes ? 0 : run_write_rest(fd, data, bytes, offset, n);
}

/* fdatasync or fsync, as the spec says (dsync: fdatasync). */
static inline int run_sync(const struct run *r, int fd) {
        int n;

        do
                n = r->spec->sync == SYNC_FSYNC ? fsync(fd) : fdatasync(fd);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : 0;
}

/* Fills a file from @from to @size with data and makes it durable; untimed. */
int run_lay_out(struct run *r, int fd, uint64_t from, uint64_t size);

/* Whether there is no device behind the page cache. */
bool run_is_on_memory(const struct run *r);

/* Sleeps until @until_ns. Returns 0 or -ECANCELED. */
int run_sleep_until(struct run *r, uint64_t until_ns);

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
