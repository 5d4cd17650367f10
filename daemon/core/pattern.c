/*
 * The data of the tests; see core/pattern.h for what they must withstand.
 */
#include "core/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Fits the second-level cache of any server of the last ten years beside the
 * block that is being made; ten times larger, it would be memory-bound. */
#define POOL_BYTES ((size_t) 256 << 10)

/* A stretch under one key. Short enough that a block of any usual size begins
 * with a key of its own, long enough that making keys costs nothing. */
#define STRETCH_BYTES ((size_t) 64 << 10)

/* The unit in which DATA_COMPRESSIBLE mixes: a page, a usual block of file
 * systems and of zero detection, so that no whole one is ever zero. */
#define PIECE_BYTES ((size_t) 4096)

struct pattern {
        enum data data;
        size_t random_per_piece; /* bytes of a piece that are random, a multiple of 8 */
        uint64_t key_state;
        size_t position; /* in the pool, bytes, a multiple of 64 */
        uint8_t *pool;   /* POOL_BYTES, aligned to 64 */
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

static void fill_pool(uint8_t *pool, uint64_t *seed) {
        uint64_t state[4];

        for (size_t i = 0; i < 4; i++)
                state[i] = splitmix_next(seed);
        for (size_t i = 0; i < POOL_BYTES; i += 8) {
                uint64_t word = xoshiro_next(state);
                memcpy(pool + i, &word, sizeof word);
        }
}

int pattern_new(struct pattern **ret, enum data data, unsigned compressible_percent, uint64_t seed) {
        struct pattern *p = malloc(sizeof *p);

        if (!p)
                return -ENOMEM;
        *p = (struct pattern) { .data = data, .key_state = seed, .random_per_piece = PIECE_BYTES };
        if (data == DATA_COMPRESSIBLE)
                p->random_per_piece = (PIECE_BYTES * (100 - compressible_percent) / 100 + 7) / 8 * 8;
        if (data != DATA_ZERO) {
                /* malloc and round up, rather than aligned_alloc: tests fail every malloc. */
                p->pool = malloc(POOL_BYTES);
                if (!p->pool) {
                        free(p);
                        return -ENOMEM;
                }
                fill_pool(p->pool, &p->key_state);
        }
        *ret = p;
        return 0;
}

struct pattern *pattern_free(struct pattern *p) {
        if (p)
                free(p->pool);
        free(p);
        return NULL;
}

/*
 * to = from ^ key, eight bytes at a time. Compiled for wider registers too and
 * chosen once by the dynamic loader: with plain SSE2 this costs a commit of
 * 4 KiB three times as much, a sixth of the whole sample where a sync is free.
 */
#if defined __x86_64__ && defined __has_attribute && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#  if __has_attribute(target_clones) && defined __gnu_linux__
#    define WIDE __attribute__((target_clones("avx2", "default")))
#  endif
#endif
#ifndef WIDE
#  define WIDE
#endif
#ifndef __clang__
#  define VECTORIZE __attribute__((optimize("O3")))
#else
#  define VECTORIZE
#endif

WIDE VECTORIZE static void mix(uint64_t *restrict to, const uint64_t *restrict from, size_t words, uint64_t key) {
        for (size_t i = 0; i < words; i++)
                to[i] = from[i] ^ key;
}

static void fill_random(struct pattern *p, uint8_t *to, size_t bytes) {
        while (bytes > 0) {
                size_t n = bytes < STRETCH_BYTES ? bytes : STRETCH_BYTES;
                uint64_t key = splitmix_next(&p->key_state);

                if (n > POOL_BYTES - p->position)
                        p->position = 0;

                const uint8_t *from = p->pool + p->position;

                mix((uint64_t *) (void *) to, (const uint64_t *) (const void *) from, n / 8, key);
                if (n % 8 != 0) {
                        uint64_t word;

                        memcpy(&word, from + (n / 8 * 8 < POOL_BYTES - 8 ? n / 8 * 8 : 0), sizeof word);
                        word ^= key;
                        memcpy(to + n / 8 * 8, &word, n % 8);
                }
                p->position = (p->position + n + 63) / 64 * 64 % POOL_BYTES;
                to += n;
                bytes -= n;
        }
}

void pattern_fill(struct pattern *p, void *buffer, size_t bytes) {
        uint8_t *to = buffer;

        switch (p->data) {
        case DATA_ZERO:
                memset(to, 0, bytes);
                return;
        case DATA_RANDOM:
                fill_random(p, to, bytes);
                return;
        case DATA_COMPRESSIBLE:
        case DATA_COUNT_:
                break;
        }
        for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
                size_t piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
                size_t random = piece == PIECE_BYTES ? p->random_per_piece
                                                     : (piece * p->random_per_piece + PIECE_BYTES - 1) / PIECE_BYTES;

                fill_random(p, to + at, random);
                memset(to + at + random, 0, piece - random);
        }
}
