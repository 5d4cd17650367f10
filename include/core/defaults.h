/*
 * defaults - the tests that a target has when none are configured, by what lies
 * under it. Pure.
 */
#ifndef SYNCPROBE_CORE_DEFAULTS_H
#define SYNCPROBE_CORE_DEFAULTS_H

#include "core/spec.h"
#include "core/stack.h"

#define DEFAULTS_MAX 3

struct default_test {
        struct spec spec; /* finished */
        uint64_t interval_ns;
};

/* Fills in the tests; how many there are. @stack NULL: those for an unknown medium. */
size_t defaults_for(const struct stack *stack, struct default_test ret[DEFAULTS_MAX]);

/* Whether a stream writes one kept file in place unless told otherwise: over thin pools,
 * VDO, loop devices, virtual and fabric disks, where each new file would take new space below. */
bool defaults_reuse(const struct stack *stack);

#endif
