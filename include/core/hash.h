/*
 * hash - names to numbers: for spreading and for file names, not against an enemy.
 *
 * FNV-1a with a finishing mix. Stays the same for ever: kept files below
 * the targets are named by it, and a fleet's phases hang on it. Pure.
 */
#ifndef SYNCPROBE_CORE_HASH_H
#define SYNCPROBE_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Of @n strings, each with its NUL, so that {"ab","c"} and {"a","bc"} differ. */
uint64_t hash_words(const char *const *words, size_t n);

#endif
