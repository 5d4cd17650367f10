#include "testutil.h"

#include "snapshot_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_TESTS 3

static const enum kind kinds[N_TESTS] = { KIND_PULSE, KIND_COMMIT, KIND_STREAM };
static struct spec specs[N_TESTS];

/* What a snapshot only borrows. */
struct owned {
        char name[24];
        struct results results[N_TESTS];
};

struct fixture {
        struct snapshot snapshot; /* first: the two have one address */
        struct owned *owned;
        struct snapshot_test *tests;
};

static void fill_target(struct snapshot_target *t, size_t i, struct owned *o, struct snapshot_test *tests) {
        (void) snprintf(o->name, sizeof o->name, "t%zu", i);
        *t = (struct snapshot_target) {
                .name = o->name, .path = "/mnt/some where", .fstype = "ext4", .source = "",
                .state = STATE_IDLE, .status = STATUS_UNKNOWN, .deadline_ns = UINT64_C(30000000000),
                .tests = tests, .n_tests = N_TESTS,
        };
        for (size_t k = 0; k < N_TESTS; k++)
                tests[k] = (struct snapshot_test) {
                        .name = spec_default_name(&specs[k]), .spec = &specs[k],
                        .interval_ns = UINT64_C(60000000000), .results = &o->results[k],
                };
}

struct snapshot *snapshot_fixture_new(size_t n_targets) {
        struct fixture *f = calloc(1, sizeof *f);
        struct snapshot *s = &f->snapshot;
        struct owned *owned = calloc(n_targets + 1, sizeof *owned);
        struct snapshot_test *tests = calloc(n_targets * N_TESTS + 1, sizeof *tests);
        char error[SPEC_ERROR_BYTES];

        assert_true(f && owned && tests);
        for (size_t k = 0; k < N_TESTS; k++) {
                spec_init(&specs[k], kinds[k]);
                assert_int_equal(spec_finish(&specs[k], error), 0);
        }
        *s = (struct snapshot) { .version = "1.2", .ready = true, .reload_successful = true,
                                 .now_realtime_ns = UINT64_C(1764540900000000000), .n_targets = n_targets };
        s->targets = calloc(n_targets + 1, sizeof *s->targets);
        assert_non_null(s->targets);
        for (size_t i = 0; i < n_targets; i++)
                fill_target(&s->targets[i], i, &owned[i], &tests[i * N_TESTS]);
        f->owned = owned;
        f->tests = tests;
        return s;
}

struct snapshot *snapshot_fixture_free(struct snapshot *s) {
        struct fixture *f = (struct fixture *) (void *) s;

        for (size_t i = 0; i < s->n_targets; i++)
                for (size_t k = 0; k < N_TESTS; k++)
                        results_done(&f->owned[i].results[k]);
        free(f->tests);
        free(f->owned);
        free(s->targets);
        free(f);
        return NULL;
}

void snapshot_fixture_add(struct snapshot_test *test, const struct result *r) {
        struct results *rs;

        /* Ours, though the snapshot only reads it. */
        memcpy(&rs, &test->results, sizeof rs); /* NOLINT(bugprone-sizeof-expression): a pointer */
        assert_int_equal(results_add(rs, r), 0);
        if (result_is_ok(r))
                test->last_ok = results_get(rs, 0);
}

void snapshot_fixture_add_ok(struct snapshot_test *test, uint64_t ended_realtime_ns) {
        static struct histogram sync, write;
        static union proto_message m;
        struct result r;

        proto_init(&m, PROTO_REPORT);
        histogram_reset(&sync);
        histogram_reset(&write);
        m.report.samples = test->spec->kind == KIND_STREAM ? 1 : 200;
        m.report.written_bytes = test->spec->kind == KIND_STREAM ? UINT64_C(1) << 30 : 200 * 4096;
        m.report.elapsed_ns = test->spec->kind == KIND_STREAM ? UINT64_C(8000000000) : 201000000;
        m.report.started_realtime_ns = ended_realtime_ns - m.report.elapsed_ns;
        for (uint64_t i = 0; i < m.report.samples; i++) {
                histogram_add(&sync, 1000000);
                histogram_add(&write, 5000);
        }
        result_from_report(&r, test->spec, &m.report, &sync, &write);
        snapshot_fixture_add(test, &r);
        test->runs_ok++;
        buckets_add(&test->syncs, &sync);
        test->writes += write.samples;
        test->write_sum_ns += write.sum_ns;
        test->written_bytes += r.written_bytes;
}

void snapshot_fixture_add_failed(struct snapshot_test *test, uint64_t ended_realtime_ns) {
        struct result r;

        result_from_failure(&r, test->spec, REASON_IO, PHASE_SYNC, 5, ended_realtime_ns - 1000, ended_realtime_ns);
        snapshot_fixture_add(test, &r);
        test->runs_failed++;
        test->failures[REASON_IO]++;
}
