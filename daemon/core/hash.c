/*
 * Names to numbers; see core/hash.h.
 */
#include "core/hash.h"

uint64_t hash_words(const char *const *words, size_t n) {
        uint64_t h = UINT64_C(0xcbf29ce484222325);

        for (size_t i = 0; i < n; i++) {
                const unsigned char *at = (const unsigned char *) words[i];

                do
                        h = (h ^ *at) * UINT64_C(0x100000001b3);
                while (*at++ != '\0');
        }
        /* FNV's high bits are weak after few bytes; this is splitmix64's finish. */
        h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
        return h ^ h >> 31;
}
