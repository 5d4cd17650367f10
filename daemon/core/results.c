/*
 * A ring of results; see core/results.h.
 */
#include "core/results.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ALLOCATION 4

void results_done(struct results *rs) {
        for (size_t i = 0; i < rs->count; i++)
                result_done(&rs->items[i]);
        free(rs->items);
        *rs = (struct results) { .items = NULL };
}

static int grow(struct results *rs) {
        size_t allocated = rs->allocated > 0 ? 2 * rs->allocated : FIRST_ALLOCATION;
        struct result *items = realloc(rs->items, allocated * sizeof *items);

        if (!items)
                return -ENOMEM;
        rs->items = items;
        rs->allocated = allocated;
        return 0;
}

int results_add(struct results *rs, const struct result *r) {
        if (rs->count == rs->allocated && rs->count < RESULTS_MAX) {
                int error = grow(rs);

                if (error < 0)
                        return error;
        }
        if (rs->count < RESULTS_MAX) {
                result_copy(&rs->items[rs->count++], r);
                rs->next = rs->count % RESULTS_MAX;
                return 0;
        }
        result_done(&rs->items[rs->next]);
        result_copy(&rs->items[rs->next], r);
        rs->next = (rs->next + 1) % RESULTS_MAX;
        return 0;
}

const struct result *results_get(const struct results *rs, size_t i) {
        size_t end = rs->count < RESULTS_MAX ? rs->count : rs->next + RESULTS_MAX;

        return &rs->items[(end - 1 - i) % RESULTS_MAX];
}
