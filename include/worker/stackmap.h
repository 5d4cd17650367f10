/*
 * stackmap - finds out what lies under a path (core/stack.h).
 *
 * Asks mountinfo, sysfs and, for ZFS, its tools; the target itself is never
 * opened, nor any file system asked. The tools may hang all the same, with the
 * pool: only the throw-away child calls this.
 */
#ifndef SYNCPROBE_WORKER_STACKMAP_H
#define SYNCPROBE_WORKER_STACKMAP_H

#include "core/stack.h"
#include "worker/mountinfo.h"
#include "worker/sysroot.h"

/* What the look-up of the target found. */
struct stackmap_place {
        const char *path; /* resolved */
        uint64_t mount_id; /* 0: not known */
        uint32_t major, minor; /* st_dev */
};

/* Always fills in *ret; what could not be found is said there. @root: "/", or a test's tree. */
void stackmap_make(struct stack *ret, const char *root, const struct stackmap_place *place);

/* --- its parts: fsmap.c goes from file systems to devices, blockmap.c from devices to devices --- */

#define STACKMAP_DEPTH_MAX 8

struct stackmap {
        struct stack *stack;
        struct sysroot root;
        struct mountinfo mounts;
        const struct mount *inside[STACKMAP_DEPTH_MAX]; /* the nested file systems that the search is in */
        unsigned depth;
};

/* A new node, its index; -1 when there is no room, which makes the stack incomplete. */
int stackmap_add(struct stackmap *m, int parent, enum layer layer, enum role role, const char *name);
/* Says once why the stack is incomplete. */
void stackmap_remark(struct stackmap *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The block device called @name in /sys/class/block, and all below it. */
void blockmap_add_name(struct stackmap *m, int parent, enum role role, const char *name);
void blockmap_add_number(struct stackmap *m, int parent, enum role role, uint32_t major, uint32_t minor);
/* The device at a path of /dev, links followed. */
void blockmap_add_path(struct stackmap *m, int parent, enum role role, const char *path);

/* The file system on which the file at @path lies. */
void fsmap_add_file(struct stackmap *m, int parent, enum role role, const char *path);

#endif
