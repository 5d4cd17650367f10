/*
 * GNU dd's last line; see core/ddline.h.
 *
 * dd has two ways of writing a quantity. Where the value is a quotient whose
 * one side divides the other (all byte counts, and rates over such times as
 * 1 s or 0.5 s), it is exact, and rounded half to even with one decimal below
 * ten. All other rates are worked out in long double: one decimal below a
 * hundred, and at least kilo even when the value is below one ("0.2 kB/s").
 */
#include "core/ddline.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define EXPONENT_MAX 8 /* yotta, as in coreutils 9.1 */

/* A number without its unit, and the power of the base that was taken out of it. */
struct quantity {
        char text[64];
        unsigned exponent;
};

static unsigned __int128 divide_half_even(unsigned __int128 numerator, unsigned __int128 denominator) {
        unsigned __int128 quotient = numerator / denominator, rest = numerator % denominator;

        if (rest > denominator - rest || (rest == denominator - rest && (quotient & 1) != 0))
                quotient++;
        return quotient;
}

/* @numerator < 2^64, and @denominator < 2^64. */
static void scale_exact(struct quantity *ret, uint64_t numerator, uint64_t denominator, unsigned base) {
        unsigned __int128 unit = denominator;

        ret->exponent = 0;
        while (numerator / unit >= base && ret->exponent < EXPONENT_MAX) {
                unit *= base;
                ret->exponent++;
        }
        if (ret->exponent > 0 && numerator / unit < 10) {
                unsigned tenths = (unsigned) divide_half_even((unsigned __int128) numerator * 10, unit);

                if (tenths < 100) {
                        snprintf(ret->text, sizeof ret->text, "%u.%u", tenths / 10, tenths % 10);
                        return;
                }
        }

        uint64_t whole = (uint64_t) divide_half_even(numerator, unit);

        if (whole == base && ret->exponent < EXPONENT_MAX) {
                ret->exponent++;
                strcpy(ret->text, "1.0");
        } else {
                snprintf(ret->text, sizeof ret->text, "%llu", (unsigned long long) whole);
        }
}

/* What printf wrote with the locale's point, with '.'. */
static void set_point(char *text) {
        size_t whole = strspn(text, "0123456789"), point = strcspn(text + whole, "0123456789");

        if (text[whole] == '\0')
                return;
        memmove(text + whole + 1, text + whole + point, strlen(text + whole + point) + 1);
        text[whole] = '.';
}

/* The operations and their order are dd's, since the last digit hangs on them. */
static void scale_inexact(struct quantity *ret, uint64_t bytes, uint64_t elapsed_ns) {
        long double value = bytes * (NS_PER_SECOND / (long double) elapsed_ns), unit = 1;

        ret->exponent = 0;
        do {
                unit *= 1000;
                ret->exponent++;
        } while (unit * 1000 <= value && ret->exponent < EXPONENT_MAX);
        value /= unit;
        snprintf(ret->text, sizeof ret->text, "%.1Lf", value);
        set_point(ret->text);
        if (strlen(ret->text) > strlen("99.9"))
                snprintf(ret->text, sizeof ret->text, "%.0Lf", value * 10 / 10);
}

static void scale_rate(struct quantity *ret, uint64_t bytes, uint64_t elapsed_ns) {
        if (elapsed_ns > NS_PER_SECOND && elapsed_ns % NS_PER_SECOND == 0) {
                scale_exact(ret, bytes, elapsed_ns / NS_PER_SECOND, 1000);
                return;
        }
        if (elapsed_ns <= NS_PER_SECOND && NS_PER_SECOND % elapsed_ns == 0) {
                uint64_t product;

                if (!__builtin_mul_overflow(bytes, NS_PER_SECOND / elapsed_ns, &product)) {
                        scale_exact(ret, product, 1, 1000);
                        return;
                }
        }
        scale_inexact(ret, bytes, elapsed_ns);
}

static void add_number(struct strbuf *b, const char *text, const char *decimal_point) {
        size_t whole = strcspn(text, ".");

        strbuf_add_bytes(b, text, whole);
        if (text[whole] == '\0')
                return;
        strbuf_add(b, decimal_point);
        strbuf_add(b, text + whole + 1);
}

static void add_quantity(struct strbuf *b, const struct quantity *q, bool binary, const char *decimal_point) {
        static const char decimal_letters[] = " kMGTPEZY", binary_letters[] = " KMGTPEZY";

        add_number(b, q->text, decimal_point);
        strbuf_add_char(b, ' ');
        if (q->exponent > 0)
                strbuf_add_char(b, (binary ? binary_letters : decimal_letters)[q->exponent]);
        strbuf_add(b, binary && q->exponent > 0 ? "iB" : "B");
}

static void add_seconds(struct strbuf *b, uint64_t elapsed_ns, const char *decimal_point) {
        struct strbuf number;
        const char *text;

        strbuf_init(&number);
        strbuf_add_double(&number, (double) elapsed_ns / 1e9, 6);
        if (strbuf_finish(&number, &text) < 0)
                b->error = number.error;
        else
                add_number(b, text, decimal_point);
        strbuf_done(&number);
        strbuf_add(b, " s");
}

void ddline_add(struct strbuf *b, uint64_t bytes, uint64_t elapsed_ns, const char *decimal_point) {
        struct quantity si, iec, rate;

        scale_exact(&si, bytes, 1, 1000);
        scale_exact(&iec, bytes, 1, 1024);

        strbuf_printf(b, "%llu %s", (unsigned long long) bytes, bytes == 1 ? "byte" : "bytes");
        if (si.exponent > 0) {
                strbuf_add(b, " (");
                add_quantity(b, &si, false, decimal_point);
                if (iec.exponent > 0) {
                        strbuf_add(b, ", ");
                        add_quantity(b, &iec, true, decimal_point);
                }
                strbuf_add_char(b, ')');
        }
        strbuf_add(b, " copied, ");
        add_seconds(b, elapsed_ns, decimal_point);
        strbuf_add(b, ", ");
        if (elapsed_ns == 0) {
                strbuf_add(b, "Infinity B/s");
                return;
        }
        scale_rate(&rate, bytes, elapsed_ns);
        add_quantity(b, &rate, false, decimal_point);
        strbuf_add(b, "/s");
}
