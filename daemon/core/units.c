/*
 * Sizes, durations and rates; see core/units.h.
 *
 * Reading is done in integers alone: strtod() would follow the locale, and a
 * double is not exact beyond 2^53. A number is kept as digits times a power of
 * ten, multiplied with its unit, and rounded once at the end.
 */
#include "core/units.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define KIB UINT64_C(1024)
#define KB UINT64_C(1000)
#define NS UNITS_NS_PER_SECOND

struct unit {
        const char *name;
        uint64_t factor;
};

static const struct unit size_units[] = {
        { "", 1 },
        { "B", 1 },
        { "k", KIB },
        { "K", KIB },
        { "M", KIB * KIB },
        { "G", KIB * KIB * KIB },
        { "T", KIB * KIB * KIB * KIB },
        { "KiB", KIB },
        { "MiB", KIB * KIB },
        { "GiB", KIB * KIB * KIB },
        { "TiB", KIB * KIB * KIB * KIB },
        { "kB", KB },
        { "MB", KB * KB },
        { "GB", KB * KB * KB },
        { "TB", KB * KB * KB * KB },
        { 0 },
};

static const struct unit duration_units[] = {
        { "", NS },
        { "ns", 1 },
        { "us", KB },
        { "µs", KB },
        { "ms", UNITS_NS_PER_MS },
        { "s", NS },
        { "m", 60 * NS },
        { "h", 3600 * NS },
        { "d", 86400 * NS },
        { 0 },
};

static const struct unit no_units[] = { { "", 1 }, { 0 } };

/* @digits * 10^@exponent. */
struct decimal {
        unsigned __int128 digits;
        int exponent;
        bool negative;
};

/* More digits than a result can have; those beyond do not count. 10^24 times
 * the largest unit, a day in ns, stays below 2^127. */
#define DIGITS_MAX 24
#define EXPONENT_MAX 9999
#define POWER_MAX 38 /* of ten, within 128 bits */

static bool is_digit(char c) {
        return c >= '0' && c <= '9';
}

static const char *read_digits(const char *at, bool fraction, unsigned *taken, struct decimal *d) {
        for (; is_digit(*at); at++) {
                if (*taken >= DIGITS_MAX) {
                        d->exponent += fraction ? 0 : 1;
                        continue;
                }
                d->digits = d->digits * 10 + (unsigned) (*at - '0');
                d->exponent -= fraction ? 1 : 0;
                *taken += d->digits > 0;
                if (d->exponent < -EXPONENT_MAX)
                        d->exponent = -EXPONENT_MAX; /* 0.000…: nothing anyway */
                if (d->exponent > EXPONENT_MAX)
                        d->exponent = EXPONENT_MAX;
        }
        return at;
}

static const char *read_exponent(const char *at, struct decimal *d) {
        if (*at != 'e' && *at != 'E')
                return at;

        const char *p = at + 1;
        bool negative = *p == '-';
        int value = 0;

        if (*p == '-' || *p == '+')
                p++;
        if (!is_digit(*p))
                return at; /* no exponent: a unit, if there is one of that name */
        for (; is_digit(*p); p++)
                if (value <= EXPONENT_MAX)
                        value = value * 10 + (*p - '0');
        d->exponent += negative ? -value : value;
        return p;
}

/* Returns what follows the number, or NULL where there is none. */
static const char *read_decimal(const char *text, struct decimal *ret) {
        const char *at = text;
        unsigned taken = 0;

        *ret = (struct decimal) { .negative = *at == '-' };
        if (*at == '-')
                at++;
        if (!is_digit(at[0]) && !(at[0] == '.' && is_digit(at[1])))
                return NULL;
        at = read_digits(at, false, &taken, ret);
        if (*at == '.') {
                if (!is_digit(at[1]))
                        return NULL;
                at = read_digits(at + 1, true, &taken, ret);
        }
        return read_exponent(at, ret);
}

static unsigned __int128 power_of_ten(int exponent) {
        unsigned __int128 power = 1;

        while (exponent-- > 0)
                power *= 10;
        return power;
}

/* *ret = d * factor, to the nearest whole number; *ret_exact: nothing was rounded. */
static int scale(const struct decimal *d, uint64_t factor, uint64_t *ret, bool *ret_exact) {
        unsigned __int128 value = d->digits * factor;
        int exponent = d->exponent;

        *ret_exact = true;
        for (; exponent > 0 && value > 0 && value <= INT64_MAX; exponent--)
                value *= 10;
        if (exponent < -POWER_MAX) {
                *ret_exact = value == 0;
                value = 0;
        } else if (exponent < 0) {
                unsigned __int128 power = power_of_ten(-exponent), rest = value % power;

                *ret_exact = rest == 0;
                value = value / power + (rest >= power - rest ? 1 : 0);
        }
        if (value > INT64_MAX)
                return -ERANGE;
        *ret = (uint64_t) value;
        return 0;
}

static int parse(const char *text, const struct unit *units, uint64_t *ret, bool *ret_exact) {
        struct decimal d;
        const char *name = read_decimal(text, &d);

        if (!name)
                return -EINVAL;
        name += strspn(name, " ");
        for (const struct unit *u = units; u->name; u++)
                if (strcmp(u->name, name) == 0)
                        return d.negative ? -ERANGE : scale(&d, u->factor, ret, ret_exact);
        return -EINVAL;
}

int units_parse_size(const char *text, uint64_t *ret_bytes) {
        bool exact;

        return parse(text, size_units, ret_bytes, &exact);
}

int units_parse_duration(const char *text, uint64_t *ret_ns) {
        bool exact;

        return parse(text, duration_units, ret_ns, &exact);
}

int units_parse_count(const char *text, uint64_t *ret) {
        uint64_t value;
        bool exact = true;
        int r = parse(text, no_units, &value, &exact);

        if (r < 0)
                return r;
        if (!exact)
                return -EINVAL;
        *ret = value;
        return 0;
}

int units_parse_bool(const char *text, bool *ret) {
        static const char *const words[2][4] = { { "false", "no", "off", "0" }, { "true", "yes", "on", "1" } };

        for (unsigned value = 0; value < 2; value++)
                for (unsigned i = 0; i < 4; i++)
                        if (strcmp(text, words[value][i]) == 0) {
                                *ret = value == 1;
                                return 0;
                        }
        return -EINVAL;
}

/* --- writing ------------------------------------------------------------ */

/* Beyond this, three digits round up to four. */
#define ALMOST_THOUSAND 999.5

void units_add_size(struct strbuf *b, uint64_t bytes) {
        static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
        double value = (double) bytes / 1024;
        size_t i = 0;

        if (bytes < 1000) {
                strbuf_printf(b, "%u B", (unsigned) bytes);
                return;
        }
        for (; value >= ALMOST_THOUSAND && i + 1 < sizeof names / sizeof names[0]; i++)
                value /= 1024;
        strbuf_add_double(b, value, 3);
        strbuf_printf(b, " %s", names[i]);
}

static void add_decimal(struct strbuf *b, double value, const char *suffix) {
        static const char *const names[] = { "B", "kB", "MB", "GB", "TB", "PB" };
        size_t i = 0;

        for (; value >= ALMOST_THOUSAND && i + 1 < sizeof names / sizeof names[0]; i++)
                value /= 1000;
        strbuf_add_double(b, value, 3);
        strbuf_printf(b, " %s%s", names[i], suffix);
}

void units_add_bytes(struct strbuf *b, uint64_t bytes) {
        add_decimal(b, (double) bytes, "");
}

void units_add_rate(struct strbuf *b, double bytes_per_second) {
        add_decimal(b, bytes_per_second, "/s");
}

static unsigned decimal_width(uint64_t value) {
        unsigned width = 1;

        while (value >= 10) {
                value /= 10;
                width++;
        }
        return width;
}

/* Of the units that divide @value, the one that makes the shortest text; the first of equals. */
static void add_exact(struct strbuf *b, uint64_t value, const struct unit *units) {
        const struct unit *best = NULL;
        size_t best_length = SIZE_MAX;

        for (const struct unit *u = units; u->name; u++) {
                if (value % u->factor != 0)
                        continue;

                size_t length = decimal_width(value / u->factor) + strlen(u->name);

                if (length < best_length) {
                        best = u;
                        best_length = length;
                }
        }
        if (best)
                strbuf_printf(b, "%llu%s", (unsigned long long) (value / best->factor), best->name);
}

void units_add_size_exact(struct strbuf *b, uint64_t bytes) {
        static const struct unit units[] = {
                { "TiB", KIB * KIB * KIB * KIB },
                { "GiB", KIB * KIB * KIB },
                { "MiB", KIB * KIB },
                { "KiB", KIB },
                { "TB", KB * KB * KB * KB },
                { "GB", KB * KB * KB },
                { "MB", KB * KB },
                { "kB", KB },
                { "", 1 },
                { 0 },
        };

        if (bytes == 0)
                strbuf_add(b, "0");
        else
                add_exact(b, bytes, units);
}

void units_add_duration_exact(struct strbuf *b, uint64_t ns) {
        static const struct unit units[] = {
                { "d", 86400 * NS }, { "h", 3600 * NS }, { "m", 60 * NS }, { "s", NS },
                { "ms", UNITS_NS_PER_MS }, { "us", KB }, { "ns", 1 }, { 0 },
        };

        if (ns == 0)
                strbuf_add(b, "0s");
        else
                add_exact(b, ns, units);
}

/* "5m 12s": two neighbouring units, the smaller one left out when it is 0. */
static void add_long_duration(struct strbuf *b, uint64_t seconds) {
        static const struct unit units[] = { { "d", 86400 }, { "h", 3600 }, { "m", 60 }, { "s", 1 } };
        size_t i = 0;

        while (i < 2 && seconds < units[i].factor)
                i++;
        seconds = (seconds + units[i + 1].factor / 2) / units[i + 1].factor * units[i + 1].factor;
        if (i > 0 && seconds >= units[i - 1].factor)
                i--; /* 59m 59.9s was rounded up to an hour */

        uint64_t small = seconds % units[i].factor / units[i + 1].factor;

        strbuf_printf(b, "%llu%s", (unsigned long long) (seconds / units[i].factor), units[i].name);
        if (small > 0)
                strbuf_printf(b, " %llu%s", (unsigned long long) small, units[i + 1].name);
}

void units_add_duration(struct strbuf *b, uint64_t ns) {
        static const char *const names[] = { "ns", "µs", "ms", "s" };
        double value = (double) ns;
        size_t i = 0;

        /* "60 s" is not written: from there on it is minutes. */
        if (ns >= UINT64_C(59950) * UNITS_NS_PER_MS) {
                add_long_duration(b, ns / NS + (ns % NS >= NS / 2 ? 1 : 0));
                return;
        }
        for (; value >= ALMOST_THOUSAND && i + 1 < sizeof names / sizeof names[0]; i++)
                value /= 1000;
        strbuf_add_double(b, value, 3);
        strbuf_printf(b, " %s", names[i]);
}

/* Days since the epoch to a date of the Gregorian calendar, counting years from
 * March so that the leap day comes last. Not gmtime_r(): glibc's reads the time
 * zone file first, and a disk must not be asked for the time. */
static void date_from_days(uint64_t days, unsigned *ret_year, unsigned *ret_month, unsigned *ret_day) {
        uint64_t since_0000_03_01 = days + 719468;
        uint64_t era = since_0000_03_01 / 146097; /* 400 years */
        uint64_t day = since_0000_03_01 % 146097;
        uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
        uint64_t day_of_year = day - (365 * year + year / 4 - year / 100);
        uint64_t month = (5 * day_of_year + 2) / 153; /* 0: March */

        *ret_day = (unsigned) (day_of_year - (153 * month + 2) / 5 + 1);
        *ret_month = (unsigned) (month < 10 ? month + 3 : month - 9);
        *ret_year = (unsigned) (era * 400 + year + (month >= 10 ? 1 : 0));
}

void units_add_timestamp(struct strbuf *b, uint64_t realtime_ns) {
        uint64_t seconds = realtime_ns / NS;
        unsigned year, month, day, in_day = (unsigned) (seconds % 86400);

        date_from_days(seconds / 86400, &year, &month, &day);
        strbuf_printf(b, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", year, month, day, in_day / 3600,
                      in_day / 60 % 60, in_day % 60, (unsigned) (realtime_ns % NS / UNITS_NS_PER_MS));
}
