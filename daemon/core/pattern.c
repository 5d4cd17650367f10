/*
 * The data of the tests; see core/pattern.h for what they must withstand.
 *
 * In place, and not from a pool of random data into a buffer: the block stays in the
 * first-level cache between two commits, and making it costs a tenth of what the
 * copy did (9 against 37 ns for 4 KiB, where a commit on tmpfs takes 580).
 */
#include "core/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What O_DIRECT may want memory to be aligned to. */
#define ALIGNMENT ((size_t) 4096)

/* The unit in which DATA_COMPRESSIBLE mixes: a page, a usual block of file
 * systems and of zero detection, so that no whole one is ever zero. */
#define PIECE_BYTES ((size_t) 4096)

/* Four keys in a register, eight registers a turn. */
typedef uint64_t lane __attribute__((vector_size(32), aligned(32), may_alias));
#define LANES_A_TURN 8
#define TURN_BYTES (LANES_A_TURN * sizeof(lane))

struct pattern {
        enum data data;
        size_t random_per_piece; /* bytes of a piece that are random, a multiple of TURN_BYTES */
        uint64_t key_state;
        uint8_t *block; /* a multiple of ALIGNMENT long */
};

/* splitmix64 (Steele, Lea, Flood 2014), for keys and for seeding. */
static uint64_t splitmix_next(uint64_t *state) {
        uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        return z ^ z >> 31;
}

static uint64_t rotate_left(uint64_t x, unsigned by) {
        return x << by | x >> (64 - by);
}

/* xoshiro256** (Blackman and Vigna 2018). */
static uint64_t xoshiro_next(uint64_t s[4]) {
        uint64_t result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;

        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = rotate_left(s[3], 45);
        return result;
}

static void fill_random(uint8_t *to, size_t bytes, uint64_t state[4]) {
        for (size_t i = 0; i < bytes; i += 8) {
                uint64_t word = xoshiro_next(state);

                memcpy(to + i, &word, sizeof word);
        }
}

int pattern_new(struct pattern **ret, enum data data, unsigned compressible_percent, size_t max_bytes,
                uint64_t seed) {
        struct pattern *p = malloc(sizeof *p);
        size_t allocated = (max_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        uint64_t state[4];

        if (!p)
                return -ENOMEM;
        *p = (struct pattern) { .data = data, .key_state = seed, .random_per_piece = PIECE_BYTES };
        if (data == DATA_COMPRESSIBLE)
                p->random_per_piece =
                        (PIECE_BYTES * (100 - compressible_percent) / 100 + TURN_BYTES - 1) / TURN_BYTES * TURN_BYTES;
        p->block = aligned_alloc(ALIGNMENT, allocated);
        if (!p->block) {
                free(p);
                return -ENOMEM;
        }
        /* All of it is written to: the timed part must not meet pages that are not there yet. */
        memset(p->block, 0, allocated);
        for (size_t i = 0; i < 4; i++)
                state[i] = splitmix_next(&p->key_state);
        for (size_t at = 0; at < allocated && data != DATA_ZERO; at += PIECE_BYTES)
                fill_random(p->block + at, p->random_per_piece, state);
        *ret = p;
        return 0;
}

struct pattern *pattern_free(struct pattern *p) {
        if (p)
                free(p->block);
        free(p);
        return NULL;
}

/* Compiled for wider registers too; the dynamic loader chooses once. Not under
 * AddressSanitizer, which is not ready yet when the loader asks. */
#if defined __has_feature
#  if __has_feature(address_sanitizer)
#    define NO_CLONES
#  endif
#endif
#if defined __SANITIZE_ADDRESS__ || !defined __x86_64__ || !defined __GLIBC__
#  define NO_CLONES
#endif
#ifdef NO_CLONES
#  define WIDE
#else
#  define WIDE __attribute__((target_clones("avx2", "default")))
#endif

/* @turns times TURN_BYTES at @at, each word XORed with @key. */
WIDE static void change(lane *at, size_t turns, uint64_t key) {
        lane keys = { key, key, key, key };

        for (size_t i = 0; i < turns; i++, at += LANES_A_TURN) {
                at[0] ^= keys;
                at[1] ^= keys;
                at[2] ^= keys;
                at[3] ^= keys;
                at[4] ^= keys;
                at[5] ^= keys;
                at[6] ^= keys;
                at[7] ^= keys;
        }
}

const void *pattern_next(struct pattern *p, size_t bytes) {
        uint64_t key;

        if (p->data == DATA_ZERO)
                return p->block;
        key = splitmix_next(&p->key_state);
        if (p->data == DATA_RANDOM) {
                change((lane *) (void *) p->block, (bytes + TURN_BYTES - 1) / TURN_BYTES, key);
                return p->block;
        }
        for (size_t at = 0; at < bytes; at += PIECE_BYTES)
                change((lane *) (void *) (p->block + at), p->random_per_piece / TURN_BYTES, key);
        return p->block;
}
