/*
 * results: a ring that grows, forgets the oldest, and survives want of memory.
 */
#include "testutil.h"

#include <errno.h>

#include "core/results.h"
#include "core/snapshot.h"
#include "failalloc.h"

static struct result numbered(uint64_t n, enum outcome outcome) {
        return (struct result) { .started_realtime_ns = n, .outcome = outcome };
}

static void test_newest_first(void **state) {
        struct results rs = { .count = 0 };

        (void) state;
        for (uint64_t n = 1; n <= 3 * RESULTS_MAX + 5; n++) {
                struct result r = numbered(n, OUTCOME_OK);

                assert_int_equal(results_add(&rs, &r), 0);
                assert_int_equal(rs.count, n < RESULTS_MAX ? n : RESULTS_MAX);
                for (size_t i = 0; i < rs.count; i++)
                        assert_int_equal(results_get(&rs, i)->started_realtime_ns, n - i);
        }
        results_done(&rs);
        assert_int_equal(rs.count, 0);
}

/* One bad run in fifty is neither averaged away nor cut off. */
static void test_an_outlier_stays(void **state) {
        struct results rs = { .count = 0 };

        (void) state;
        for (uint64_t n = 1; n <= 50; n++) {
                struct result r = numbered(n, OUTCOME_OK);

                r.stream_bytes_per_second = n == 42 ? 50e6 : 1.5e9;
                r.sync = (struct histogram_summary) { .samples = 200, .p50_ns = 1000000, .max_ns = n == 42 ? 900000000 : 2000000 };
                assert_int_equal(results_add(&rs, &r), 0);
        }
        for (size_t i = 0; i < rs.count; i++) {
                const struct result *r = results_get(&rs, i);
                bool bad = r->started_realtime_ns == 42;

                assert_true(r->stream_bytes_per_second == (bad ? 50e6 : 1.5e9));
                assert_int_equal(r->sync.max_ns, bad ? 900000000 : 2000000);
                assert_int_equal(r->sync.p50_ns, 1000000);
        }
        assert_int_equal(results_get(&rs, 8)->sync.max_ns, 900000000);
        results_done(&rs);
}

static void fill(void *arg) {
        struct results rs = { .count = 0 };

        (void) arg;
        for (uint64_t n = 1; n <= RESULTS_MAX; n++) {
                struct result r = numbered(n, OUTCOME_OK);
                size_t before = rs.count;

                if (results_add(&rs, &r) < 0) {
                        assert_true(failalloc_failed());
                        assert_int_equal(rs.count, before);
                        assert_int_equal(results_add(&rs, &r), 0); /* and then it goes on */
                }
        }
        results_done(&rs);
}

static void test_allocations(void **state) {
        (void) state;
        assert_true(failalloc_each(fill, NULL) > 1);
}

static void test_names(void **state) {
        (void) state;
        assert_string_equal(state_name(STATE_OVERDUE), "overdue");
        assert_string_equal(status_name(STATUS_HUNG), "hung");
        assert_string_equal(state_name(STATE_COUNT_), "unknown");
        assert_string_equal(status_name(STATUS_COUNT_), "unknown");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_newest_first),
                cmocka_unit_test(test_an_outlier_stays),
                cmocka_unit_test(test_allocations),
                cmocka_unit_test(test_names),
        };

        return testutil_run(tests);
}
