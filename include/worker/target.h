/*
 * target - finding the directory that is tested, each time anew.
 *
 * Nothing below a target is held between runs, so each begins with a look-up.
 * The first one settles which directory it is; a later one that finds another in its
 * place (mounted over, replaced, unmounted) says so, and a fresh worker is
 * needed, since the sandbox is bound to the first.
 */
#ifndef SYNCPROBE_WORKER_TARGET_H
#define SYNCPROBE_WORKER_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "worker/run.h"

struct target {
        const struct proto_setup *setup;
        char path[PROTO_PATH_BYTES]; /* as resolved, once it is known */
        bool known;
        uint64_t device, inode, mount; /* of the directory at @path */
};

struct target_view {
        int fd;   /* where files are made; owned by the caller */
        int base; /* the directory at the path itself, which may be the same number */
        uint64_t device;
        char fstype[PROTO_FSTYPE_BYTES]; /* by statfs; "unknown-<hex>" where not in our table */
};

/*
 * Looks the directory up and checks that it may be used. -ENOTDIR: something
 * else stands there; -ELOOP: a symbolic link on the way; -EXDEV: not the
 * directory that was found first; -EKEYREJECTED: others own it or may write to it.
 */
int target_open(struct run *r, struct target *t, struct target_view *ret);
void target_close(struct target_view *v);

#endif
