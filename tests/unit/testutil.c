#include "testutil.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static uint64_t state = 1;

void testutil_seed_init(void) {
        const char *wanted = getenv("SYNCPROBE_TEST_SEED");

        if (wanted)
                state = strtoull(wanted, NULL, 0);
        else if (getrandom(&state, sizeof(state), 0) != (ssize_t) sizeof(state))
                abort();

        /* Zero is the one state that xorshift never leaves. */
        if (state == 0)
                state = 1;

        printf("SYNCPROBE_TEST_SEED=%" PRIu64 "\n", state);
        fflush(stdout);
}

uint64_t testutil_random(void) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return state * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t testutil_random_below(uint64_t below) {
        assert_true(below > 0);
        return testutil_random() % below;
}

void testutil_random_bytes(void *buffer, size_t n_bytes) {
        unsigned char *p = buffer;

        while (n_bytes > 0) {
                uint64_t r = testutil_random();
                size_t n = n_bytes < sizeof(r) ? n_bytes : sizeof(r);

                memcpy(p, &r, n);
                p += n;
                n_bytes -= n;
        }
}
