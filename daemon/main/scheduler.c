/*
 * Turns and groups; see main/scheduler.h.
 *
 * Everything is looked for by walking the tests: a thousand of them cost some
 * microseconds, once per turn, and there is no second list to keep in step.
 */
#include "main/scheduler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "main/clock.h"
#include "main/log.h"
#include "main/mapper.h"
#include "main/target.h"

struct scheduler {
        sd_event *event;
        const struct config *config;
        struct target_host host;
        struct mapper *mapper;
        struct target **targets;
        size_t n_targets;
        sd_event_source *timer;
        uint64_t tickets; /* given out so far */
        bool stopping;
        void (*on_stopped)(void *userdata);
        void *on_stopped_userdata;
        struct snapshot_target *snapshot_targets;
        struct snapshot_test *snapshot_tests; /* of all targets, one behind the other */
};

/* Whether a test of another target with the group of @t runs. */
static bool group_is_busy(const struct scheduler *s, const struct target *t) {
        const char *group = target_group(t);

        for (size_t i = 0; i < s->n_targets; i++) {
                const struct target *other = s->targets[i];

                /* A hung one would keep its group for ever; what hangs it may be
                 * the path alone, and the others find out by themselves. */
                if (other != t && group[0] != '\0' && target_is_busy(other) && !target_is_hung(other) &&
                    strcmp(target_group(other), group) == 0)
                        return true;
        }
        return false;
}

/* --- turns --- */

static void take_pulse_turn(struct scheduler *s, struct target *t, struct test *test) {
        if (target_is_hung(t))
                test->counts.pulses_missed++;
        else if (target_is_busy(t) || group_is_busy(s, t))
                test_count_skip(test, SKIP_OVERLAP);
        else
                target_start(t, test);
}

static void take_turn(struct scheduler *s, struct target *t, struct test *test, uint64_t now) {
        test_take_turn(test, now);
        if (test_is_pulse(test)) {
                take_pulse_turn(s, t, test);
        } else if (target_is_hung(t)) {
                test->ticket = 0;
                test_count_skip(test, SKIP_INFLIGHT);
        } else if (test->ticket != 0) {
                test_count_skip(test, SKIP_OVERLAP); /* the turn before; this one waits in its place */
        } else {
                test->ticket = ++s->tickets;
        }
}

/* The waiting test that came first among those that can start; NULL: none. */
static struct test *find_startable(struct scheduler *s, struct target **ret_target) {
        struct test *first = NULL;

        for (size_t i = 0; i < s->n_targets; i++) {
                struct target *t = s->targets[i];
                size_t n;
                struct test *tests = target_tests(t, &n);

                for (size_t k = 0; k < n; k++) {
                        if (tests[k].ticket == 0 || (first && first->ticket < tests[k].ticket))
                                continue;
                        if (target_is_busy(t) || group_is_busy(s, t))
                                continue;
                        first = &tests[k];
                        *ret_target = t;
                }
        }
        return first;
}

static void start_waiting(struct scheduler *s) {
        struct target *t;
        struct test *test;

        while (!s->stopping && (test = find_startable(s, &t))) {
                test->ticket = 0;
                target_start(t, test);
        }
}

/* --- the timer --- */

static void arm(struct scheduler *s, uint64_t now) {
        uint64_t next = UINT64_MAX;

        for (size_t i = 0; i < s->n_targets; i++) {
                size_t n;
                struct test *tests = target_tests(s->targets[i], &n);
                uint64_t turn = UINT64_MAX;

                for (size_t k = 0; k < n; k++) {
                        uint64_t end = test_window_end_ns(&tests[k]);

                        turn = tests[k].next_ns < turn ? tests[k].next_ns : turn;
                        next = end < next ? end : next;
                }
                next = turn < next ? turn : next;
                target_rest(s->targets[i], turn, now);
        }
        if (next == UINT64_MAX || s->stopping) {
                (void) sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
                return;
        }
        (void) sd_event_source_set_time(s->timer, (next + 999) / 1000);
        (void) sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        struct scheduler *s = userdata;
        uint64_t now = clock_monotonic_ns();

        (void) source;
        (void) usec;
        for (size_t i = 0; i < s->n_targets && !s->stopping; i++) {
                size_t n;
                struct test *tests = target_tests(s->targets[i], &n);

                for (size_t k = 0; k < n; k++) {
                        if (test_window_end_ns(&tests[k]) <= now)
                                target_end_window(s->targets[i], &tests[k]);
                        if (tests[k].next_ns <= now)
                                take_turn(s, s->targets[i], &tests[k], now);
                }
        }
        start_waiting(s);
        arm(s, clock_monotonic_ns());
        return 0;
}

static void tell_if_stopped(struct scheduler *s) {
        for (size_t i = 0; i < s->n_targets; i++)
                if (target_has_process(s->targets[i]))
                        return;
        s->on_stopped(s->on_stopped_userdata);
}

/* A run has ended, deep inside the target's own code: what waits is started from
 * the loop, with nothing half done on the stack. */
static void on_free(void *userdata) {
        struct scheduler *s = userdata;

        if (s->stopping) {
                tell_if_stopped(s);
                return;
        }
        (void) sd_event_source_set_time(s->timer, 0);
        (void) sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT);
}

static uint32_t kept_tokens(void *userdata, const char *path, uint64_t ret[PROTO_KEPT_MAX]) {
        const struct scheduler *s = userdata;
        uint32_t count = 0;

        for (size_t i = 0; i < s->n_targets; i++) {
                size_t n;
                struct test *tests = target_tests(s->targets[i], &n);

                if (strcmp(target_config(s->targets[i])->path, path) != 0)
                        continue;
                for (size_t k = 0; k < n && count < PROTO_KEPT_MAX; k++)
                        if (test_is_pulse(&tests[k]) || tests[k].config->spec.reuse)
                                ret[count++] = tests[k].kept_token;
        }
        return count;
}

/* --- life --- */

int scheduler_new(struct scheduler **ret, struct sd_event *event, const struct config *config,
                  const char *worker_program, const char *machine) {
        struct scheduler *s = calloc(1, sizeof *s);
        size_t n_tests = 0;
        int r = 0;

        if (!s)
                return -ENOMEM;
        s->event = sd_event_ref(event);
        s->config = config;
        r = mapper_new(&s->mapper, event, worker_program);
        s->host = (struct target_host) {
                .event = event,
                .mapper = s->mapper,
                .worker_program = worker_program,
                .machine = machine,
                .on_free = on_free,
                .kept_tokens = kept_tokens,
                .userdata = s,
        };
        for (size_t i = 0; i < config->n_targets; i++)
                n_tests += config->targets[i].n_tests;
        /* One more of each: calloc(0) may be NULL. */
        s->targets = calloc(config->n_targets + 1, sizeof *s->targets); /* NOLINT(bugprone-sizeof-expression): pointers */
        s->snapshot_targets = calloc(config->n_targets + 1, sizeof *s->snapshot_targets);
        s->snapshot_tests = calloc(n_tests + 1, sizeof *s->snapshot_tests);
        if (!s->targets || !s->snapshot_targets || !s->snapshot_tests)
                r = -ENOMEM;
        for (size_t i = 0; i < config->n_targets && r == 0; i++) {
                r = target_new(&s->targets[i], &s->host, &config->targets[i]);
                if (r == 0)
                        s->n_targets++;
        }
        if (r == 0)
                r = sd_event_add_time(event, &s->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, s);
        if (r >= 0) {
                (void) sd_event_source_set_description(s->timer, "schedule");
                r = sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
        }
        if (r < 0) {
                scheduler_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct scheduler *scheduler_free(struct scheduler *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_targets; i++)
                target_free(s->targets[i]);
        mapper_free(s->mapper);
        free(s->targets);
        free(s->snapshot_targets);
        free(s->snapshot_tests);
        sd_event_source_disable_unref(s->timer);
        sd_event_unref(s->event);
        free(s);
        return NULL;
}

void scheduler_start(struct scheduler *s) {
        arm(s, clock_monotonic_ns());
}

void scheduler_stop(struct scheduler *s, void (*on_stopped)(void *userdata), void *userdata) {
        s->stopping = true;
        s->on_stopped = on_stopped;
        s->on_stopped_userdata = userdata;
        (void) sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
        for (size_t i = 0; i < s->n_targets; i++)
                target_stop(s->targets[i]);
        tell_if_stopped(s);
}

void scheduler_kill(struct scheduler *s) {
        for (size_t i = 0; i < s->n_targets; i++) {
                if (!target_has_process(s->targets[i]))
                        continue;
                log_warning("target %s: its worker is inside the kernel and is left behind; it ends when the "
                            "storage answers", target_config(s->targets[i])->name);
                target_kill(s->targets[i]);
        }
}

void scheduler_snapshot(struct scheduler *s, struct snapshot *ret) {
        uint64_t now = clock_monotonic_ns(), now_realtime = clock_realtime_ns();
        struct snapshot_test *tests = s->snapshot_tests;

        for (size_t i = 0; i < s->n_targets; i++) {
                target_snapshot(s->targets[i], now, now_realtime, &s->snapshot_targets[i], tests);
                tests += s->snapshot_targets[i].n_tests;
        }
        ret->now_realtime_ns = now_realtime;
        ret->targets = s->snapshot_targets;
        ret->n_targets = s->n_targets;
}
