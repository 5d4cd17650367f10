/*
 * clock - the two clocks. Intervals are measured with the monotonic one; the
 * wall clock is for what a person or a file reads.
 */
#ifndef SYNCPROBE_MAIN_CLOCK_H
#define SYNCPROBE_MAIN_CLOCK_H

#include <stdint.h>

uint64_t clock_monotonic_ns(void);
uint64_t clock_realtime_ns(void); /* since the epoch */

#endif
