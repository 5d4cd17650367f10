/*
 * result: what is worked out from a worker's report, and what is never told.
 */
#include "testutil.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/result.h"

#define MS UINT64_C(1000000)

static struct histogram sync_times, write_times;

/* A report of @samples samples, 2 ms a sync and 1 ms a write. */
static void measure(union proto_message *m, unsigned samples, bool writes) {
        proto_init(m, PROTO_REPORT);
        m->report.outcome = OUTCOME_OK;
        m->report.started_realtime_ns = 1000 * MS;
        m->report.elapsed_ns = samples * 4 * MS;
        m->report.written_bytes = samples * UINT64_C(4096);
        m->report.samples = samples;
        strcpy(m->report.fstype, "ext4");
        histogram_reset(&sync_times);
        histogram_reset(&write_times);
        for (unsigned i = 0; i < samples; i++) {
                histogram_add(&sync_times, 2 * MS);
                if (writes)
                        histogram_add(&write_times, 1 * MS);
        }
}

static void spec_of(struct spec *s, enum kind kind) {
        char error[SPEC_ERROR_BYTES];

        spec_init(s, kind);
        assert_int_equal(spec_finish(s, error), 0);
}

static void make(struct result *r, enum kind kind, unsigned samples, bool writes) {
        union proto_message m;
        struct spec s;

        spec_of(&s, kind);
        measure(&m, samples, writes);
        result_from_report(r, &s, &m.report, &sync_times, &write_times);
}

static void assert_near(double value, double expected) {
        assert_true(fabs(value - expected) <= 1e-9 * fabs(expected));
}

static void test_commit(void **state) {
        struct result r;

        (void) state;
        make(&r, KIND_COMMIT, 200, true);
        assert_true(result_is_ok(&r));
        assert_near(r.syncs_per_second, 1 / 0.003);
        assert_true(isnan(r.stream_bytes_per_second));
        assert_int_equal(r.sync.samples, 200);
        assert_int_equal(r.write.max_ns, 1 * MS);
        assert_int_equal(r.sync.p999_ns, HISTOGRAM_NONE);
        assert_int_equal(r.ended_realtime_ns, 1800 * MS);
        assert_string_equal(r.fstype, "ext4");
        assert_int_equal(r.judgement.verdict, VERDICT_UNVERIFIED);
        make(&r, KIND_PULSE, 10, true);
        assert_near(r.syncs_per_second, 1 / 0.003);
}

/* dsync: one call does both, and is told as the sync. */
static void test_dsync(void **state) {
        struct result r;

        (void) state;
        make(&r, KIND_COMMIT, 200, false);
        assert_true(result_is_ok(&r));
        assert_near(r.syncs_per_second, 500);
        assert_int_equal(r.write.samples, 0);
        assert_int_equal(r.write.p50_ns, HISTOGRAM_NONE);
}

/* create alone counts as pveperf does: whatever the time went into. */
static void test_create(void **state) {
        struct result r;

        (void) state;
        make(&r, KIND_CREATE, 100, true);
        assert_near(r.syncs_per_second, 250);
        assert_true(isnan(r.stream_bytes_per_second));
}

static void test_stream(void **state) {
        struct result r;

        (void) state;
        make(&r, KIND_STREAM, 1, true);
        assert_near(r.stream_bytes_per_second, 4096 / 0.004);
        assert_true(isnan(r.syncs_per_second));
}

static void test_a_run_that_did_nothing_has_failed(void **state) {
        union proto_message m;
        struct result r;
        struct spec s;
        struct strbuf b;
        const char *text;

        (void) state;
        spec_of(&s, KIND_COMMIT);
        for (unsigned broken = 0; broken < 3; broken++) {
                measure(&m, 10, true);
                if (broken == 0)
                        m.report.written_bytes = 0;
                if (broken == 1)
                        m.report.samples = 0;
                if (broken == 2)
                        histogram_reset(&sync_times);
                result_from_report(&r, &s, &m.report, &sync_times, &write_times);
                assert_false(result_is_ok(&r));
                assert_int_equal(r.outcome, OUTCOME_FAILED);
                assert_int_equal(r.reason, REASON_INTERNAL);
                assert_true(isnan(r.syncs_per_second));
                strbuf_init(&b);
                result_add_failure(&b, &r);
                assert_int_equal(strbuf_finish(&b, &text), 0);
                assert_non_null(strstr(text, "wrote nothing"));
                strbuf_done(&b);
        }
}

static void assert_failure(const struct result *r, const char *expected) {
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        result_add_failure(&b, r);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_string_equal(text, expected);
        strbuf_done(&b);
}

static void test_failures(void **state) {
        union proto_message m;
        struct result r;
        struct spec s;

        (void) state;
        spec_of(&s, KIND_COMMIT);
        measure(&m, 50, true);
        m.report.outcome = OUTCOME_FAILED;
        m.report.reason = REASON_NOSPACE;
        m.report.phase = PHASE_SYNC;
        m.report.error = ENOSPC;
        result_from_report(&r, &s, &m.report, &sync_times, &write_times);
        assert_int_equal(r.written_bytes, 50 * 4096); /* spent all the same */
        assert_int_equal(r.sync.samples, 50);
        assert_true(isnan(r.syncs_per_second));
        assert_failure(&r, "fdatasync: no space left on the file system (ENOSPC)");
        r.spec.sync = SYNC_FSYNC;
        assert_failure(&r, "fsync: no space left on the file system (ENOSPC)");
        r.phase = PHASE_WRITE;
        r.error = 0;
        assert_failure(&r, "write: no space left on the file system");
        r.error = 4000;
        assert_failure(&r, "write: no space left on the file system (errno 4000)");

        result_from_failure(&r, &s, REASON_INTERNAL, PHASE_NONE, 0, 5, 7);
        assert_int_equal(r.outcome, OUTCOME_FAILED);
        assert_int_equal(r.started_realtime_ns, 5);
        assert_int_equal(r.ended_realtime_ns, 7);
        assert_null(r.evidence);
        assert_int_equal(r.sync.p50_ns, HISTOGRAM_NONE);
        assert_int_equal(r.sync.samples, 0);
        assert_true(isnan(r.syncs_per_second) && isnan(r.stream_bytes_per_second));
        assert_failure(&r, "an error of syncprobe's own");

        m.report.outcome = OUTCOME_SKIPPED;
        m.report.reason = REASON_NONE;
        result_from_report(&r, &s, &m.report, &sync_times, &write_times);
        assert_int_equal(r.skip, SKIP_LOWSPACE);
        assert_true(isnan(r.syncs_per_second));
        assert_failure(&r, "too little free space");
        make(&r, KIND_COMMIT, 5, true);
        assert_failure(&r, "");
}

static void test_no_infinity(void **state) {
        union proto_message m;
        struct result r;
        struct spec s;

        (void) state;
        for (unsigned kind = 0; kind < KIND_COUNT_; kind++) {
                spec_of(&s, (enum kind) kind);
                measure(&m, 3, true);
                m.report.elapsed_ns = 0;
                histogram_reset(&sync_times);
                histogram_reset(&write_times);
                histogram_add(&sync_times, 0);
                result_from_report(&r, &s, &m.report, &sync_times, &write_times);
                assert_false(isinf(r.syncs_per_second) || isinf(r.stream_bytes_per_second));
        }
}

/* Where a remedy is known, it stands in the text. */
static void test_failures_name_the_remedy(void **state) {
        static const struct {
                int error;
                const char *says;
        } cases[] = {
                { ENOTDIR, "not a directory" }, { ELOOP, "resolved path" }, { EKEYREJECTED, "0700" },
                { EEXIST, "not ours" },         { ENOENT, "no such directory" },
        };

        (void) state;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                struct result r;
                struct strbuf b;
                struct spec spec;
                const char *text;

                spec_init(&spec, KIND_COMMIT);
                result_from_failure(&r, &spec, reason_from_errno(cases[i].error), PHASE_LOOKUP, cases[i].error, 1, 2);
                strbuf_init(&b);
                result_add_failure(&b, &r);
                assert_int_equal(strbuf_finish(&b, &text), 0);
                assert_non_null(strstr(text, cases[i].says));
                strbuf_done(&b);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_failures_name_the_remedy),
                cmocka_unit_test(test_commit),
                cmocka_unit_test(test_dsync),
                cmocka_unit_test(test_create),
                cmocka_unit_test(test_stream),
                cmocka_unit_test(test_a_run_that_did_nothing_has_failed),
                cmocka_unit_test(test_failures),
                cmocka_unit_test(test_no_infinity),
        };

        return testutil_run(tests);
}
