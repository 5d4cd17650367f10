/*
 * test - one test of a target: its turns, and what its runs came to.
 *
 * Bookkeeping alone: no process, no loop, no clock. Times are CLOCK_MONOTONIC
 * nanoseconds, passed in.
 */
#ifndef SYNCPROBE_MAIN_TEST_H
#define SYNCPROBE_MAIN_TEST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/proto.h"
#include "core/results.h"
#include "core/snapshot.h"
#include "main/config.h"

struct test {
        const struct config_test *config;
        uint32_t accepted;      /* CODE_BIT()s that the target's administrator vouches for */
        uint64_t turn_every_ns; /* interval; a pulse's period */
        uint64_t phase_ns;
        uint64_t next_ns;       /* its next turn */
        uint64_t ticket;        /* waits for its group since then, first come first served; 0: does not wait */
        uint64_t kept_token;
        struct results results;
        struct result last_ok;
        bool has_last_ok;
        struct snapshot_test counts; /* only its counters are kept up; see test_snapshot() */
        struct test_window *window;  /* a pulse's samples since its last result; NULL for others */
};

/* @machine and the target's name spread the turns. 0 or -ENOMEM. */
int test_init(struct test *t, const struct config_test *config, const struct config_target *target, const char *machine,
              uint64_t now_ns);
void test_done(struct test *t);

static inline bool test_is_pulse(const struct test *t) {
        return t->config->spec.kind == KIND_PULSE;
}

/* Moves next_ns past @now_ns. */
void test_take_turn(struct test *t, uint64_t now_ns);

void test_count_skip(struct test *t, enum skip skip);

/*
 * The end of a run (of a pulse: of one sample). @report NULL: the worker did not
 * live to tell, and @reason, @phase, @error say why; the histograms are what it
 * had measured by then, and count in either case. A late one (@late: its failure was told when its
 * deadline passed) adds its counts and no result.
 */
struct test_ending {
        const struct proto_report *report;
        enum reason reason;
        enum phase phase;
        int error;
        uint64_t started_realtime_ns, now_realtime_ns;
        const struct histogram *sync, *write; /* NULL: none */
        bool late;
        struct stack *stack; /* on which the evidence was read; NULL: not known */
};

/* *ret_result: the result that was added, to be told; NULL where none was (a
 * pulse amid its interval). 0 or -ENOMEM (the counters are right all the same). */
int test_end_run(struct test *t, const struct test_ending *e, uint64_t now_ns, const struct result **ret_result);

/* A pulse's interval ends at this time; UINT64_MAX for other tests, and while no sample is in. */
uint64_t test_window_end_ns(const struct test *t);
/* Ends it: as test_end_run(). */
int test_end_window(struct test *t, uint64_t now_ns, uint64_t now_realtime_ns, struct stack *stack,
                    const struct result **ret_result);

void test_snapshot(const struct test *t, uint64_t now_ns, uint64_t now_realtime_ns, struct snapshot_test *ret);

#endif
