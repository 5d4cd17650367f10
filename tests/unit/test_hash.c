/*
 * hash: known values (they must never change), and that words do not run together.
 */
#include "testutil.h"

#include "core/hash.h"

static uint64_t of(const char *a, const char *b) {
        const char *const words[] = { a, b };

        return hash_words(words, 2);
}

static void test_known_values(void **state) {
        (void) state;
        assert_int_equal(hash_words(NULL, 0), UINT64_C(0xf52a15e9a9b5e89b));
        assert_int_equal(of("vz", "pulse"), UINT64_C(0xd1679b6342a8703d));
}

static void test_words_stand_apart(void **state) {
        (void) state;
        assert_true(of("ab", "c") != of("a", "bc"));
        assert_true(of("", "a") != of("a", ""));
        assert_int_equal(of("a", "b"), of("a", "b"));
}

/* Each bit is set about as often as not. */
static void test_spread(void **state) {
        unsigned set[64] = { 0 };

        (void) state;
        for (unsigned i = 0; i < 10000; i++) {
                char name[8] = { (char) ('a' + i % 26), (char) ('a' + i / 26 % 26), (char) ('a' + i / 676), 0 };
                uint64_t h = of(name, "commit");

                for (unsigned bit = 0; bit < 64; bit++)
                        set[bit] += h >> bit & 1;
        }
        for (unsigned bit = 0; bit < 64; bit++)
                assert_in_range(set[bit], 4700, 5300);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_known_values),
                cmocka_unit_test(test_words_stand_apart),
                cmocka_unit_test(test_spread),
        };

        return testutil_run(tests);
}
