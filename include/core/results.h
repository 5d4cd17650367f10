/*
 * results - the last results of one test, newest first.
 *
 * A ring that grows up to RESULTS_MAX and then forgets the oldest. Pure but for memory.
 */
#ifndef SYNCPROBE_CORE_RESULTS_H
#define SYNCPROBE_CORE_RESULTS_H

#include <stddef.h>

#include "core/result.h"

#define RESULTS_MAX 64

struct results {
        struct result *items; /* owned */
        size_t allocated;
        size_t count;
        size_t next; /* where the next one goes once the ring is full */
};

/* All zero is an empty one. */
void results_done(struct results *rs);

/* Adds a copy. Returns 0 or -ENOMEM, and then holds what it held. */
int results_add(struct results *rs, const struct result *r);

/* The @i-th newest, 0 <= i < count; valid until the next results_add(). */
const struct result *results_get(const struct results *rs, size_t i);

#endif
