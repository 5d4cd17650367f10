/*
 * A test's bookkeeping; see main/test.h.
 */
#include "main/test.h"

#include <errno.h>
#include <stdlib.h>

#include "core/ownname.h"
#include "core/schedule.h"

/* What a pulse has gathered since its last result. */
struct test_window {
        uint64_t begun_ns, begun_realtime_ns; /* 0: no sample yet */
        struct proto_report last; /* of the newest sample: file system */
        struct proto_evidence evidence; /* of all of them */
        const struct stack *stack;      /* on which it was read; only ever compared */
        uint64_t samples, written_bytes, laid_out_bytes;
        enum reason reason; /* of the newest failed sample, REASON_NONE if there was none */
        enum phase phase;
        int error;
        struct histogram sync, write;
};

static void window_reset(struct test_window *w) {
        *w = (struct test_window) { .begun_ns = 0 };
        proto_evidence_init(&w->evidence);
        histogram_reset(&w->sync);
        histogram_reset(&w->write);
}

int test_init(struct test *t, const struct config_test *config, const struct config_target *target, const char *machine,
              uint64_t now_ns) {
        *t = (struct test) {
                .config = config,
                .accepted = target->accepted,
                .turn_every_ns = config->spec.kind == KIND_PULSE ? config->spec.period_ns : config->interval_ns,
                .kept_token = ownname_hash(target->name, config->name),
        };
        if (test_is_pulse(t)) {
                t->window = malloc(sizeof *t->window);
                if (!t->window)
                        return -ENOMEM;
                window_reset(t->window);
        }
        t->phase_ns = schedule_phase_ns(machine, target->name, config->name, t->turn_every_ns);
        t->next_ns = schedule_first_ns(t->phase_ns, t->turn_every_ns, now_ns);
        return 0;
}

void test_done(struct test *t) {
        results_done(&t->results);
        result_done(&t->last_ok);
        free(t->window);
        t->window = NULL;
}

void test_take_turn(struct test *t, uint64_t now_ns) {
        t->next_ns = schedule_after_ns(t->phase_ns, t->turn_every_ns, t->next_ns, now_ns, NULL);
}

void test_count_skip(struct test *t, enum skip skip) {
        t->counts.skips[skip]++;
}

static void count_result(struct test *t, const struct result *r) {
        if (result_is_ok(r)) {
                t->counts.runs_ok++;
                result_done(&t->last_ok);
                result_copy(&t->last_ok, r);
                t->has_last_ok = true;
        } else {
                t->counts.runs_failed++;
                t->counts.failures[r->reason]++;
        }
}

/* Takes @r over. */
static int add_result(struct test *t, struct result *r, const struct result **ret) {
        int error;

        count_result(t, r);
        error = results_add(&t->results, r);
        result_done(r);
        if (error < 0)
                return error;
        *ret = results_get(&t->results, 0);
        return 0;
}

static void count_calls(struct test *t, const struct test_ending *e) {
        if (e->sync)
                buckets_add(&t->counts.syncs, e->sync);
        if (e->write) {
                t->counts.writes += e->write->samples;
                t->counts.write_sum_ns += e->write->sum_ns;
        }
        if (e->report)
                t->counts.written_bytes += e->report->written_bytes + e->report->laid_out_bytes;
        /* A sync that was in progress when the worker died never returned. */
        if (!e->report && e->phase == PHASE_SYNC && (e->late || e->reason != REASON_TIMEOUT))
                t->counts.syncs_lost++;
}

/* Sums over the leaves make sense only while they are the same ones. */
static void add_evidence(struct test_window *w, const struct test_ending *e) {
        if (w->samples == 0)
                w->stack = e->stack;
        if (w->stack == e->stack)
                evidence_add_sample(&w->evidence, &e->report->evidence);
        else
                proto_evidence_init(&w->evidence);
}

static void add_to_window(struct test *t, const struct test_ending *e, uint64_t now_ns) {
        struct test_window *w = t->window;

        if (w->begun_ns == 0) {
                w->begun_ns = now_ns;
                w->begun_realtime_ns = e->started_realtime_ns;
        }
        if (e->sync && e->write) {
                histogram_merge(&w->sync, e->sync);
                histogram_merge(&w->write, e->write);
        }
        if (e->report) {
                w->last = *e->report;
                add_evidence(w, e);
                w->samples += e->report->samples;
                w->written_bytes += e->report->written_bytes;
                w->laid_out_bytes += e->report->laid_out_bytes;
        }
        if (e->reason != REASON_NONE && !e->late) {
                w->reason = e->reason;
                w->phase = e->phase;
                w->error = e->error;
        }
}

int test_end_run(struct test *t, const struct test_ending *e, uint64_t now_ns, const struct result **ret_result) {
        struct result r;
        int error = 0;

        *ret_result = NULL;
        count_calls(t, e);
        if (t->window) {
                add_to_window(t, e, now_ns);
                return 0;
        }
        if (e->late)
                return 0;
        if (e->report && e->report->outcome == OUTCOME_SKIPPED) {
                test_count_skip(t, SKIP_LOWSPACE);
                return 0;
        }
        if (e->report && e->sync && e->write) {
                result_from_report(&r, &t->config->spec, e->report, e->sync, e->write);
                error = result_judge(&r, e->stack, &e->report->evidence, t->accepted);
        } else {
                result_from_failure(&r, &t->config->spec, e->reason, e->phase, e->error, e->started_realtime_ns,
                                    e->now_realtime_ns);
        }

        int added = add_result(t, &r, ret_result);

        return error < 0 ? error : added;
}

uint64_t test_window_end_ns(const struct test *t) {
        if (!t->window || t->window->begun_ns == 0)
                return UINT64_MAX;
        /* Before the first sample of the next one, whose turn comes an interval later. */
        return t->window->begun_ns + t->config->interval_ns - t->turn_every_ns / 2;
}

int test_end_window(struct test *t, uint64_t now_ns, uint64_t now_realtime_ns, struct stack *stack,
                    const struct result **ret_result) {
        struct test_window *w = t->window;
        struct proto_report report = w->last;
        struct result r;
        int error = 0;

        report.started_realtime_ns = w->begun_realtime_ns;
        report.elapsed_ns = now_ns - w->begun_ns;
        report.samples = w->samples;
        report.written_bytes = w->written_bytes;
        report.laid_out_bytes = w->laid_out_bytes;
        report.outcome = w->reason == REASON_NONE ? OUTCOME_OK : OUTCOME_FAILED;
        report.reason = w->reason;
        report.phase = w->phase;
        report.error = w->error;
        if (w->samples > 0 || w->reason == REASON_NONE) {
                result_from_report(&r, &t->config->spec, &report, &w->sync, &w->write);
                if (stack != w->stack)
                        proto_evidence_init(&w->evidence);
                error = result_judge(&r, stack, &w->evidence, t->accepted);
        } else {
                result_from_failure(&r, &t->config->spec, w->reason, w->phase, w->error, w->begun_realtime_ns,
                                    now_realtime_ns);
        }
        window_reset(w);
        *ret_result = NULL;

        int added = add_result(t, &r, ret_result);

        return error < 0 ? error : added;
}

void test_snapshot(const struct test *t, uint64_t now_ns, uint64_t now_realtime_ns, struct snapshot_test *ret) {
        *ret = t->counts;
        ret->name = t->config->name;
        ret->spec = &t->config->spec;
        ret->interval_ns = t->config->interval_ns;
        ret->next_run_realtime_ns = now_realtime_ns + (t->next_ns > now_ns ? t->next_ns - now_ns : 0);
        ret->results = &t->results;
        ret->last_ok = t->has_last_ok ? &t->last_ok : NULL;
}
