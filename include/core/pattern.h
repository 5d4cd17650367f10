/*
 * pattern - the data of the tests.
 *
 * DATA_RANDOM must be made faster than any disk takes it, and be swallowed by
 * nothing on the way: not by compression, deduplication or zero detection. A
 * pool of pseudo-random words (xoshiro256**, by Blackman and Vigna) is made
 * once; each piece of a block is a stretch of the pool XORed with a fresh 64-bit
 * key, so that no two blocks of a run, and no two runs, are alike, and a stretch that
 * comes round again shares no string with its earlier self.
 *
 * DATA_COMPRESSIBLE does so for the first part of every 4 KiB and leaves the
 * rest zero; DATA_ZERO is dd's /dev/zero.
 *
 * pattern_fill() neither allocates, fails nor blocks.
 */
#ifndef SYNCPROBE_CORE_PATTERN_H
#define SYNCPROBE_CORE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "core/spec.h"

struct pattern;

/* @seed: 64 bits that differ run by run. @compressible_percent counts for
 * DATA_COMPRESSIBLE alone. Returns 0 or -ENOMEM. */
int pattern_new(struct pattern **ret, enum data data, unsigned compressible_percent, uint64_t seed);
struct pattern *pattern_free(struct pattern *p);

/* Fills @buffer, which must be aligned to 8 bytes. */
void pattern_fill(struct pattern *p, void *buffer, size_t bytes);

#endif
