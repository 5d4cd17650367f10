/*
 * test: what the daemon keeps of one test's runs.
 */
#include "testutil.h"

#include <string.h>

#include "core/units.h"
#include "main/test.h"

#define SECOND UNITS_NS_PER_SECOND

static struct config_test config_of(enum kind kind) {
        static char name[] = "it";
        struct config_test c = { .name = name, .interval_ns = 60 * SECOND };
        char error[SPEC_ERROR_BYTES];

        spec_init(&c.spec, kind);
        assert_int_equal(spec_finish(&c.spec, error), 0);
        return c;
}

static char vz_name[] = "vz";
static const struct config_target vz = { .name = vz_name };

static struct histogram *samples(unsigned n, uint64_t each_ns) {
        static struct histogram h[2];
        static unsigned turn;
        struct histogram *ret = &h[turn++ % 2];

        histogram_reset(ret);
        while (n-- > 0)
                histogram_add(ret, each_ns);
        return ret;
}

static struct proto_report report_of(uint64_t n) {
        union proto_message m;

        proto_init(&m, PROTO_REPORT);
        proto_evidence_init(&m.report.evidence);
        m.report.samples = n;
        m.report.written_bytes = n * 4096;
        m.report.elapsed_ns = SECOND;
        return m.report;
}

static void test_a_good_run(void **state) {
        struct config_test c = config_of(KIND_COMMIT);
        struct proto_report report = report_of(200);
        struct test t;
        struct test_ending e = { .report = &report, .sync = samples(200, 1000000), .write = samples(200, 5000) };
        const struct result *r;

        (void) state;
        assert_int_equal(test_init(&t, &c, &vz, "m", 0), 0);
        assert_int_equal(test_end_run(&t, &e, 0, &r), 0);
        assert_non_null(r);
        assert_true(result_is_ok(r));
        assert_int_equal(t.counts.runs_ok, 1);
        assert_int_equal(t.counts.syncs.samples, 200);
        assert_int_equal(t.counts.writes, 200);
        assert_int_equal(t.counts.written_bytes, 200 * 4096);
        assert_true(t.has_last_ok);
        test_done(&t);
}

/* The hang is one failure, told when the deadline passed; the sync that came back
 * late is a sample of its true length; one that never came back is lost. */
static void test_a_hang(void **state) {
        struct config_test c = config_of(KIND_COMMIT);
        struct proto_report report = report_of(3);
        struct test t;
        const struct result *r;
        struct test_ending overdue = { .reason = REASON_TIMEOUT, .phase = PHASE_SYNC };
        struct test_ending returned = { .report = &report, .late = true, .sync = samples(3, 40 * SECOND), .write = samples(3, 1) };
        struct test_ending killed = { .reason = REASON_TIMEOUT, .phase = PHASE_SYNC, .late = true };

        (void) state;
        assert_int_equal(test_init(&t, &c, &vz, "m", 0), 0);
        assert_int_equal(test_end_run(&t, &overdue, 0, &r), 0);
        assert_int_equal(r->reason, REASON_TIMEOUT);
        assert_int_equal(test_end_run(&t, &returned, 0, &r), 0);
        assert_null(r);
        assert_int_equal(t.counts.runs_failed, 1);
        assert_int_equal(t.counts.failures[REASON_TIMEOUT], 1);
        assert_int_equal(t.counts.syncs.sum_ns, 120 * SECOND);
        assert_int_equal(t.counts.syncs_lost, 0);
        assert_int_equal(test_end_run(&t, &overdue, 0, &r), 0);
        assert_int_equal(test_end_run(&t, &killed, 0, &r), 0);
        assert_int_equal(t.counts.syncs_lost, 1);
        assert_int_equal(t.counts.runs_failed, 2);
        test_done(&t);
}

static void test_too_little_space_is_a_skip(void **state) {
        struct config_test c = config_of(KIND_STREAM);
        struct proto_report report = report_of(0);
        struct test_ending e = { .report = &report, .sync = samples(0, 0), .write = samples(0, 0) };
        const struct result *r;
        struct test t;

        (void) state;
        report.outcome = OUTCOME_SKIPPED;
        assert_int_equal(test_init(&t, &c, &vz, "m", 0), 0);
        assert_int_equal(test_end_run(&t, &e, 0, &r), 0);
        assert_null(r);
        assert_int_equal(t.counts.skips[SKIP_LOWSPACE], 1);
        assert_int_equal(t.counts.runs_ok + t.counts.runs_failed, 0);
        test_done(&t);
}

/* Twelve samples, one result; the counters grow with each sample. */
static void test_pulses_are_summed_up(void **state) {
        struct config_test c = config_of(KIND_PULSE);
        struct proto_report report = report_of(1);
        const struct result *r;
        struct test t;

        (void) state;
        c.spec.period_ns = 5 * SECOND;
        assert_int_equal(test_init(&t, &c, &vz, "m", 0), 0);
        assert_true(test_window_end_ns(&t) == UINT64_MAX);
        for (uint64_t i = 0; i < 12; i++) {
                struct test_ending e = { .report = &report, .sync = samples(1, 1000000 * (i + 1)), .write = samples(1, 1) };

                assert_int_equal(test_end_run(&t, &e, (100 + 5 * i) * SECOND, &r), 0);
                assert_null(r);
                assert_int_equal(t.counts.syncs.samples, i + 1);
        }
        /* Between the last sample of this interval and the first of the next. */
        assert_true(test_window_end_ns(&t) > 155 * SECOND && test_window_end_ns(&t) < 160 * SECOND);
        assert_int_equal(test_end_window(&t, 157 * SECOND, 157 * SECOND, NULL, &r), 0);
        assert_true(result_is_ok(r));
        assert_int_equal(r->samples, 12);
        assert_int_equal(r->sync.max_ns, 12000000);
        assert_int_equal(t.counts.runs_ok, 1);
        assert_true(test_window_end_ns(&t) == UINT64_MAX);
        test_done(&t);
}

static void test_one_failed_pulse_fails_its_interval(void **state) {
        struct config_test c = config_of(KIND_PULSE);
        struct proto_report good = report_of(1), bad = report_of(0);
        struct test_ending first = { .report = &good, .sync = samples(1, 1), .write = samples(1, 1) };
        struct test_ending second = { .report = &bad, .reason = REASON_IO, .phase = PHASE_SYNC, .error = 5 };
        const struct result *r;
        struct test t;

        (void) state;
        bad.outcome = OUTCOME_FAILED;
        bad.reason = REASON_IO;
        assert_int_equal(test_init(&t, &c, &vz, "m", 0), 0);
        assert_int_equal(test_end_run(&t, &first, SECOND, &r), 0);
        assert_int_equal(test_end_run(&t, &second, 2 * SECOND, &r), 0);
        assert_int_equal(test_end_window(&t, 3 * SECOND, 3 * SECOND, NULL, &r), 0);
        assert_int_equal(r->outcome, OUTCOME_FAILED);
        assert_int_equal(r->reason, REASON_IO);
        assert_int_equal(r->phase, PHASE_SYNC);
        assert_int_equal(t.counts.failures[REASON_IO], 1);
        test_done(&t);
}

static void test_turns(void **state) {
        struct config_test c = config_of(KIND_COMMIT);
        struct test t;

        (void) state;
        assert_int_equal(test_init(&t, &c, &vz, "m", 1000 * SECOND), 0);
        assert_true(t.next_ns > 1000 * SECOND && t.next_ns <= 1060 * SECOND);
        for (uint64_t turn = t.next_ns, i = 0; i < 100; i++, turn = t.next_ns) {
                test_take_turn(&t, turn);
                assert_int_equal(t.next_ns - turn, 60 * SECOND);
        }
        /* A long sleep is no burst. */
        test_take_turn(&t, 1000000 * SECOND);
        assert_true(t.next_ns > 1000000 * SECOND && t.next_ns <= 1000060 * SECOND);
        test_done(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_good_run),
                cmocka_unit_test(test_a_hang),
                cmocka_unit_test(test_too_little_space_is_a_skip),
                cmocka_unit_test(test_pulses_are_summed_up),
                cmocka_unit_test(test_one_failed_pulse_fails_its_interval),
                cmocka_unit_test(test_turns),
        };

        return testutil_run(tests);
}
