/*
 * units - sizes, durations and rates, from text and to text.
 *
 * Sizes in text: an integer or a decimal fraction, then an optional unit.
 * k M G T (also K) and KiB MiB GiB TiB are powers of 1024, kB MB GB TB powers
 * of 1000, B is bytes. Durations: ms s m h d (also us, ns); a bare number
 * is seconds, so "5m" is five minutes and "5M" is no duration. Fractions and
 * exponents are taken ("1.5G", "5e0"); what does not come out as whole
 * bytes or nanoseconds is rounded. Locale-free both ways. Pure; nothing blocks.
 *
 * Errors: -EINVAL (not such a quantity), -ERANGE (negative, or beyond 2^63-1).
 * *ret is untouched on error.
 */
#ifndef SYNCPROBE_CORE_UNITS_H
#define SYNCPROBE_CORE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "core/strbuf.h"

#define UNITS_NS_PER_SECOND UINT64_C(1000000000)
#define UNITS_NS_PER_US UINT64_C(1000)
#define UNITS_NS_PER_MS UINT64_C(1000000)

int units_parse_size(const char *text, uint64_t *ret_bytes);
int units_parse_duration(const char *text, uint64_t *ret_ns);
int units_parse_count(const char *text, uint64_t *ret); /* a whole number; "5", "5.0", "5e0" */
int units_parse_bool(const char *text, _Bool *ret);     /* true false yes no on off 1 0 */

/* For people: "1.5 MiB" (powers of 1024, at most three significant digits). */
void units_add_size(struct strbuf *b, uint64_t bytes);
/* "4KiB": the shortest form that units_parse_size() reads back exactly. */
void units_add_size_exact(struct strbuf *b, uint64_t bytes);
/* For people: "134 MB" (powers of 1000, at most three significant digits). */
void units_add_bytes(struct strbuf *b, uint64_t bytes);
/* For people: "136 MB/s", powers of 1000; three significant digits, never rounded to 0. */
void units_add_rate(struct strbuf *b, double bytes_per_second);
/* For people: "251 µs", "12.3 ms", "7.45 s", "5m 12s"; three significant digits. */
void units_add_duration(struct strbuf *b, uint64_t ns);
/* "5m": the shortest form that units_parse_duration() reads back exactly. */
void units_add_duration_exact(struct strbuf *b, uint64_t ns);
/* RFC 3339 in UTC with milliseconds: "2026-11-30T22:15:00.123Z". @realtime_ns since the epoch. */
void units_add_timestamp(struct strbuf *b, uint64_t realtime_ns);

#endif
