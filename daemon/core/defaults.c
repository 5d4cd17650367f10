/*
 * The tests by default; see core/defaults.h.
 */
#include "core/defaults.h"

#include "core/units.h"

#define MINUTE_NS (60 * UNITS_NS_PER_SECOND)
#define HOUR_NS (60 * MINUTE_NS)

bool defaults_reuse(const struct stack *s) {
        return stack_has_layer(s, LAYER_THIN) || stack_has_layer(s, LAYER_VDO) || stack_has_layer(s, LAYER_LOOP) ||
               stack_has_layer(s, LAYER_VIRTUAL) || stack_has_layer(s, LAYER_FABRIC);
}

static const struct {
        uint64_t period_ns, commit_interval_ns;
        bool streams;
} media[MEDIUM_COUNT_] = {
        [MEDIUM_UNKNOWN] = { 10 * UNITS_NS_PER_SECOND, 15 * MINUTE_NS, true },
        [MEDIUM_FLASH] = { 10 * UNITS_NS_PER_SECOND, 15 * MINUTE_NS, true },
        [MEDIUM_ROTATING] = { 30 * UNITS_NS_PER_SECOND, 30 * MINUTE_NS, true },
        [MEDIUM_SHARED] = { 15 * UNITS_NS_PER_SECOND, 30 * MINUTE_NS, false },
};

static void set(struct spec *s, enum spec_key key, const char *value) {
        char error[SPEC_ERROR_BYTES];

        (void) spec_set(s, key, value, error); /* our own texts: a test reads them all */
}

size_t defaults_for(const struct stack *stack, struct default_test ret[DEFAULTS_MAX]) {
        enum medium medium = stack ? stack_medium(stack) : MEDIUM_UNKNOWN;
        char error[SPEC_ERROR_BYTES];
        size_t n = 0;

        spec_init(&ret[n].spec, KIND_PULSE);
        ret[n].spec.period_ns = media[medium].period_ns;
        ret[n].spec.given |= 1u << SPEC_PERIOD;
        ret[n++].interval_ns = MINUTE_NS;

        spec_init(&ret[n].spec, KIND_COMMIT);
        ret[n++].interval_ns = media[medium].commit_interval_ns;

        if (media[medium].streams) {
                spec_init(&ret[n].spec, KIND_STREAM);
                if (stack && defaults_reuse(stack))
                        set(&ret[n].spec, SPEC_REUSE, "true");
                ret[n++].interval_ns = 24 * HOUR_NS;
        }
        for (size_t i = 0; i < n; i++)
                (void) spec_finish(&ret[i].spec, error);
        return n;
}
