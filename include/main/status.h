/*
 * status - the one word about a target for people and alerts: the worst that holds.
 *
 * Pure.
 */
#ifndef SYNCPROBE_MAIN_STATUS_H
#define SYNCPROBE_MAIN_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include "main/test.h"

/* @hung: a call is past its deadline; @unavailable: the newest run could not even begin. */
enum status status_worst(bool hung, bool unavailable, const struct test *tests, size_t n_tests);

#endif
