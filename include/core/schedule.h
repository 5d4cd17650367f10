/*
 * schedule - when a test's turns come.
 *
 * Turns lie on a grid: phase, phase + interval, phase + 2 * interval, … of
 * CLOCK_MONOTONIC. The phase is a hash of machine, target and test, so that neither the
 * tests of a host nor the hosts of a fleet move in step. Pure: time is passed in.
 */
#ifndef SYNCPROBE_CORE_SCHEDULE_H
#define SYNCPROBE_CORE_SCHEDULE_H

#include <stdint.h>

/* The first turn of a test with a long interval comes within this time of the start. */
#define SCHEDULE_FIRST_WITHIN_NS (UINT64_C(60) * UINT64_C(1000000000))

/* In [0, interval_ns). interval_ns > 0. */
uint64_t schedule_phase_ns(const char *machine, const char *target, const char *test, uint64_t interval_ns);

/* The first turn strictly after @now_ns. */
uint64_t schedule_next_ns(uint64_t phase_ns, uint64_t interval_ns, uint64_t now_ns);

/* The very first turn: on the grid of min(interval, SCHEDULE_FIRST_WITHIN_NS). */
uint64_t schedule_first_ns(uint64_t phase_ns, uint64_t interval_ns, uint64_t now_ns);

/* The turn after the one at @turn_ns, skipping those that are past at @now_ns,
 * and one nearer to @turn_ns than half an interval. *ret_missed (may be NULL): how many were skipped as past. */
uint64_t schedule_after_ns(uint64_t phase_ns, uint64_t interval_ns, uint64_t turn_ns, uint64_t now_ns,
                           uint64_t *ret_missed);

#endif
