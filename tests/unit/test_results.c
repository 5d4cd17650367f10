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
                cmocka_unit_test(test_allocations),
                cmocka_unit_test(test_names),
        };

        return testutil_run(tests);
}
