/*
 * screen - what the output can show, and writing to it.
 */
#ifndef SYNCPROBE_CLI_SCREEN_H
#define SYNCPROBE_CLI_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "core/strbuf.h"

struct screen {
        bool utf8; /* the locale's character set */
        bool bold; /* standard output is a terminal that knows bold, and NO_COLOR is unset */
};

/* Asks the environment's locale for its character set alone: numbers stay as
 * they are in the C locale. */
void screen_init(struct screen *s);

/* The decimal point of the environment's locale; static. */
const char *screen_decimal_point(void);

/* Writes what @b holds and empties it. Without UTF-8, our own signs become ASCII
 * ones, and any other character a '?'. Returns 0 or -errno. */
int screen_write(const struct screen *s, FILE *to, struct strbuf *b);

/* That replacement alone. Pure. */
void screen_add_ascii(struct strbuf *b, const char *text);

#endif
