/*
 * mapper - throw-away children that find out what lies under targets.
 *
 * A few at a time, each with a time limit; one that the kernel does not give back
 * (zpool on a pool that hangs) keeps its place until it ends, so that hung ones never pile
 * up. Nothing here blocks. Answers come from the event loop, never from within mapper_ask().
 */
#ifndef SYNCPROBE_MAIN_MAPPER_H
#define SYNCPROBE_MAIN_MAPPER_H

#include <stdint.h>

#include "core/stack.h"

struct mapper;
struct sd_event;

int mapper_new(struct mapper **ret, struct sd_event *event, const char *worker_program);
/* Kills what is still running, and forgets it. NULL-safe. */
struct mapper *mapper_free(struct mapper *m);

/* What the look-up found; @path is borrowed until the answer. */
struct mapper_place {
        const char *path; /* resolved */
        uint64_t device, mount_id;
};

/* @stack: the answer, the callee's to keep by stack_new(); NULL: none came in time. */
typedef void (*mapper_fn)(void *userdata, const struct stack *stack);

/* 0 or -errno. One request a @userdata at a time. */
int mapper_ask(struct mapper *m, const struct mapper_place *place, mapper_fn on_answer, void *userdata);
/* @userdata wants no answer any more. */
void mapper_forget(struct mapper *m, const void *userdata);

#endif
