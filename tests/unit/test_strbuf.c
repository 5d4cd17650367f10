/*
 * strbuf: growth, the sticky error, numbers whatever the locale says.
 */
#include "testutil.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/strbuf.h"
#include "failalloc.h"

static void assert_text(struct strbuf *b, const char *expected) {
        const char *text;

        assert_int_equal(strbuf_finish(b, &text), 0);
        assert_string_equal(text, expected);
        strbuf_done(b);
}

static void test_empty(void **state) {
        struct strbuf b;
        char *stolen;

        (void) state;
        strbuf_init(&b);
        assert_text(&b, "");
        assert_int_equal(strbuf_steal(&b, &stolen), 0);
        assert_string_equal(stolen, "");
        free(stolen);
}

static void test_pieces(void **state) {
        struct strbuf b;

        (void) state;
        strbuf_init(&b);
        strbuf_add(&b, "one");
        strbuf_add_char(&b, ' ');
        strbuf_add_bytes(&b, "twofold", 3);
        strbuf_add_bytes(&b, NULL, 0);
        strbuf_printf(&b, " %d %s", 3, "four");
        strbuf_add_repeated(&b, "ab", 3);
        strbuf_add_repeated(&b, "ab", 0);
        assert_text(&b, "one two 3 fourababab");
}

/* Random pieces against a plain array, NULs in them too. */
static void test_random_growth(void **state) {
        char expected[8192], piece[200];
        struct strbuf b;
        const char *text;
        size_t length = 0;

        (void) state;
        strbuf_init(&b);
        while (length < sizeof expected - sizeof piece) {
                size_t n = testutil_random_below(sizeof piece);

                testutil_random_bytes(piece, n);
                memcpy(expected + length, piece, n);
                strbuf_add_bytes(&b, piece, n);
                length += n;
                if (testutil_random_below(2) == 0) {
                        memset(piece, 'x', n);
                        piece[n] = '\0';
                        memcpy(expected + length, piece, n);
                        strbuf_printf(&b, "%s", piece);
                        length += n;
                }
                if (length > sizeof expected - 2 * sizeof piece)
                        break;
        }
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_int_equal(b.length, length);
        assert_memory_equal(text, expected, length);
        assert_int_equal(text[length], '\0');
        strbuf_done(&b);
}

/* The lengths around each doubling, where an off-by-one would hide. */
static void test_every_length(void **state) {
        char text[600];

        (void) state;
        memset(text, 'y', sizeof text);
        for (size_t n = 0; n < sizeof text - 1; n++) {
                struct strbuf b;
                const char *got;

                text[n] = '\0';
                strbuf_init(&b);
                strbuf_printf(&b, "%s", text);
                assert_int_equal(strbuf_finish(&b, &got), 0);
                assert_string_equal(got, text);
                strbuf_done(&b);
                text[n] = 'y';
        }
}

static void check_numbers(void) {
        struct strbuf b;

        strbuf_init(&b);
        strbuf_add_double(&b, 485.1, 12);
        strbuf_add_char(&b, ' ');
        strbuf_add_double(&b, -2.5e-05, 6);
        strbuf_add_char(&b, ' ');
        strbuf_add_double(&b, 1e300, 3);
        strbuf_add_char(&b, ' ');
        strbuf_add_double(&b, 0, 6);
        strbuf_add_char(&b, ' ');
        strbuf_add_fixed(&b, 1234567.891, 2);
        strbuf_add_char(&b, ' ');
        strbuf_add_fixed(&b, -0.5, 0);
        strbuf_add_char(&b, ' ');
        strbuf_add_double(&b, (double) NAN, 6);
        strbuf_add_char(&b, ' ');
        strbuf_add_fixed(&b, (double) INFINITY, 1);
        strbuf_add_char(&b, ' ');
        strbuf_add_double(&b, (double) -INFINITY, 1);
        assert_text(&b, "485.1 -2.5e-05 1e+300 0 1234567.89 -0 NaN +Inf -Inf");
}

static void test_numbers(void **state) {
        (void) state;
        check_numbers();
}

static void test_numbers_in_a_locale_with_a_comma(void **state) {
        static const char *const locales[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "ps_AF.UTF-8" };
        bool found = false;

        (void) state;
        for (size_t i = 0; i < sizeof locales / sizeof locales[0]; i++)
                if (setlocale(LC_NUMERIC, locales[i])) {
                        found = true;
                        check_numbers();
                }
        setlocale(LC_NUMERIC, "C");
        if (!found) {
                print_message("SKIP: no locale with a decimal comma is installed\n");
                skip();
        }
}

static void test_huge_fixed(void **state) {
        struct strbuf b;

        (void) state;
        strbuf_init(&b);
        strbuf_add_fixed(&b, -1.7976931348623157e308, 1000);
        assert_int_equal(b.length, 1 + 309 + 1 + 100);
        strbuf_done(&b);
}

static void build(void *arg) {
        struct strbuf b;
        const char *text = "untouched";
        char long_text[300];

        (void) arg;
        memset(long_text, 'z', sizeof long_text);
        strbuf_init(&b);
        strbuf_add(&b, "begin ");
        strbuf_printf(&b, "%.*s", (int) sizeof long_text, long_text);
        strbuf_add_repeated(&b, "abcdefgh", 100);
        strbuf_add_double(&b, 1.5, 3);

        int r = strbuf_finish(&b, &text);

        assert_int_equal(r, failalloc_failed() ? -ENOMEM : 0);
        if (b.text) /* no half of a piece */
                assert_int_equal(strlen(b.text), b.length);
        if (r < 0)
                assert_string_equal(text, "untouched");
        else
                assert_int_equal(strlen(text), 6 + 300 + 800 + 3);
        strbuf_done(&b);
}

static void steal(void *arg) {
        struct strbuf b;
        char *text = NULL;

        strbuf_init(&b);
        strbuf_add(&b, arg);

        int r = strbuf_steal(&b, &text);

        assert_int_equal(r, failalloc_failed() ? -ENOMEM : 0);
        assert_null(b.text);
        assert_int_equal(b.error, 0);
        free(text);
}

static void test_allocations_fail(void **state) {
        char text[] = "text", empty[] = "";

        (void) state;
        assert_true(failalloc_each(build, NULL) > 2);
        assert_true(failalloc_each(steal, text) > 0);
        assert_true(failalloc_each(steal, empty) > 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_empty),
                cmocka_unit_test(test_pieces),
                cmocka_unit_test(test_random_growth),
                cmocka_unit_test(test_every_length),
                cmocka_unit_test(test_numbers),
                cmocka_unit_test(test_numbers_in_a_locale_with_a_comma),
                cmocka_unit_test(test_huge_fixed),
                cmocka_unit_test(test_allocations_fail),
        };

        return testutil_run(tests);
}
