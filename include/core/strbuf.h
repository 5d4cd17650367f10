/*
 * strbuf - a growing string with a sticky error.
 *
 * Callers append without checking, and ask once at the end: after an
 * allocation failed, further appends do nothing and strbuf_finish() says
 * -ENOMEM. Numbers come out locale-free. Nothing here blocks.
 *
 * No function may be called strbuf_append*, strbuf_release or
 * strbuf_ensure_capacity: libconfig exports such names of its own, and would call ours.
 */
#ifndef SYNCPROBE_CORE_STRBUF_H
#define SYNCPROBE_CORE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf {
        char *text;       /* owned; NUL-terminated once anything was added, else NULL */
        size_t length;    /* bytes without the NUL */
        size_t allocated; /* bytes */
        int error;        /* 0, or the first -errno */
};

void strbuf_init(struct strbuf *b);
void strbuf_done(struct strbuf *b); /* frees; usable again as if after strbuf_init() */

void strbuf_add(struct strbuf *b, const char *text);
void strbuf_add_bytes(struct strbuf *b, const char *bytes, size_t n);
void strbuf_add_char(struct strbuf *b, char c);
void strbuf_add_repeated(struct strbuf *b, const char *text, size_t times);

/* printf in the C locale for integers and strings; for floating point use
 * strbuf_add_double(), since %f and %g would follow the locale. */
void strbuf_printf(struct strbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *b, const char *format, va_list arguments)
        __attribute__((format(printf, 2, 0)));

/* The shortest decimal of at most @digits significant digits ("%.*g"), with
 * '.' whatever the locale. NaN and infinities are written as NaN, +Inf, -Inf
 * (as Prometheus's text format wants; JSON has its own writer). */
void strbuf_add_double(struct strbuf *b, double value, int digits);

/* A fixed number of decimals ("%.*f"), likewise locale-free. */
void strbuf_add_fixed(struct strbuf *b, double value, int decimals);

/* The text, still owned by @b ("" when empty); *ret untouched on error.
 * Returns 0 or -ENOMEM. */
int strbuf_finish(struct strbuf *b, const char **ret);

/* The text handed over to the caller, to be free()d; @b is empty afterwards.
 * Returns 0 or -ENOMEM (then @b is emptied too). */
int strbuf_steal(struct strbuf *b, char **ret);

#endif
