/*
 * ddline - the last line that GNU dd prints, to the letter.
 *
 *   1073741824 bytes (1.1 GB, 1.0 GiB) copied, 7.88432 s, 136 MB/s
 *
 * As coreutils' dd 9 and its human_readable() have it: counts rounded to
 * nearest with one decimal below ten, no parenthesis under 1000 bytes, SI only
 * up to 1023; the time as %g; the rate in SI. Pure: the locale's part is passed in.
 */
#ifndef SYNCPROBE_CORE_DDLINE_H
#define SYNCPROBE_CORE_DDLINE_H

#include <stdint.h>

#include "core/strbuf.h"

/*
 * What depends on the locale: its decimal point, and dd's own messages for the number
 * of bytes at hand ("%jd" or the like for the count, then "%s" for each text; also
 * "%2$s"). They are filled in here, never given to printf.
 */
struct ddline_words {
        const char *decimal_point;
        const char *plain;    /* "%jd bytes copied, %s, %s" */
        const char *si;       /* "%jd bytes (%s) copied, %s, %s" */
        const char *si_iec;   /* "%jd bytes (%s, %s) copied, %s, %s" */
        const char *infinity; /* "Infinity" */
};

/* No newline is added. A time of 0 has the rate "Infinity B/s", as dd has it. */
void ddline_add_words(struct strbuf *b, uint64_t bytes, uint64_t elapsed_ns, const struct ddline_words *words);

/* In English. @decimal_point: "." in the C locale. */
void ddline_add(struct strbuf *b, uint64_t bytes, uint64_t elapsed_ns, const char *decimal_point);

#endif
