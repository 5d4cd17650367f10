/*
 * ownname - how our own files below a target are called.
 *
 *   .syncprobe-<8 hex of the machine id>-<uid>-<16 hex at random>
 *   .syncprobe-<8 hex of the machine id>-<uid>-kept<12 hex of the test's hash>
 *
 * The first kind lives as long as its run, and is recognised as left over when
 * nobody holds its lock. The second may stay while its test is configured (the
 * pulse's file, a stream's with reuse): nothing is held below a target between
 * runs, so the name alone says that it is wanted. Pure.
 */
#ifndef SYNCPROBE_CORE_OWNNAME_H
#define SYNCPROBE_CORE_OWNNAME_H

#include <stdbool.h>
#include <stdint.h>

#define OWNNAME_BYTES 64 /* room for any such name and its NUL */
#define OWNNAME_PREFIX ".syncprobe-"

struct ownname {
        uint32_t machine;
        uint32_t uid;
        bool kept;
        uint64_t token; /* the random number, or the 48-bit hash */
};

void ownname_format(char out[OWNNAME_BYTES], const struct ownname *n);

/* Whether @name is, whole and to the letter, what ownname_format() makes. */
bool ownname_parse(const char *name, struct ownname *ret);

/* The token of a kept file. Of the test's full name within its daemon. */
uint64_t ownname_hash(const char *target, const char *test);

#endif
