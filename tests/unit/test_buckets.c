/*
 * buckets: the exported edges, and what falls between them.
 */
#include "testutil.h"

#include <stdlib.h>

#include "core/buckets.h"

static void test_edges(void **state) {
        (void) state;
        for (unsigned i = 0; i < BUCKETS_EDGES; i++) {
                /* The text and the number say the same. */
                assert_true((uint64_t) (strtod(buckets_edge_text(i), NULL) * 1e9 + 0.5) == buckets_edge_ns(i));
                if (i > 0)
                        assert_true(buckets_edge_ns(i) > buckets_edge_ns(i - 1));
        }
        /* Every edge of etcd's own histogram is among them. */
        for (uint64_t edge = 1000000; edge <= 8192000000; edge *= 2) {
                unsigned i = 0;

                while (i < BUCKETS_EDGES && buckets_edge_ns(i) != edge)
                        i++;
                assert_true(i < BUCKETS_EDGES);
        }
}

/* Single samples are known exactly, so each falls where it belongs. */
static void test_single_samples(void **state) {
        static struct histogram h;

        (void) state;
        for (unsigned round = 0; round < 2000; round++) {
                uint64_t ns = testutil_random() >> (24 + testutil_random_below(30));
                struct buckets b = { .samples = 0 };
                unsigned expected = 0;

                histogram_reset(&h);
                histogram_add(&h, ns);
                buckets_add(&b, &h);
                while (expected < BUCKETS_EDGES && ns > buckets_edge_ns(expected))
                        expected++;
                assert_int_equal(b.counts[expected], 1);
                assert_int_equal(b.samples, 1);
                assert_int_equal(b.sum_ns, ns);
        }
}

/* An edge is an upper one: what lies on it belongs below. */
static void test_samples_on_the_edges(void **state) {
        static struct histogram h;

        (void) state;
        for (unsigned i = 0; i < BUCKETS_EDGES; i++) {
                struct buckets b = { .samples = 0 };

                histogram_reset(&h);
                histogram_add(&h, buckets_edge_ns(i));
                buckets_add(&b, &h);
                assert_int_equal(b.counts[i], 1);
        }
}

static void test_bimodal(void **state) {
        static struct histogram h;
        struct buckets b = { .samples = 0 };
        uint64_t up_to_128 = 0;

        (void) state;
        /* 47 % of 1,844 syncs over 128 ms, all under 2.05 s. */
        histogram_reset(&h);
        for (unsigned i = 0; i < 1844; i++)
                histogram_add(&h, i % 100 < 47 ? 200000000 + i * 1000000 : 3000000);
        buckets_add(&b, &h);
        buckets_add(&b, &h); /* counts grow */
        for (unsigned i = 0; i < BUCKETS_EDGES && buckets_edge_ns(i) <= 128000000; i++)
                up_to_128 += b.counts[i];
        assert_int_equal(up_to_128, 2 * 954);
        assert_int_equal(b.samples, 2 * 1844);
        assert_int_equal(b.counts[BUCKETS_EDGES], 0);
}

static void test_beyond_every_edge(void **state) {
        static struct histogram h;
        struct buckets b = { .samples = 0 };

        (void) state;
        histogram_reset(&h);
        histogram_add(&h, UINT64_C(7200) * 1000000000);
        buckets_add(&b, &h);
        assert_int_equal(b.counts[BUCKETS_EDGES], 1);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_edges),
                cmocka_unit_test(test_single_samples),
                cmocka_unit_test(test_samples_on_the_edges),
                cmocka_unit_test(test_bimodal),
                cmocka_unit_test(test_beyond_every_edge),
        };

        return testutil_run(tests);
}
