/*
 * utf8: how long a sequence is, and what is none. (test_result_json.c sets it
 * against jansson's own check, on random bytes.)
 */
#include "testutil.h"

#include "core/utf8.h"

static void test_length(void **state) {
        (void) state;
        assert_int_equal(utf8_length(""), 1);
        assert_int_equal(utf8_length("a"), 1);
        assert_int_equal(utf8_length("\xC2\xB5s"), 2);
        assert_int_equal(utf8_length("\xE2\x80\x94"), 3);
        assert_int_equal(utf8_length("\xF4\x8F\xBF\xBF"), 4);
        assert_int_equal(utf8_length("\xF4\x90\x80\x80"), 0);
        assert_int_equal(utf8_length("\xC1\xBF"), 0);
        assert_int_equal(utf8_length("\xED\xA0\x80"), 0);
        assert_int_equal(utf8_length("\xE2\x80"), 0);
        assert_int_equal(utf8_length("\x80"), 0);
}

static void test_columns(void **state) {
        (void) state;
        assert_int_equal(utf8_columns(""), 0);
        assert_int_equal(utf8_columns("251 \xC2\xB5s"), 6);
        assert_int_equal(utf8_columns("\xE2\x96\x88\xE2\x96\x8F"), 2);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_length),
                cmocka_unit_test(test_columns),
        };

        return testutil_run(tests);
}
