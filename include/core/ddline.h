/*
 * ddline - the last line that GNU dd prints, to the letter.
 *
 *   1073741824 bytes (1.1 GB, 1.0 GiB) copied, 7.88432 s, 136 MB/s
 *
 * As coreutils' dd 9 and its human_readable() have it: counts rounded to
 * nearest with one decimal below ten, no parenthesis under 1000 bytes, SI only
 * up to 1023; the time as %g; the rate in SI. Always in the C locale's spelling,
 * which is what `LC_ALL=C dd` prints. Pure.
 */
#ifndef SYNCPROBE_CORE_DDLINE_H
#define SYNCPROBE_CORE_DDLINE_H

#include <stdint.h>

#include "core/strbuf.h"

/* @decimal_point: "." in the C locale; "," in de_DE, where dd itself prints
 * "1,1 GB" and "7,88432 s". No newline is added. A time of 0 prints "Infinity B/s" as dd does. */
void ddline_add(struct strbuf *b, uint64_t bytes, uint64_t elapsed_ns, const char *decimal_point);

#endif
