/*
 * mapper - syncprobe-worker in its other role: a throw-away child that finds out
 * what lies under a path, tells it, and ends.
 */
#ifndef SYNCPROBE_WORKER_MAPPER_H
#define SYNCPROBE_WORKER_MAPPER_H

#include "core/proto.h"

/* Fills in the answer. May hang with the storage: whoever asked has a time limit. */
void mapper_answer(const struct proto_map *map, union proto_message *ret);

#endif
