/*
 * units: what is read, what is refused, and that what is written reads back.
 */
#include "testutil.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/units.h"
#include "failalloc.h"

#define UNTOUCHED UINT64_C(0xdeadbeef)

struct reading {
        const char *text;
        int r;
        uint64_t value;
};

typedef int parser(const char *text, uint64_t *ret);

static void check(parser *parse, const struct reading *readings, size_t n) {
        for (size_t i = 0; i < n; i++) {
                uint64_t value = UNTOUCHED;
                int r = parse(readings[i].text, &value);
                uint64_t expected = readings[i].r == 0 ? readings[i].value : UNTOUCHED;

                if (r != readings[i].r || value != expected)
                        fail_msg("\"%s\": %d, %" PRIu64 " instead of %d, %" PRIu64, readings[i].text, r, value,
                                 readings[i].r, expected);
        }
}

#define CHECK(parse, readings) check(parse, readings, sizeof readings / sizeof readings[0])

static void test_sizes(void **state) {
        static const struct reading readings[] = {
                { "0", 0, 0 },
                { "1", 0, 1 },
                { "4096", 0, 4096 },
                { "64k", 0, 65536 },
                { "64K", 0, 65536 },
                { "64KiB", 0, 65536 },
                { "64kB", 0, 64000 },
                { "1M", 0, 1048576 },
                { "1MiB", 0, 1048576 },
                { "1MB", 0, 1000000 },
                { "1.5G", 0, UINT64_C(1610612736) },
                { "1.5 GiB", 0, UINT64_C(1610612736) },
                { "2700.0M", 0, UINT64_C(2831155200) },
                { "22MiB", 0, 23068672 },
                { ".5k", 0, 512 },
                { "1e3", 0, 1000 },
                { "1E3", 0, 1000 },
                { "5e0M", 0, 5242880 },
                { "1e-3kB", 0, 1 },
                { "2.5e+1B", 0, 25 },
                { "0.4", 0, 0 },
                { "0.5", 0, 1 },
                { "1.4999", 0, 1 },
                { "8TB", 0, UINT64_C(8000000000000) },
                { "8T", 0, UINT64_C(8) << 40 },
                { "9007199254740993", 0, UINT64_C(9007199254740993) },
                { "9223372036854775807", 0, INT64_MAX },
                { "9223372036854775807.4", 0, INT64_MAX },
                { "9223372036854775.807e3", 0, INT64_MAX },
                { "0.00000000000000000000000000000000000000001", 0, 0 },
                { "000000000000000000000000000000000000000012", 0, 12 },
                { "0e99999999999999999999", 0, 0 },
                { "1e-99999999999999999999", 0, 0 },
                { "9223372036854775807.5", -ERANGE, 0 },
                { "9223372036854775808", -ERANGE, 0 },
                { "18446744073709551616", -ERANGE, 0 },
                { "18446744073709551617", -ERANGE, 0 },
                { "99999999T", -ERANGE, 0 },
                { "8388608T", -ERANGE, 0 },
                { "1e99999999999999999999", -ERANGE, 0 },
                { "99999999999999999999999999999999999999999999999999", -ERANGE, 0 },
                { "-1", -ERANGE, 0 },
                { "-4k", -ERANGE, 0 },
                { "9E", -EINVAL, 0 },
                { "9e", -EINVAL, 0 },
                { "", -EINVAL, 0 },
                { "-", -EINVAL, 0 },
                { " 1", -EINVAL, 0 },
                { "+1", -EINVAL, 0 },
                { "1.", -EINVAL, 0 },
                { ".", -EINVAL, 0 },
                { "1,5G", -EINVAL, 0 },
                { "1..5", -EINVAL, 0 },
                { "0x10", -EINVAL, 0 },
                { "nan", -EINVAL, 0 },
                { "inf", -EINVAL, 0 },
                { "k", -EINVAL, 0 },
                { "5m", -EINVAL, 0 },
                { "5s", -EINVAL, 0 },
                { "5MIB", -EINVAL, 0 },
                { "5KB", -EINVAL, 0 },
                { "5Mi", -EINVAL, 0 },
                { "5MBx", -EINVAL, 0 },
                { "5 ", 0, 5 },
        };

        (void) state;
        CHECK(units_parse_size, readings);
}

static void test_durations(void **state) {
        static const struct reading readings[] = {
                { "5", 0, UINT64_C(5000000000) },
                { "5s", 0, UINT64_C(5000000000) },
                { "5m", 0, UINT64_C(300000000000) },
                { "1.5h", 0, UINT64_C(5400000000000) },
                { "1d", 0, UINT64_C(86400000000000) },
                { "250ms", 0, 250000000 },
                { "10us", 0, 10000 },
                { "10µs", 0, 10000 },
                { "7ns", 0, 7 },
                { "0.1", 0, 100000000 },
                { "0.000000001", 0, 1 },
                { "0.0000000004", 0, 0 },
                { "106751d", 0, UINT64_C(9223286400000000000) },
                { "106752d", -ERANGE, 0 },
                { "-1s", -ERANGE, 0 },
                { "5M", -EINVAL, 0 },
                { "5S", -EINVAL, 0 },
                { "5k", -EINVAL, 0 },
                { "5min", -EINVAL, 0 },
                { "1h30m", -EINVAL, 0 },
                { "", -EINVAL, 0 },
        };

        (void) state;
        CHECK(units_parse_duration, readings);
}

static void test_counts(void **state) {
        static const struct reading readings[] = {
                { "200", 0, 200 },        { "5.0", 0, 5 },       { "5e0", 0, 5 },     { "1.5e1", 0, 15 },
                { "0", 0, 0 },            { "1e9", 0, 1000000000 },
                { "5.5", -EINVAL, 0 },    { "1e-1", -EINVAL, 0 }, { "5k", -EINVAL, 0 }, { "1e-40", -EINVAL, 0 },
                { "-5", -ERANGE, 0 },     { "1e19", -ERANGE, 0 }, { "x", -EINVAL, 0 },
        };

        (void) state;
        CHECK(units_parse_count, readings);
}

static void test_bools(void **state) {
        static const char *const no[] = { "false", "no", "off", "0" }, *const yes[] = { "true", "yes", "on", "1" };
        bool value = false;

        (void) state;
        for (size_t i = 0; i < 4; i++) {
                assert_int_equal(units_parse_bool(yes[i], &value), 0);
                assert_true(value);
                assert_int_equal(units_parse_bool(no[i], &value), 0);
                assert_false(value);
        }
        assert_int_equal(units_parse_bool("", &value), -EINVAL);
        assert_int_equal(units_parse_bool("True", &value), -EINVAL);
        assert_int_equal(units_parse_bool("2", &value), -EINVAL);
        assert_false(value);
}

/* Any bytes: never a crash, and never a value with an error. */
static void test_random_bytes(void **state) {
        static const char alphabet[] = "0123456789.eE-+kKMGTiBmshdun ,";

        (void) state;
        for (unsigned round = 0; round < 200000; round++) {
                char text[24];
                size_t n = testutil_random_below(sizeof text);
                uint64_t value = UNTOUCHED;

                for (size_t i = 0; i < n; i++)
                        text[i] = round % 8 == 0 ? (char) (1 + testutil_random_below(255))
                                                 : alphabet[testutil_random_below(sizeof alphabet - 1)];
                text[n] = '\0';
                for (unsigned which = 0; which < 3; which++) {
                        parser *parse = which == 0 ? units_parse_size : which == 1 ? units_parse_duration
                                                                                   : units_parse_count;
                        int r = parse(text, &value);

                        assert_true(r == 0 || r == -EINVAL || r == -ERANGE);
                        assert_true(r == 0 ? value <= INT64_MAX : value == UNTOUCHED);
                        value = UNTOUCHED;
                }
        }
}

/* Decimal text of random digits against long double, which is exact enough for
 * fourteen of them. */
static void test_random_fractions(void **state) {
        (void) state;
        for (unsigned round = 0; round < 50000; round++) {
                unsigned whole = (unsigned) testutil_random_below(10000), part = (unsigned) testutil_random_below(100000);
                int exponent = (int) testutil_random_below(7) - 3;
                char text[64];
                uint64_t value;
                long double expected = (whole + part / 1e5L) * 1048576;

                snprintf(text, sizeof text, "%u.%05ue%dM", whole, part, exponent);
                for (int i = 0; i < exponent; i++)
                        expected *= 10;
                for (int i = exponent; i < 0; i++)
                        expected /= 10;
                assert_int_equal(units_parse_size(text, &value), 0);
                if (value + 0.5000001L < expected || value - 0.5000001L > expected)
                        fail_msg("%s: %" PRIu64 " for %Lf", text, value, expected);
        }
}

typedef void adder(struct strbuf *b, uint64_t value);

static void assert_added(adder *add, uint64_t value, const char *expected) {
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        add(&b, value);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_string_equal(text, expected);
        strbuf_done(&b);
}

static void assert_rate(double rate, const char *expected) {
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        units_add_rate(&b, rate);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_string_equal(text, expected);
        strbuf_done(&b);
}

static void test_texts(void **state) {
        (void) state;
        assert_added(units_add_size, 0, "0 B");
        assert_added(units_add_size, 999, "999 B");
        assert_added(units_add_size, 1000, "0.977 KiB");
        assert_added(units_add_size, 4096, "4 KiB");
        assert_added(units_add_size, 1572864, "1.5 MiB");
        assert_added(units_add_size, 1048575, "1 MiB");
        assert_added(units_add_size, 1023693, "0.976 MiB");
        assert_added(units_add_size, UINT64_C(1023) << 20, "0.999 GiB");
        assert_added(units_add_size, UINT64_MAX, "16 EiB");
        assert_rate(0, "0 B/s");
        assert_rate(0.25, "0.25 B/s");
        assert_rate(999.4, "999 B/s");
        assert_rate(999.6, "1 kB/s");
        assert_rate(136e6, "136 MB/s");
        assert_rate(29.34e6, "29.3 MB/s");
        assert_rate(1.7e9, "1.7 GB/s");
        assert_rate(1e18, "1e+03 PB/s");
        assert_added(units_add_duration, 0, "0 ns");
        assert_added(units_add_duration, 251000, "251 µs");
        assert_added(units_add_duration, 999600, "1 ms");
        assert_added(units_add_duration, 12345678, "12.3 ms");
        assert_added(units_add_duration, UINT64_C(7450000000), "7.45 s");
        assert_added(units_add_duration, UINT64_C(59940000000), "59.9 s");
        assert_added(units_add_duration, UINT64_C(59960000000), "1m");
        assert_added(units_add_duration, UINT64_C(312000000000), "5m 12s");
        assert_added(units_add_duration, UINT64_C(3599600000000), "1h");
        assert_added(units_add_duration, UINT64_C(7500000000000), "2h 5m");
        assert_added(units_add_duration, UINT64_C(86399900000000), "1d");
        assert_added(units_add_duration, UINT64_C(86390000000000), "1d");
        assert_added(units_add_duration, UINT64_C(273600000000000), "3d 4h");
        assert_added(units_add_size_exact, 0, "0");
        assert_added(units_add_size_exact, 4096, "4KiB");
        assert_added(units_add_size_exact, 1000000, "1MB");
        assert_added(units_add_size_exact, 1001, "1001");
        assert_added(units_add_duration_exact, 0, "0s");
        assert_added(units_add_duration_exact, UINT64_C(300000000000), "5m");
        assert_added(units_add_duration_exact, UINT64_C(90000000000), "90s");
        assert_added(units_add_duration_exact, 1500000, "1500us");
}

static void assert_reads_back(adder *add, parser *parse, uint64_t value) {
        struct strbuf b;
        const char *text;
        uint64_t again = UNTOUCHED;

        strbuf_init(&b);
        add(&b, value);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_int_equal(parse(text, &again), 0);
        assert_int_equal(again, value);
        strbuf_done(&b);
}

static void test_exact_reads_back(void **state) {
        static const uint64_t steps[] = { 1, 1000, 1024, 60, 3600, 1048576, 1000000, 1000000000 };

        (void) state;
        for (unsigned round = 0; round < 50000; round++) {
                uint64_t value = testutil_random() >> (1 + testutil_random_below(62));
                uint64_t step = steps[testutil_random_below(sizeof steps / sizeof steps[0])];

                value = value / step * step;
                assert_reads_back(units_add_size_exact, units_parse_size, value);
                assert_reads_back(units_add_duration_exact, units_parse_duration, value);
        }
}

static void test_timestamps(void **state) {
        (void) state;
        assert_added(units_add_timestamp, 0, "1970-01-01T00:00:00.000Z");
        assert_added(units_add_timestamp, UINT64_C(1796076900123999999), "2026-11-30T22:15:00.123Z");
        assert_added(units_add_timestamp, UINT64_C(951782400) * 1000000000, "2000-02-29T00:00:00.000Z");
        assert_added(units_add_timestamp, UINT64_C(4107542399) * 1000000000, "2100-02-28T23:59:59.000Z");
        assert_added(units_add_timestamp, UINT64_C(4107542400) * 1000000000, "2100-03-01T00:00:00.000Z");
        for (unsigned round = 0; round < 20000; round++) {
                uint64_t ns = testutil_random();
                time_t seconds = (time_t) (ns / 1000000000);
                struct tm tm;
                char expected[64];
                size_t n;

                assert_non_null(gmtime_r(&seconds, &tm));
                n = strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S", &tm);
                snprintf(expected + n, sizeof expected - n, ".%03uZ", (unsigned) (ns / 1000000 % 1000));
                assert_added(units_add_timestamp, ns, expected);
        }
}

static void write_all(void *arg) {
        struct strbuf b;
        const char *text;

        (void) arg;
        strbuf_init(&b);
        for (unsigned i = 0; i < 20; i++) {
                units_add_size(&b, UINT64_C(123456789) << i);
                units_add_duration(&b, UINT64_C(123456789) << i);
                units_add_timestamp(&b, 0);
        }
        assert_int_equal(strbuf_finish(&b, &text), failalloc_failed() ? -ENOMEM : 0);
        strbuf_done(&b);
}

static void test_allocations_fail(void **state) {
        (void) state;
        assert_true(failalloc_each(write_all, NULL) > 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_sizes),
                cmocka_unit_test(test_durations),
                cmocka_unit_test(test_counts),
                cmocka_unit_test(test_bools),
                cmocka_unit_test(test_random_bytes),
                cmocka_unit_test(test_random_fractions),
                cmocka_unit_test(test_texts),
                cmocka_unit_test(test_exact_reads_back),
                cmocka_unit_test(test_timestamps),
                cmocka_unit_test(test_allocations_fail),
        };

        return testutil_run(tests);
}
