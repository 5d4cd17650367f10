/*
 * mountinfo - the table of mounts, proc_pid_mountinfo(5).
 */
#ifndef SYNCPROBE_WORKER_MOUNTINFO_H
#define SYNCPROBE_WORKER_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/sysroot.h"

/* Texts are unescaped, but for the options, and valid as long as the table. */
struct mount {
        uint64_t id;
        uint32_t major, minor;
        const char *root;        /* which part of the file system is mounted */
        const char *mount_point;
        const char *fstype, *source;
        /* Of the mount, and of the file system. A comma inside a value is an escape, and
         * stays one until the list is split. */
        const char *options, *super_options;
};

struct mountinfo {
        char *text;           /* owned */
        struct mount *mounts; /* owned, in the kernel's order */
        size_t n;
};

/* Reads /proc/self/mountinfo. A line that is not understood is left out. 0, -ENOMEM or -errno. */
int mountinfo_read(struct mountinfo *ret, const struct sysroot *root);
void mountinfo_done(struct mountinfo *m);

/* By mount id (0: not known), else the newest with that device whose mount point
 * is the path or above it, else the newest above the path. NULL: none. */
const struct mount *mountinfo_find(const struct mountinfo *m, uint64_t id, uint32_t major, uint32_t minor,
                                   const char *path);
/* On which the file at @path lies, by the path alone. */
const struct mount *mountinfo_find_path(const struct mountinfo *m, const char *path);

/* Whether the comma-separated @options have this word. */
bool mount_has_option(const char *options, const char *word);
/* The value of "@name=…" among them, still escaped, and its length; NULL: there is none. A
 * comma in it is \054, or behind a backslash. */
const char *mount_option_value(const char *options, const char *name, size_t *ret_length);
/* What the kernel wrote as "\040" and the like, in place. */
void mount_unescape(char *text);

#endif
