/*
 * snapshot - the state of the daemon as its readers see it.
 *
 * Filled in by main for one request and read by the renderers of http/, which
 * are pure: a snapshot in, text out. Everything here is borrowed from main and
 * valid until control returns to the event loop.
 */
#ifndef SYNCPROBE_CORE_SNAPSHOT_H
#define SYNCPROBE_CORE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buckets.h"
#include "core/reason.h"
#include "core/results.h"
#include "core/spec.h"
#include "core/stack.h"

enum state { STATE_IDLE, STATE_RUNNING, STATE_OVERDUE, STATE_STUCK, STATE_UNAVAILABLE, STATE_PAUSED, STATE_COUNT_ };
/* Worst first. */
enum status {
        STATUS_HUNG, STATUS_FAILING, STATUS_UNAVAILABLE, STATUS_SLOW, STATUS_SUSPECT, STATUS_UNKNOWN,
        STATUS_PAUSED, STATUS_FINE, STATUS_COUNT_
};

const char *state_name(enum state state);
const char *status_name(enum status status);

struct snapshot_test {
        const char *name;
        const struct spec *spec;
        uint64_t interval_ns;
        uint64_t next_run_realtime_ns;    /* 0: not known */
        const struct results *results;    /* newest first; finished runs, ok or failed */
        const struct result *last_ok;     /* also when it has left the ring; NULL: never */
        uint64_t runs_ok, runs_failed;    /* since the process began */
        uint64_t failures[REASON_COUNT_]; /* of runs_failed */
        uint64_t skips[SKIP_COUNT_];
        struct buckets syncs;             /* every sync that returned success */
        uint64_t writes, write_sum_ns;    /* every write call likewise */
        uint64_t syncs_lost;              /* that never returned */
        uint64_t pulses_missed;
        uint64_t written_bytes;           /* laying out included */
};

struct snapshot_label {
        const char *name, *value;
};

struct snapshot_target {
        const char *name, *path;
        const char *fstype; /* "" until seen */
        const char *source; /* "" until seen */
        const struct stack *stack; /* what lies under it; NULL: not known */
        const struct snapshot_label *labels;
        size_t n_labels;
        enum state state;
        enum status status;
        enum phase phase;         /* of the call in progress, else PHASE_NONE */
        uint64_t inflight_ns;     /* its age, 0 when none */
        uint64_t stall_total_ns;  /* time spent past a deadline's call, those in progress included */
        uint64_t deadline_ns;
        struct snapshot_test *tests;
        size_t n_tests;
};

struct snapshot {
        const char *version;
        uint64_t now_realtime_ns;
        uint64_t started_realtime_ns;
        bool ready;                      /* configured and listening */
        bool reload_successful;
        uint64_t reloaded_realtime_ns;   /* of the last one that was */
        uint64_t log_messages_dropped;
        struct snapshot_target *targets;
        size_t n_targets;
};

#endif
