/*
 * A target's status; see main/status.h.
 */
#include "main/status.h"

enum status status_worst(bool hung, bool unavailable, const struct test *tests, size_t n_tests) {
        bool any = false, failing = false, suspect = false;

        if (hung)
                return STATUS_HUNG;
        for (size_t i = 0; i < n_tests; i++) {
                const struct result *newest;

                if (tests[i].results.count == 0)
                        continue;
                newest = results_get(&tests[i].results, 0);
                any = true;
                failing = failing || !result_is_ok(newest);
                suspect = suspect || newest->judgement.verdict == VERDICT_SUSPECT;
        }
        if (failing)
                return unavailable ? STATUS_UNAVAILABLE : STATUS_FAILING;
        if (suspect)
                return STATUS_SUSPECT;
        return any ? STATUS_FINE : STATUS_UNKNOWN;
}
