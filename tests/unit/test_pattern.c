/*
 * pattern: nothing repeats where a compressor or a deduplication could see it.
 */
#include "testutil.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/pattern.h"
#include "failalloc.h"

#define BLOCK ((size_t) 4096)
#define BLOCKS ((size_t) 64)

/* Bits a byte that an entropy coder could not save. */
static double entropy(const uint8_t *data, size_t n) {
        unsigned counts[256] = { 0 };
        double bits = 0;

        for (size_t i = 0; i < n; i++)
                counts[data[i]]++;
        for (size_t i = 0; i < 256; i++)
                if (counts[i] > 0)
                        bits -= counts[i] * log2((double) counts[i] / (double) n);
        return bits / (double) n;
}

static int compare_words(const void *a, const void *b) {
        return memcmp(a, b, 8);
}

/* How many of the aligned 8-byte words occur more than once. */
static size_t count_repeated_words(const uint8_t *data, size_t n) {
        uint8_t *sorted = malloc(n);
        size_t repeated = 0;

        assert_non_null(sorted);
        memcpy(sorted, data, n);
        qsort(sorted, n / 8, 8, compare_words);
        for (size_t i = 8; i < n; i += 8)
                repeated += memcmp(sorted + i, sorted + i - 8, 8) == 0;
        free(sorted);
        return repeated;
}

static void take(struct pattern *p, uint8_t *to, size_t blocks, size_t bytes) {
        for (size_t i = 0; i < blocks; i++)
                memcpy(to + i * bytes, pattern_next(p, bytes), bytes);
}

static void test_random_is_not_swallowed(void **state) {
        static uint8_t data[BLOCKS * BLOCK];
        struct pattern *p;

        (void) state;
        assert_int_equal(pattern_new(&p, DATA_RANDOM, 0, BLOCK, testutil_random()), 0);
        take(p, data, BLOCKS, BLOCK);
        assert_true(entropy(data, sizeof data) > 7.99);
        assert_int_equal(count_repeated_words(data, sizeof data), 0);
        pattern_free(p);
}

static void test_sizes(void **state) {
        static const size_t sizes[] = { 1, 7, 8, 255, 256, 257, 2300, 4001, 4096, 65536, 1 << 20, (1 << 20) + 13 };

        (void) state;
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                uint8_t *first = malloc(sizes[i]);
                const uint8_t *second;
                struct pattern *p;

                assert_non_null(first);
                assert_int_equal(pattern_new(&p, DATA_RANDOM, 0, sizes[i], testutil_random()), 0);
                take(p, first, 1, sizes[i]);
                second = pattern_next(p, sizes[i]);
                assert_int_equal((uintptr_t) second % 4096, 0);
                /* All of the block changes, the last bytes too: with eight, a chance of 2^-64. */
                if (sizes[i] >= 8)
                        assert_memory_not_equal(first + sizes[i] - 8, second + sizes[i] - 8, 8);
                pattern_free(p);
                free(first);
        }
}

static void test_runs_differ(void **state) {
        uint8_t data[BLOCK];
        struct pattern *p, *q;

        (void) state;
        assert_int_equal(pattern_new(&p, DATA_RANDOM, 0, BLOCK, 1), 0);
        assert_int_equal(pattern_new(&q, DATA_RANDOM, 0, BLOCK, 2), 0);
        take(p, data, 1, BLOCK);
        assert_memory_not_equal(data, pattern_next(q, BLOCK), 16);
        pattern_free(p);
        pattern_free(q);
}

static void test_zero(void **state) {
        static const uint8_t zeros[BLOCK];
        struct pattern *p;

        (void) state;
        assert_int_equal(pattern_new(&p, DATA_ZERO, 0, BLOCK, 1), 0);
        for (unsigned i = 0; i < 3; i++)
                assert_memory_equal(pattern_next(p, BLOCK), zeros, BLOCK);
        pattern_free(p);
}

static void test_compressible(void **state) {
        static const unsigned percents[] = { 1, 25, 50, 75, 99 };
        static uint8_t data[BLOCKS * BLOCK];

        (void) state;
        for (size_t i = 0; i < 5; i++) {
                struct pattern *p;
                size_t zeros = 0;

                assert_int_equal(pattern_new(&p, DATA_COMPRESSIBLE, percents[i], BLOCK, testutil_random()), 0);
                take(p, data, BLOCKS, BLOCK);
                for (size_t b = 0; b < sizeof data; b++)
                        zeros += data[b] == 0;
                /* To a turn of 256 bytes in 4096, and the zeros among random bytes. */
                assert_true(fabs((double) zeros / (double) sizeof data - percents[i] / 100.0) < 0.07);
                for (size_t b = 0; b < BLOCKS; b++) /* no whole page for zero detection to find */
                        assert_true(entropy(data + b * BLOCK, BLOCK) > 0.05);
                pattern_free(p);
        }
}

/* Faster than any disk: half of the 10 GB/s that it makes undisturbed, since tests share their machine. */
static void test_speed(void **state) {
        struct pattern *p;
        struct timespec from, to;
        double best = 0;

        (void) state;
        assert_int_equal(pattern_new(&p, DATA_RANDOM, 0, 65536, 1), 0);
        for (unsigned round = 0; round < 20; round++) {
                clock_gettime(CLOCK_MONOTONIC, &from);
                for (unsigned i = 0; i < 1000; i++)
                        (void) pattern_next(p, 65536);
                clock_gettime(CLOCK_MONOTONIC, &to);
                double seconds = (double) (to.tv_sec - from.tv_sec) + (double) (to.tv_nsec - from.tv_nsec) / 1e9;
                if (1000 * 65536 / seconds > best)
                        best = 1000 * 65536 / seconds;
        }
        print_message("random data at %.1f GB/s\n", best / 1e9);
#if !defined __SANITIZE_ADDRESS__ && defined __OPTIMIZE__
        if (!getenv("LD_PRELOAD")) /* valgrind's */
                assert_true(best > 5e9);
#endif
        pattern_free(p);
}

static void make(void *arg) {
        struct pattern *p = NULL;
        int r = pattern_new(&p, DATA_RANDOM, 0, BLOCK, 1);

        (void) arg;
        assert_int_equal(r, failalloc_failed() ? -ENOMEM : 0);
        pattern_free(p);
}

static void test_allocations(void **state) {
        (void) state;
        assert_true(failalloc_each(make, NULL) > 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_random_is_not_swallowed), cmocka_unit_test(test_sizes),
                cmocka_unit_test(test_runs_differ),             cmocka_unit_test(test_zero),
                cmocka_unit_test(test_compressible),            cmocka_unit_test(test_speed),
                cmocka_unit_test(test_allocations),
        };

        return testutil_run(tests);
}
