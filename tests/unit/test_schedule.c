/*
 * schedule: the grid, its first turn and the turn after one.
 */
#include "testutil.h"

#include "core/schedule.h"

#define SECOND UINT64_C(1000000000)

static void test_phase(void **state) {
        (void) state;
        for (unsigned round = 0; round < 10000; round++) {
                uint64_t interval = 1 + (testutil_random() >> (1 + testutil_random_below(62)));

                assert_true(schedule_phase_ns("m", "vz", "commit", interval) < interval);
        }
        assert_int_equal(schedule_phase_ns("m", "vz", "commit", 60 * SECOND),
                         schedule_phase_ns("m", "vz", "commit", 60 * SECOND));
        assert_true(schedule_phase_ns("m", "vz", "commit", 60 * SECOND) !=
                    schedule_phase_ns("n", "vz", "commit", 60 * SECOND));
        assert_true(schedule_phase_ns("m", "vz", "commit", 60 * SECOND) !=
                    schedule_phase_ns("m", "vz", "pulse", 60 * SECOND));
}

static void test_next_by_hand(void **state) {
        (void) state;
        assert_int_equal(schedule_next_ns(3, 10, 0), 3);
        assert_int_equal(schedule_next_ns(3, 10, 2), 3);
        assert_int_equal(schedule_next_ns(3, 10, 3), 13);
        assert_int_equal(schedule_next_ns(3, 10, 12), 13);
        assert_int_equal(schedule_next_ns(3, 10, 13), 23);
        assert_int_equal(schedule_next_ns(0, 1, 5), 6);
}

static void test_next(void **state) {
        (void) state;
        for (unsigned round = 0; round < 100000; round++) {
                uint64_t interval = 1 + testutil_random_below(86400 * SECOND);
                uint64_t phase = testutil_random_below(interval), now = testutil_random_below(1000 * 86400 * SECOND);
                uint64_t next = schedule_next_ns(phase, interval, now);

                assert_true(next > now);
                assert_int_equal(next % interval, phase);
                assert_true(next - now <= interval || (now < phase && next == phase));
        }
}

static void test_first(void **state) {
        (void) state;
        for (unsigned round = 0; round < 100000; round++) {
                uint64_t interval = SECOND + testutil_random_below(86400 * SECOND);
                uint64_t phase = testutil_random_below(interval), now = testutil_random_below(1000 * 86400 * SECOND);
                uint64_t first = schedule_first_ns(phase, interval, now);

                assert_true(first > now);
                assert_true(first - now <= SCHEDULE_FIRST_WITHIN_NS && first - now <= interval);
        }
        /* A short interval is on its own grid at once. */
        assert_int_equal(schedule_first_ns(3 * SECOND, 10 * SECOND, 0), 3 * SECOND);
        /* A day's phase of 61 s comes at second 1 of the minute. */
        assert_int_equal(schedule_first_ns(61 * SECOND, 86400 * SECOND, 120 * SECOND), 121 * SECOND);
}

static void test_after_by_hand(void **state) {
        uint64_t missed = 77;

        (void) state;
        assert_int_equal(schedule_after_ns(3, 10, 13, 14, &missed), 23);
        assert_int_equal(missed, 0);
        assert_int_equal(schedule_after_ns(3, 10, 13, 23, &missed), 23); /* due now */
        assert_int_equal(missed, 0);
        assert_int_equal(schedule_after_ns(3, 10, 13, 24, &missed), 33);
        assert_int_equal(missed, 1);
        assert_int_equal(schedule_after_ns(3, 10, 13, 33, &missed), 33);
        assert_int_equal(missed, 1);
        assert_int_equal(schedule_after_ns(3, 10, 13, 64, &missed), 73);
        assert_int_equal(missed, 5);
        /* A first turn off the grid, 4 before the next on it: that one is left out, not missed. */
        assert_int_equal(schedule_after_ns(3, 10, 9, 9, &missed), 23);
        assert_int_equal(missed, 0);
        /* 5 before is half an interval: taken. */
        assert_int_equal(schedule_after_ns(3, 10, 8, 8, &missed), 13);
        assert_int_equal(schedule_after_ns(3, 10, 13, 64, NULL), 73);
}

static void test_after(void **state) {
        (void) state;
        for (unsigned round = 0; round < 100000; round++) {
                uint64_t interval = SECOND + testutil_random_below(86400 * SECOND);
                uint64_t phase = testutil_random_below(interval);
                uint64_t turn = testutil_random_below(100 * 86400 * SECOND);
                uint64_t now = turn + testutil_random_below(3 * interval), missed;
                uint64_t after = schedule_after_ns(phase, interval, turn, now, &missed);

                assert_true(after >= now && after - turn >= interval / 2);
                assert_int_equal(after % interval, phase);
                assert_true(missed == 0 || after - interval < now);
                assert_true(missed <= 3);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_phase),
                cmocka_unit_test(test_next_by_hand),
                cmocka_unit_test(test_next),
                cmocka_unit_test(test_first),
                cmocka_unit_test(test_after_by_hand),
                cmocka_unit_test(test_after),
        };

        return testutil_run(tests);
}
