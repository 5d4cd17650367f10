/*
 * histogram: the error bound, quantiles against sorted samples, merging, trust.
 */
#include "testutil.h"

#include <stdlib.h>
#include <string.h>

#include "core/histogram.h"

/* Values of every magnitude, as likely small as large. */
static uint64_t random_ns(void) {
        return testutil_random() >> (64 - HISTOGRAM_TOP_BITS + testutil_random_below(HISTOGRAM_TOP_BITS));
}

static void test_error_bound(void **state) {
        (void) state;
        for (unsigned round = 0; round < 1000000; round++) {
                uint64_t ns = random_ns();
                size_t index = histogram_index(ns);
                uint64_t middle = histogram_bucket_middle_ns(index);
                uint64_t error = middle > ns ? middle - ns : ns - middle;

                assert_true(index < HISTOGRAM_BUCKETS);
                assert_true(histogram_bucket_start_ns(index) <= ns);
                assert_true(error <= ns / 128);
        }
}

static void test_buckets_are_contiguous(void **state) {
        (void) state;
        for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
                assert_int_equal(histogram_index(histogram_bucket_start_ns(i)), i);
                if (i > 0)
                        assert_int_equal(histogram_index(histogram_bucket_start_ns(i) - 1), i - 1);
        }
        assert_int_equal(histogram_index(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
        assert_int_equal(histogram_index(UINT64_C(1) << HISTOGRAM_TOP_BITS), HISTOGRAM_BUCKETS - 1);
}

static int compare(const void *a, const void *b) {
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return x < y ? -1 : x > y;
}

static void test_quantiles_against_sorted(void **state) {
        static const struct { double q; uint64_t per_mille; } quantiles[] = {
                { 0.5, 500 }, { 0.9, 900 }, { 0.99, 990 }, { 0.999, 999 },
        };
        static uint64_t samples[5000];
        static struct histogram h;

        (void) state;
        for (unsigned round = 0; round < 200; round++) {
                size_t n = 1 + testutil_random_below(5000);

                histogram_reset(&h);
                for (size_t i = 0; i < n; i++)
                        histogram_add(&h, samples[i] = random_ns());
                qsort(samples, n, sizeof samples[0], compare);
                for (size_t k = 0; k < 4; k++) {
                        uint64_t got = histogram_quantile_ns(&h, quantiles[k].q);
                        uint64_t exact = samples[(n * quantiles[k].per_mille + 999) / 1000 - 1];

                        if (n * (1000 - quantiles[k].per_mille) < 1000) {
                                assert_true(got == HISTOGRAM_NONE);
                                continue;
                        }
                        assert_true((got > exact ? got - exact : exact - got) <= exact / 128);
                        assert_true(got >= samples[0] && got <= samples[n - 1]);
                }
                assert_int_equal(h.min_ns, samples[0]);
                assert_int_equal(h.max_ns, samples[n - 1]);
        }
}

/* etcd's shape of a report: the mean hides what p99 and the maximum say. */
static void test_tail_is_told(void **state) {
        static struct histogram h;
        struct histogram_summary s;

        (void) state;
        histogram_reset(&h);
        for (unsigned i = 0; i < 980; i++)
                histogram_add(&h, 1000000);
        for (unsigned i = 0; i < 19; i++)
                histogram_add(&h, 16000000);
        histogram_add(&h, 1018000000);
        histogram_summarize(&h, &s);
        assert_in_range(s.mean_ns, 2300000, 2310000);
        assert_in_range(s.p50_ns, 992000, 1008000);
        assert_in_range(s.p99_ns, 15875000, 16125000);
        assert_int_equal(s.max_ns, 1018000000);
}

static void test_neighbouring_milliseconds_stay_apart(void **state) {
        static const uint64_t ms[] = { 8, 10, 12, 16 };

        (void) state;
        for (size_t i = 1; i < 4; i++)
                assert_true(histogram_index(ms[i] * 1000000) > histogram_index(ms[i - 1] * 1000000));
}

static void test_small_counts_have_no_quantile(void **state) {
        static struct histogram h;
        struct histogram_summary s;

        (void) state;
        histogram_reset(&h);
        histogram_summarize(&h, &s);
        assert_true(s.min_ns == HISTOGRAM_NONE && s.mean_ns == HISTOGRAM_NONE && s.max_ns == HISTOGRAM_NONE);
        assert_true(s.p50_ns == HISTOGRAM_NONE);
        histogram_add(&h, 5);
        histogram_summarize(&h, &s);
        assert_true(s.min_ns == 5 && s.mean_ns == 5 && s.max_ns == 5 && s.p50_ns == HISTOGRAM_NONE);
        histogram_add(&h, 7);
        assert_int_equal(histogram_quantile_ns(&h, 0.5), 5);
        for (unsigned i = 2; i < 99; i++)
                histogram_add(&h, 7);
        assert_true(histogram_quantile_ns(&h, 0.99) == HISTOGRAM_NONE);
        histogram_add(&h, 7);
        assert_int_equal(histogram_quantile_ns(&h, 0.99), 7);
}

static void test_merge_is_as_one(void **state) {
        static struct histogram a, b, both;

        (void) state;
        histogram_reset(&a);
        histogram_reset(&b);
        histogram_reset(&both);
        for (unsigned i = 0; i < 10000; i++) {
                uint64_t ns = random_ns();

                histogram_add(testutil_random_below(3) ? &a : &b, ns);
                histogram_add(&both, ns);
        }
        histogram_merge(&a, &b);
        assert_memory_equal(&a, &both, sizeof a);
        histogram_reset(&b);
        histogram_merge(&a, &b);
        assert_memory_equal(&a, &both, sizeof a);
}

static void test_count_up_to(void **state) {
        static struct histogram h;

        (void) state;
        histogram_reset(&h);
        for (uint64_t i = 1; i <= 100; i++)
                histogram_add(&h, i);
        assert_int_equal(histogram_count_up_to(&h, 0), 0);
        assert_int_equal(histogram_count_up_to(&h, 50), 50);
        assert_int_equal(histogram_count_up_to(&h, 1000), 100);
}

static void test_consistency(void **state) {
        static struct histogram h, bad;

        (void) state;
        histogram_reset(&h);
        assert_true(histogram_is_consistent(&h));
        for (unsigned i = 0; i < 1000; i++) {
                histogram_add(&h, random_ns());
                assert_true(histogram_is_consistent(&h));
        }
        bad = h;
        bad.samples++;
        assert_false(histogram_is_consistent(&bad));
        bad = h;
        bad.buckets[17]++;
        assert_false(histogram_is_consistent(&bad));
        bad = h;
        bad.max_ns = UINT64_MAX;
        assert_false(histogram_is_consistent(&bad) && histogram_index(h.max_ns) != HISTOGRAM_BUCKETS - 1);
        bad = h;
        bad.min_ns = bad.max_ns + 1;
        assert_false(histogram_is_consistent(&bad));
        bad = h;
        bad.sum_ns = 0;
        assert_false(histogram_is_consistent(&bad) && h.min_ns > 0);
        bad = h;
        bad.buckets[3] = UINT64_MAX; /* a count that would overflow */
        assert_false(histogram_is_consistent(&bad));
        testutil_random_bytes(&bad, sizeof bad);
        assert_false(histogram_is_consistent(&bad));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_error_bound),
                cmocka_unit_test(test_buckets_are_contiguous),
                cmocka_unit_test(test_quantiles_against_sorted),
                cmocka_unit_test(test_tail_is_told),
                cmocka_unit_test(test_neighbouring_milliseconds_stay_apart),
                cmocka_unit_test(test_small_counts_have_no_quantile),
                cmocka_unit_test(test_merge_is_as_one),
                cmocka_unit_test(test_count_up_to),
                cmocka_unit_test(test_consistency),
        };

        return testutil_run(tests);
}
