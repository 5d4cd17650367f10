/*
 * The words for a target's state and status; see core/snapshot.h.
 */
#include "core/snapshot.h"

const char *state_name(enum state state) {
        static const char *const names[STATE_COUNT_] = {
                [STATE_IDLE] = "idle",   [STATE_RUNNING] = "running",         [STATE_OVERDUE] = "overdue",
                [STATE_STUCK] = "stuck", [STATE_UNAVAILABLE] = "unavailable", [STATE_PAUSED] = "paused",
        };

        return (unsigned) state < STATE_COUNT_ ? names[state] : "unknown";
}

const char *status_name(enum status status) {
        static const char *const names[STATUS_COUNT_] = {
                [STATUS_HUNG] = "hung",       [STATUS_FAILING] = "failing", [STATUS_UNAVAILABLE] = "unavailable",
                [STATUS_SLOW] = "slow",       [STATUS_SUSPECT] = "suspect", [STATUS_UNKNOWN] = "unknown",
                [STATUS_PAUSED] = "paused",   [STATUS_FINE] = "fine",
        };

        return (unsigned) status < STATUS_COUNT_ ? names[status] : "unknown";
}
