/*
 * zpool - what `zpool status -LP` and `zfs get -Hp` print, read. Pure.
 */
#ifndef SYNCPROBE_WORKER_ZPOOL_H
#define SYNCPROBE_WORKER_ZPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "core/stack.h"

#define ZPOOL_PATH_BYTES 256

struct zpool_vdev {
        char path[ZPOOL_PATH_BYTES]; /* absolute */
        enum role role;
};

/* The leaf vdevs of the config section, spares left out: at most @room of them, in
 * its order. How many there are, which may be more. */
size_t zpool_parse_status(const char *text, struct zpool_vdev *ret, size_t room);

/* FACT_SYNC_DISABLED, FACT_COMPRESSION, FACT_THROUGHPUT by lines of property TAB value. */
uint32_t zpool_parse_properties(const char *text);

#endif
