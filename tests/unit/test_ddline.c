/*
 * ddline: byte for byte what dd prints: lines of a real dd (ddline_lines.h), the
 * known ones by hand, and random ones against a slow model.
 */
#include "testutil.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ddline.h"
#include "failalloc.h"

static const struct line {
        uint64_t bytes, ns;
        const char *text;
} lines[] = {
#include "ddline_lines.h"
};

static void assert_line(uint64_t bytes, uint64_t ns, const char *point, const char *expected) {
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        ddline_add(&b, bytes, ns, point);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        if (strcmp(text, expected) != 0)
                fail_msg("%" PRIu64 " bytes, %" PRIu64 " ns: \"%s\" instead of \"%s\"", bytes, ns, text, expected);
        strbuf_done(&b);
}

static void test_lines_of_a_real_dd(void **state) {
        (void) state;
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
                assert_line(lines[i].bytes, lines[i].ns, ".", lines[i].text);
}

static void test_known_lines(void **state) {
        (void) state;
        assert_line(1073741824, UINT64_C(7884320000), ".",
                    "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 7.88432 s, 136 MB/s");
        assert_line(1073741824, UINT64_C(7884320000), ",",
                    "1073741824 bytes (1,1 GB, 1,0 GiB) copied, 7,88432 s, 136 MB/s");
        assert_line(1073741824, UINT64_C(36648200000), ",",
                    "1073741824 bytes (1,1 GB, 1,0 GiB) copied, 36,6482 s, 29,3 MB/s");
        assert_line(512, 24000, ",", "512 bytes copied, 2,4e-05 s, 21,3 MB/s");
        assert_line(999, 0, ".", "999 bytes copied, 0 s, Infinity B/s");
}

static void assert_german(uint64_t bytes, uint64_t ns, const char *expected) {
        const struct ddline_words german = {
                .decimal_point = ",",
                .plain = bytes == 1 ? "%ld Byte kopiert, %s, %s" : "%ld Bytes kopiert, %s, %s",
                .si = "%ld Bytes (%s) kopiert, %s, %s",
                .si_iec = "%ld Bytes (%s, %s) kopiert, %s, %s",
                .infinity = "unendlich",
        };
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        ddline_add_words(&b, bytes, ns, &german);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_string_equal(text, expected);
        strbuf_done(&b);
}

/* Lines of a real dd in de_DE.UTF-8, with coreutils' own messages. */
static void test_german_lines(void **state) {
        (void) state;
        assert_german(971, UINT64_C(7022758725), "971 Bytes kopiert, 7,02276 s, 0,1 kB/s");
        assert_german(134248510795105, 323831372,
                      "134248510795105 Bytes (134 TB, 122 TiB) kopiert, 0,323831 s, 415 TB/s");
        assert_german(512, 615157, "512 Bytes kopiert, 0,000615157 s, 832 kB/s");
        assert_german(1647, 1000000, "1647 Bytes (1,6 kB, 1,6 KiB) kopiert, 0,001 s, 1,6 MB/s");
        assert_german(281477120, 21, "281477120 Bytes (281 MB, 268 MiB) kopiert, 2,1e-08 s, 13,4 PB/s");
        assert_german(1, 0, "1 Byte kopiert, 0 s, unendlich B/s");
}

/* A catalogue may say anything: no message of it is given to printf. */
static void test_odd_messages(void **state) {
        static const char *const messages[][2] = {
                { "%2$s: %1$s (%3$s) %%", "1 s: 5 (5 B/s) %" },
                { "%s %s %s %s %n %9$s", "5 1 s 5 B/s   " },
                { "100%", "1005" },
                { "%", "5" },
                { "%jd", "5" },
                { "", "" },
                { "%1$", "5" },
        };

        (void) state;
        for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
                const struct ddline_words words = { .decimal_point = ".", .plain = messages[i][0] };
                struct strbuf b;
                const char *text;

                strbuf_init(&b);
                ddline_add_words(&b, 5, 1000000000, &words);
                assert_int_equal(strbuf_finish(&b, &text), 0);
                assert_string_equal(text, messages[i][1]);
                strbuf_done(&b);
        }
}

/* Not the locale: what the caller says. */
static void test_locale_changes_nothing(void **state) {
        (void) state;
        if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
                print_message("SKIP: de_DE.UTF-8 is not installed\n");
                skip();
        }
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
                assert_line(lines[i].bytes, lines[i].ns, ".", lines[i].text);
        setlocale(LC_NUMERIC, "C");
}

/* --- the slow model: decimal digits by long division --------------------- */

/* Digits of n/d with @decimals of them after the point, rounded half to even, as
 * one whole number. */
static unsigned __int128 rounded(unsigned __int128 n, unsigned __int128 d, unsigned decimals) {
        unsigned __int128 whole = n / d, rest = n % d;

        for (unsigned i = 0; i < decimals; i++) {
                rest *= 10;
                whole = whole * 10 + rest / d;
                rest %= d;
        }
        return whole + (rest * 2 > d || (rest * 2 == d && whole % 2 == 1));
}

static void model_exact(char *out, size_t room, unsigned __int128 n, unsigned __int128 d, unsigned base, const char *tail) {
        const char *const prefixes[] = { "", base == 1000 ? "k" : "K", "M", "G", "T", "P", "E", "Z" };
        const char *i = base == 1024 ? "i" : "";
        unsigned __int128 power = 1;
        unsigned e = 0;

        if (rounded(n, d, 0) < base && n / d < base) {
                snprintf(out, room, "%u B%s", (unsigned) rounded(n, d, 0), tail);
                return;
        }
        while (n / (d * power) >= base) {
                power *= base;
                e++;
        }
        if (n / (d * power) < 10 && rounded(n, d * power, 1) < 100)
                snprintf(out, room, "%u.%u %s%sB%s", (unsigned) (rounded(n, d * power, 1) / 10),
                         (unsigned) (rounded(n, d * power, 1) % 10), prefixes[e], i, tail);
        else if (rounded(n, d * power, 0) == base)
                snprintf(out, room, "1.0 %s%sB%s", prefixes[e + 1], i, tail);
        else
                snprintf(out, room, "%u %s%sB%s", (unsigned) rounded(n, d * power, 0), prefixes[e], i, tail);
}

static void model_rate(char *out, size_t room, uint64_t bytes, uint64_t ns) {
        const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E", "Z", "Y" };
        uint64_t second = 1000000000;

        if (ns % second == 0) {
                model_exact(out, room, bytes, ns / second, 1000, "/s");
                return;
        }
        if (second % ns == 0 && (unsigned __int128) bytes * (second / ns) <= UINT64_MAX) {
                model_exact(out, room, (unsigned __int128) bytes * (second / ns), 1, 1000, "/s");
                return;
        }

        /* dd's own inexact quotient, since its error shows at the turning points. */
        long double rate = bytes * (1e9L / ns), unit = 1000;
        unsigned e = 1;

        while (e < 8 && rate >= unit * 1000) {
                unit *= 1000;
                e++;
        }
        rate /= unit;
        if (rate >= 99.95L)
                snprintf(out, room, "%.0Lf %sB/s", rate, prefixes[e]);
        else
                snprintf(out, room, "%.1Lf %sB/s", rate, prefixes[e]);
}

static void model_line(char *out, size_t room, uint64_t bytes, uint64_t ns) {
        char si[32], iec[32], rate[64], both[80] = "";

        model_exact(si, sizeof si, bytes, 1, 1000, "");
        model_exact(iec, sizeof iec, bytes, 1, 1024, "");
        model_rate(rate, sizeof rate, bytes, ns);
        if (bytes >= 1024)
                snprintf(both, sizeof both, " (%s, %s)", si, iec);
        else if (bytes >= 1000)
                snprintf(both, sizeof both, " (%s)", si);
        snprintf(out, room, "%" PRIu64 " byte%s%s copied, %g s, %s", bytes, bytes == 1 ? "" : "s", both,
                 (double) ns / 1e9, rate);
}

static uint64_t random_bytes(void) {
        switch (testutil_random_below(4)) {
        case 0:
                return testutil_random() >> (1 + testutil_random_below(63));
        case 1:
                return 1 + testutil_random_below(3000);
        case 2: { /* around a power, where prefixes change */
                uint64_t base = testutil_random_below(2) ? 1000 : 1024, power = 1;

                for (uint64_t i = testutil_random_below(6); i > 0; i--)
                        power *= base;
                return power * (1 + testutil_random_below(2000)) / 100 + testutil_random_below(3);
        }
        default:
                return 65536 * (1 + testutil_random_below(100000));
        }
}

static uint64_t random_ns(void) {
        switch (testutil_random_below(4)) {
        case 0:
                return 1 + (testutil_random() >> (20 + testutil_random_below(43)));
        case 1:
                return UINT64_C(1000000000) * (1 + testutil_random_below(1000));
        case 2:
                return UINT64_C(1000000000) >> testutil_random_below(9);
        default:
                return 1 + testutil_random_below(UINT64_C(20000000000));
        }
}

static void test_random_lines(void **state) {
        (void) state;
        for (unsigned round = 0; round < 300000; round++) {
                uint64_t bytes = random_bytes(), ns = random_ns();
                char expected[200];

                model_line(expected, sizeof expected, bytes, ns);
                assert_line(bytes, ns, ".", expected);
        }
}

static void add_line(void *arg) {
        struct strbuf b;
        const char *text;

        (void) arg;
        strbuf_init(&b);
        ddline_add(&b, 1073741824, 36648200000, ".");
        assert_int_equal(strbuf_finish(&b, &text), failalloc_failed() ? -ENOMEM : 0);
        strbuf_done(&b);
}

static void test_allocations_fail(void **state) {
        (void) state;
        assert_true(failalloc_each(add_line, NULL) > 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_lines_of_a_real_dd),
                cmocka_unit_test(test_known_lines),
                cmocka_unit_test(test_german_lines),
                cmocka_unit_test(test_odd_messages),
                cmocka_unit_test(test_locale_changes_nothing),
                cmocka_unit_test(test_random_lines),
                cmocka_unit_test(test_allocations_fail),
        };

        return testutil_run(tests);
}
