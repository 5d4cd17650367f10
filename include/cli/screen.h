/*
 * screen - what the output can show, and writing to it.
 */
#ifndef SYNCPROBE_CLI_SCREEN_H
#define SYNCPROBE_CLI_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "core/ddline.h"
#include "core/strbuf.h"

struct screen {
        bool utf8; /* the locale's character set */
        bool bold; /* standard output is a terminal that knows bold, and NO_COLOR is unset */
};

/* Asks the environment's locale for its character set alone: numbers stay as
 * they are in the C locale. */
void screen_init(struct screen *s);

/* How dd would tell @bytes in the environment's locale: its decimal point, and the
 * messages of the installed dd's own catalogue. Static texts. */
void screen_dd_words(struct ddline_words *ret, uint64_t bytes);

/* Writes what @b holds and empties it. Without UTF-8, our own signs become ASCII
 * ones, and any other character a '?'. Returns 0 or -errno. */
int screen_write(const struct screen *s, FILE *to, struct strbuf *b);

/* That replacement alone. Pure. */
void screen_add_ascii(struct strbuf *b, const char *text);

#endif
