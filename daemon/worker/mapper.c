/*
 * The throw-away child's work; see worker/mapper.h.
 */
#include "worker/mapper.h"

#include <sys/sysmacros.h>

#include "worker/stackmap.h"

void mapper_answer(const struct proto_map *map, union proto_message *ret) {
        const struct stackmap_place place = {
                .path = map->path,
                .mount_id = map->mount_id,
                .major = major(map->device),
                .minor = minor(map->device),
        };

        proto_init(ret, PROTO_STACK);
        stackmap_make(&ret->stack.stack, "/", &place);
}
