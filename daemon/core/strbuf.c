/*
 * A growing string with a sticky error; see core/strbuf.h.
 *
 * The text is always NUL-terminated once allocated, so that a half-built one can
 * be looked at in a debugger.
 */
#include "core/strbuf.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ALLOCATION 64

void strbuf_init(struct strbuf *b) {
        *b = (struct strbuf) { 0 };
}

void strbuf_done(struct strbuf *b) {
        free(b->text);
        strbuf_init(b);
}

/* Makes room for @n more bytes and a NUL. False (and the error set) where there is none. */
static bool make_room(struct strbuf *b, size_t n) {
        if (b->error < 0)
                return false;
        if (n < b->allocated - b->length)
                return true;
        if (n >= SIZE_MAX / 2 - b->length) {
                b->error = -ENOMEM;
                return false;
        }

        size_t wanted = b->allocated > 0 ? b->allocated : FIRST_ALLOCATION;

        while (wanted - b->length <= n)
                wanted *= 2;

        char *text = realloc(b->text, wanted);

        if (!text) {
                b->error = -ENOMEM;
                return false;
        }
        b->text = text;
        b->allocated = wanted;
        return true;
}

void strbuf_add_bytes(struct strbuf *b, const char *bytes, size_t n) {
        if (!make_room(b, n))
                return;
        if (n > 0)
                memcpy(b->text + b->length, bytes, n);
        b->length += n;
        b->text[b->length] = '\0';
}

void strbuf_add(struct strbuf *b, const char *text) {
        strbuf_add_bytes(b, text, strlen(text));
}

void strbuf_add_char(struct strbuf *b, char c) {
        strbuf_add_bytes(b, &c, 1);
}

void strbuf_add_repeated(struct strbuf *b, const char *text, size_t times) {
        size_t n = strlen(text);

        for (size_t i = 0; i < times && b->error == 0; i++)
                strbuf_add_bytes(b, text, n);
}

void strbuf_vprintf(struct strbuf *b, const char *format, va_list arguments) {
        va_list again;

        if (!make_room(b, 0))
                return;
        va_copy(again, arguments);

        int n = vsnprintf(b->text + b->length, b->allocated - b->length, format, arguments);

        if (n < 0) {
                /* What printf itself can run out of is memory. */
                b->text[b->length] = '\0';
                b->error = -ENOMEM;
        } else if ((size_t) n < b->allocated - b->length) {
                b->length += (size_t) n;
        } else if (make_room(b, (size_t) n)) {
                vsnprintf(b->text + b->length, b->allocated - b->length, format, again);
                b->length += (size_t) n;
        } else {
                b->text[b->length] = '\0'; /* no half of it */
        }
        va_end(again);
}

void strbuf_printf(struct strbuf *b, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        strbuf_vprintf(b, format, arguments);
        va_end(arguments);
}

/*
 * Adds what printf made of a finite number, with its decimal point, whatever
 * bytes the locale has for one, written as '.'. Nothing else in it can be
 * anything but a digit, a sign or an exponent's e.
 */
static void add_number(struct strbuf *b, const char *printed) {
        const char *rest = printed + strspn(printed, "0123456789-");
        size_t whole = (size_t) (rest - printed), point = strcspn(rest, "0123456789e");

        strbuf_add_bytes(b, printed, whole);
        if (point > 0)
                strbuf_add_char(b, '.');
        strbuf_add(b, rest + point);
}

static bool add_not_finite(struct strbuf *b, double value) {
        if (isnan(value))
                strbuf_add(b, "NaN");
        else if (isinf(value))
                strbuf_add(b, value > 0 ? "+Inf" : "-Inf");
        else
                return false;
        return true;
}

/* The largest double has 309 digits before the point. */
#define NUMBER_BYTES 512
#define DIGITS_MAX 100

void strbuf_add_double(struct strbuf *b, double value, int digits) {
        char printed[NUMBER_BYTES];

        if (add_not_finite(b, value))
                return;
        snprintf(printed, sizeof printed, "%.*g", digits < DIGITS_MAX ? digits : DIGITS_MAX, value);
        add_number(b, printed);
}

void strbuf_add_fixed(struct strbuf *b, double value, int decimals) {
        char printed[NUMBER_BYTES];

        if (add_not_finite(b, value))
                return;
        snprintf(printed, sizeof printed, "%.*f", decimals < DIGITS_MAX ? decimals : DIGITS_MAX, value);
        add_number(b, printed);
}

int strbuf_finish(struct strbuf *b, const char **ret) {
        if (b->error < 0)
                return b->error;
        *ret = b->text ? b->text : "";
        return 0;
}

int strbuf_steal(struct strbuf *b, char **ret) {
        int r;

        make_room(b, 0); /* so that an empty text is one too */
        r = b->error;
        if (r < 0) {
                strbuf_done(b);
                return r;
        }
        b->text[b->length] = '\0';
        *ret = b->text;
        strbuf_init(b);
        return 0;
}
