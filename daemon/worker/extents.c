/*
 * How a file lies on its file system; see worker/extents.h.
 */
#include "worker/extents.h"

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define EXTENTS_A_CALL 256
#define CALLS_MAX 256 /* compressed extents are 128 KiB at most: 8 GiB of them */

struct totals {
        uint64_t all, encoded, delayed;
};

/* Adds one call's extents. The offset behind them, or 0 when there are no more. */
static uint64_t add_extents(const struct fiemap *map, struct totals *t) {
        for (unsigned i = 0; i < map->fm_mapped_extents; i++) {
                const struct fiemap_extent *e = &map->fm_extents[i];

                t->all += e->fe_length;
                if ((e->fe_flags & FIEMAP_EXTENT_ENCODED) != 0)
                        t->encoded += e->fe_length;
                if ((e->fe_flags & FIEMAP_EXTENT_DELALLOC) != 0)
                        t->delayed += e->fe_length;
                if ((e->fe_flags & FIEMAP_EXTENT_LAST) != 0)
                        return 0;
        }
        if (map->fm_mapped_extents == 0)
                return 0;

        const struct fiemap_extent *last = &map->fm_extents[map->fm_mapped_extents - 1];

        return last->fe_logical + last->fe_length;
}

void extents_read(int fd, struct proto_evidence *e) {
        size_t bytes = sizeof(struct fiemap) + EXTENTS_A_CALL * sizeof(struct fiemap_extent);
        struct fiemap *map = malloc(bytes);
        struct totals t = { 0, 0, 0 };
        uint64_t from = 0;
        int r = 0;

        if (!map)
                return;
        for (unsigned i = 0; i < CALLS_MAX; i++) {
                (void) memset(map, 0, sizeof *map);
                map->fm_start = from;
                map->fm_length = FIEMAP_MAX_OFFSET - from;
                map->fm_extent_count = EXTENTS_A_CALL;
                do
                        r = ioctl(fd, FS_IOC_FIEMAP, map);
                while (r < 0 && errno == EINTR);
                if (r < 0)
                        break;
                from = add_extents(map, &t);
                if (from == 0)
                        break;
        }
        free(map);
        if (r < 0 || from != 0)
                return;
        e->extent_bytes = t.all;
        e->encoded_bytes = t.encoded;
        e->delayed_bytes = t.delayed;
}
