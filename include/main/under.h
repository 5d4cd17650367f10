/*
 * under - what lies under one target: mapped when its place becomes known or
 * changes, and hourly.
 */
#ifndef SYNCPROBE_MAIN_UNDER_H
#define SYNCPROBE_MAIN_UNDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/proto.h"
#include "core/stack.h"
#include "main/mapper.h"

struct under {
        struct mapper *mapper;
        void (*on_known)(void *userdata);
        void *userdata;
        struct stack *stack; /* owned; NULL: not known */
        char *path;          /* owned: where, as resolved; NULL: not known yet */
        uint64_t device, mount_id;
        uint64_t asked_ns;
        bool asking;
};

/* @on_known is called once an answer is in, or will not come, after under_found() said so. */
void under_init(struct under *u, struct mapper *mapper, void (*on_known)(void *userdata), void *userdata);
void under_done(struct under *u);

/* The worker has found the directory. True: the place is a new one, its stack has been asked for,
 * and on_known() follows; false: it is known, or cannot be asked for. */
bool under_found(struct under *u, const struct proto_ready *ready, uint64_t now_ns);

/* Asks again, in the background, if the last time is long ago. */
void under_refresh(struct under *u, uint64_t now_ns);

#endif
