/*
 * Evidence around a run; see worker/watch.h.
 */
#include "worker/watch.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/units.h"
#include "worker/counters.h"
#include "worker/extents.h"
#include "worker/ownfile.h"
#include "worker/run.h"

/* Long enough for a neighbour that streams to show, short enough for nobody to mind. */
#define OTHERS_NS (50 * UNITS_NS_PER_MS)
/* A flush is counted a moment after whoever waits for it has been woken. */
#define SETTLE_NS (10 * UNITS_NS_PER_MS)
/* ZFS: a transaction group is closed after zfs_txg_timeout, and then takes its time to be written. */
#define TXG_SECONDS 5
#define TXG_MARGIN_NS (3 * UNITS_NS_PER_SECOND)
#define BLOCKS_POLL_NS (250 * UNITS_NS_PER_MS)
/* st_blocks that have come so near to the bytes written will not tell more. */
#define BLOCKS_ENOUGH(bytes) ((bytes) / 10 * 9)

static struct sysroot open_root(void) {
        struct sysroot root = { .fd = -1 };

        (void) sysroot_open(&root, "/");
        return root;
}

static void read_leaves(const struct run *r, struct proto_counters *ret) {
        struct sysroot root = open_root();

        counters_read(&root, r->order->leaves, r->order->n_leaves, ret);
        sysroot_close(&root);
}

void watch_others(struct run *r) {
        struct proto_counters before[STACK_LEAVES_MAX], after[STACK_LEAVES_MAX];
        struct proto_evidence *e = &r->report->evidence;
        size_t n = r->order->n_leaves;
        uint64_t started = run_now_ns(), bytes;

        if (n == 0 || r->spec->kind == KIND_PULSE)
                return;
        read_leaves(r, before);
        if (run_sleep_until(r, started + OTHERS_NS) < 0)
                return;
        read_leaves(r, after);
        counters_subtract(before, after, n, after);
        bytes = counters_bytes(after, n);
        if (bytes == PROTO_UNKNOWN)
                return;
        e->other_bytes = (e->other_bytes == PROTO_UNKNOWN ? 0 : e->other_bytes) + bytes;
        e->other_ns += run_now_ns() - started;
}

/* The second number of schedstat: nanoseconds spent waiting in the run queue. */
static uint64_t waited_ns(const struct sysroot *root) {
        char text[96], *end;

        if (sysroot_read(root, "/proc/self/schedstat", text, sizeof text) <= 0)
                return PROTO_UNKNOWN;
        (void) strtoull(text, &end, 10);
        return *end == ' ' ? strtoull(end, NULL, 10) : PROTO_UNKNOWN;
}

/* The eighth number of a processor's line in /proc/stat, in ticks of 1/100 s. */
static uint64_t stolen_ns(const struct sysroot *root, unsigned cpu) {
        char *text, *line, word[32];
        uint64_t ticks = PROTO_UNKNOWN;

        if (sysroot_read_all(root, "/proc/stat", (size_t) 1 << 20, &text) < 0)
                return PROTO_UNKNOWN;
        (void) snprintf(word, sizeof word, "\ncpu%u ", cpu);
        line = strstr(text, word);
        if (line) {
                line += strlen(word);
                for (unsigned field = 0; field < 8; field++)
                        ticks = strtoull(line, &line, 10);
        }
        free(text);
        return ticks == PROTO_UNKNOWN ? ticks : ticks * (UNITS_NS_PER_SECOND / 100);
}

void watch_begin(struct run *r) {
        struct watch *w = &r->watch;
        struct sysroot root = open_root();
        int cpu = sched_getcpu();

        w->cpu = cpu < 0 ? 0 : (unsigned) cpu;
        w->stolen_ns = stolen_ns(&root, w->cpu);
        counters_read(&root, r->order->leaves, r->order->n_leaves, w->before);
        w->waited_ns = waited_ns(&root);
        sysroot_close(&root);
        w->before_ns = run_now_ns();
        w->begun = true;
}

static uint64_t since(uint64_t before, uint64_t after) {
        return before == PROTO_UNKNOWN || after == PROTO_UNKNOWN || after < before ? PROTO_UNKNOWN : after - before;
}

static bool has_unflushed(const struct proto_counters *c, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (c[i].flushes == 0)
                        return true;
        return false;
}

void watch_end(struct run *r) {
        struct watch *w = &r->watch;
        struct proto_evidence *e = &r->report->evidence;
        size_t n = r->order->n_leaves;
        struct proto_counters after[STACK_LEAVES_MAX];
        uint64_t now = run_now_ns();
        struct sysroot root;

        if (!w->begun)
                return;
        root = open_root();
        e->waited_ns = since(w->waited_ns, waited_ns(&root));
        e->stolen_ns = since(w->stolen_ns, stolen_ns(&root, w->cpu));
        e->watched_ns = now - w->before_ns;
        counters_read(&root, r->order->leaves, n, after);
        counters_subtract(w->before, after, n, e->leaves);
        if (has_unflushed(e->leaves, n) && run_sleep_until(r, now + SETTLE_NS) == 0) {
                counters_read(&root, r->order->leaves, n, after);
                counters_subtract(w->before, after, n, e->leaves);
        }
        sysroot_close(&root);
}

/* How many bytes of the file hold data. */
static uint64_t distinct_bytes(const struct run *r) {
        const struct spec *s = r->spec;

        if (s->kind == KIND_STREAM || (s->kind == KIND_COMMIT && s->layout != LAYOUT_OVERWRITE))
                return r->written_bytes;
        return s->kind == KIND_CREATE ? PROTO_UNKNOWN : s->size_bytes / s->block_bytes * s->block_bytes;
}

static void await_blocks(struct run *r, const struct ownfile *f) {
        struct proto_evidence *e = &r->report->evidence;
        struct sysroot root = open_root();
        uint64_t timeout_s = TXG_SECONDS, end;

        (void) sysroot_read_number(&root, "/sys/module/zfs/parameters/zfs_txg_timeout", &timeout_s);
        sysroot_close(&root);
        end = run_now_ns() + timeout_s * UNITS_NS_PER_SECOND + TXG_MARGIN_NS;
        while (e->allocated_bytes < BLOCKS_ENOUGH(e->distinct_bytes) && run_now_ns() < end) {
                if (run_sleep_until(r, run_now_ns() + BLOCKS_POLL_NS) < 0)
                        break;
                e->allocated_bytes = ownfile_allocated_bytes(r, f);
        }
}

void watch_file(struct run *r, struct ownfile *f) {
        struct proto_evidence *e = &r->report->evidence;

        e->distinct_bytes = distinct_bytes(r);
        e->allocated_bytes = ownfile_allocated_bytes(r, f);
        if (r->spec->kind == KIND_PULSE || e->allocated_bytes == PROTO_UNKNOWN)
                return;
        if (ownfile_reopen(r, 0, f) == 0) {
                run_enter(r, PHASE_LOOKUP);
                extents_read(f->fd, e);
                run_leave(r);
                (void) ownfile_close(r, f);
        }
        if (strcmp(r->report->fstype, "zfs") == 0)
                await_blocks(r, f);
}
