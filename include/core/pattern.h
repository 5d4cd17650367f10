/*
 * pattern - the data of the tests.
 *
 * DATA_RANDOM must be made faster than any disk takes it, and be swallowed by
 * nothing on the way: not by compression, deduplication or zero detection. One
 * block of pseudo-random words (xoshiro256**, by Blackman and Vigna) is made
 * before the run; each block of the run is the one before, XORed with a fresh 64-bit key. So
 * no two blocks of a run and no two runs are alike, within a block nothing
 * repeats, and between blocks no eight bytes do, which leaves a compressor of
 * the LZ kind nothing to refer to.
 *
 * DATA_COMPRESSIBLE does so with the first part of every 4 KiB and leaves the
 * rest zero; DATA_ZERO is dd's /dev/zero.
 */
#ifndef SYNCPROBE_CORE_PATTERN_H
#define SYNCPROBE_CORE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "core/spec.h"

struct pattern;

/*
 * Blocks of up to @max_bytes. @seed: 64 bits that differ run by run.
 * @compressible_percent counts for DATA_COMPRESSIBLE alone. Returns 0 or -ENOMEM.
 */
int pattern_new(struct pattern **ret, enum data data, unsigned compressible_percent, size_t max_bytes, uint64_t seed);
struct pattern *pattern_free(struct pattern *p);

/*
 * The next block, of @bytes <= max_bytes. It lies in the pattern's own memory,
 * aligned to a page as O_DIRECT wants it, until the next call. Neither
 * allocates, fails nor blocks.
 */
const void *pattern_next(struct pattern *p, size_t bytes);

#endif
