/*
 * When a test's turns come; see core/schedule.h.
 */
#include "core/schedule.h"

#include "core/hash.h"

uint64_t schedule_phase_ns(const char *machine, const char *target, const char *test, uint64_t interval_ns) {
        const char *const words[] = { machine, target, test };

        return hash_words(words, 3) % interval_ns;
}

uint64_t schedule_next_ns(uint64_t phase_ns, uint64_t interval_ns, uint64_t now_ns) {
        if (now_ns < phase_ns)
                return phase_ns;
        return now_ns + interval_ns - (now_ns - phase_ns) % interval_ns;
}

uint64_t schedule_first_ns(uint64_t phase_ns, uint64_t interval_ns, uint64_t now_ns) {
        uint64_t grid_ns = interval_ns < SCHEDULE_FIRST_WITHIN_NS ? interval_ns : SCHEDULE_FIRST_WITHIN_NS;

        return schedule_next_ns(phase_ns % grid_ns, grid_ns, now_ns);
}

uint64_t schedule_after_ns(uint64_t phase_ns, uint64_t interval_ns, uint64_t turn_ns, uint64_t now_ns,
                           uint64_t *ret_missed) {
        uint64_t next_ns = schedule_next_ns(phase_ns, interval_ns, turn_ns), missed = 0;

        /* The very first turn lies off the grid, perhaps just before a turn on it. */
        if (next_ns - turn_ns < interval_ns / 2)
                next_ns += interval_ns;
        if (next_ns < now_ns) {
                missed = (now_ns - next_ns + interval_ns - 1) / interval_ns;
                next_ns += missed * interval_ns;
        }
        if (ret_missed)
                *ret_missed = missed;
        return next_ns;
}
