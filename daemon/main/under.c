/*
 * What lies under one target; see main/under.h.
 */
#include "main/under.h"

#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "main/log.h"

#define REFRESH_NS (3600 * UNITS_NS_PER_SECOND)

void under_init(struct under *u, struct mapper *mapper, void (*on_known)(void *userdata), void *userdata) {
        *u = (struct under) { .mapper = mapper, .on_known = on_known, .userdata = userdata };
}

void under_done(struct under *u) {
        if (u->asking)
                mapper_forget(u->mapper, u);
        u->asking = false;
        u->stack = stack_unref(u->stack);
        free(u->path);
        u->path = NULL;
}

/* Of one place, a stack that was found an hour ago is better than none. */
static void on_answer(void *userdata, const struct stack *stack) {
        struct under *u = userdata;
        struct stack *copy;

        u->asking = false;
        if (stack && stack_new(&copy, stack) == 0) {
                stack_unref(u->stack);
                u->stack = copy;
        }
        u->on_known(u->userdata);
}

static bool ask(struct under *u, uint64_t now_ns) {
        const struct mapper_place place = { .path = u->path, .device = u->device, .mount_id = u->mount_id };
        int r = mapper_ask(u->mapper, &place, on_answer, u);

        u->asked_ns = now_ns;
        u->asking = r >= 0;
        if (r < 0)
                log_error("cannot ask what lies under %s: %s", u->path, strerror(-r));
        return u->asking;
}

bool under_found(struct under *u, const struct proto_ready *ready, uint64_t now_ns) {
        if (u->path && strcmp(u->path, ready->path) == 0 && u->device == ready->device && u->mount_id == ready->mount_id)
                return u->asking && !u->stack;
        if (u->asking)
                mapper_forget(u->mapper, u);
        u->asking = false;
        u->stack = stack_unref(u->stack);
        free(u->path);
        u->path = strdup(ready->path);
        u->device = ready->device;
        u->mount_id = ready->mount_id;
        return u->path && ask(u, now_ns);
}

void under_refresh(struct under *u, uint64_t now_ns) {
        if (u->path && !u->asking && now_ns - u->asked_ns >= REFRESH_NS)
                (void) ask(u, now_ns);
}
