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

struct line {
        uint64_t bytes, elapsed_ns;
        struct quantity si, iec, rate;
        const struct ddline_words *words;
};

static void add_argument(struct strbuf *b, const struct line *l, char which) {
        const char *point = l->words->decimal_point;

        switch (which) {
        case 'n':
                strbuf_printf(b, "%llu", (unsigned long long) l->bytes);
                break;
        case 's':
                add_quantity(b, &l->si, false, point);
                break;
        case 'i':
                add_quantity(b, &l->iec, true, point);
                break;
        case 't':
                add_seconds(b, l->elapsed_ns, point);
                break;
        case 'r':
                if (l->elapsed_ns > 0) {
                        add_quantity(b, &l->rate, false, point);
                        strbuf_add(b, "/s");
                } else {
                        strbuf_printf(b, "%s B/s", l->words->infinity);
                }
                break;
        default:
                break;
        }
}

/* Fills @arguments (a letter each) into the message, as printf would. What asks for
 * more than there is was not dd's, and gets nothing. */
static void fill(struct strbuf *b, const struct line *l, const char *message, const char *arguments) {
        size_t n = strlen(arguments), next = 0;

        while (*message != '\0') {
                size_t text = strcspn(message, "%"), position = 0;
                const char *conversion = message + text + 1;

                strbuf_add_bytes(b, message, text);
                message += text;
                if (*message == '\0')
                        return;
                if (*conversion == '%') {
                        strbuf_add_char(b, '%');
                        message = conversion + 1;
                        continue;
                }
                if (conversion[0] >= '1' && conversion[0] <= '9' && conversion[1] == '$') {
                        position = (size_t) (conversion[0] - '0');
                        conversion += 2;
                }
                if (position == 0)
                        position = ++next;
                if (position <= n)
                        add_argument(b, l, arguments[position - 1]);
                conversion += strspn(conversion, "ljzt");
                message = *conversion == '\0' ? conversion : conversion + 1;
        }
}

void ddline_add_words(struct strbuf *b, uint64_t bytes, uint64_t elapsed_ns, const struct ddline_words *words) {
        struct line l = { .bytes = bytes, .elapsed_ns = elapsed_ns, .words = words };

        scale_exact(&l.si, bytes, 1, 1000);
        scale_exact(&l.iec, bytes, 1, 1024);
        if (elapsed_ns > 0)
                scale_rate(&l.rate, bytes, elapsed_ns);
        if (l.si.exponent == 0)
                fill(b, &l, words->plain, "ntr");
        else if (l.iec.exponent == 0)
                fill(b, &l, words->si, "nstr");
        else
                fill(b, &l, words->si_iec, "nsitr");
}

void ddline_add(struct strbuf *b, uint64_t bytes, uint64_t elapsed_ns, const char *decimal_point) {
        const struct ddline_words english = {
                .decimal_point = decimal_point,
                .plain = bytes == 1 ? "%jd byte copied, %s, %s" : "%jd bytes copied, %s, %s",
                .si = "%jd bytes (%s) copied, %s, %s",
                .si_iec = "%jd bytes (%s, %s) copied, %s, %s",
                .infinity = "Infinity",
        };

        ddline_add_words(b, bytes, elapsed_ns, &english);
}
