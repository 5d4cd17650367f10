/*
 * The clocks; see main/clock.h.
 */
#include "main/clock.h"

#include <time.h>

#include "core/units.h"

static uint64_t read_clock(clockid_t clock) {
        struct timespec t;

        clock_gettime(clock, &t);
        return (uint64_t) t.tv_sec * UNITS_NS_PER_SECOND + (uint64_t) t.tv_nsec;
}

uint64_t clock_monotonic_ns(void) {
        return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_realtime_ns(void) {
        return read_clock(CLOCK_REALTIME);
}
