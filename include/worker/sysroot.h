/*
 * sysroot - reading /proc, /sys and /dev below a root that tests can put elsewhere.
 *
 * Paths are absolute. Symbolic links are followed as the kernel follows them: those
 * of /sys, /dev/mapper and /dev/disk are relative, and so stay below another root.
 * May block as the file systems there do.
 */
#ifndef SYNCPROBE_WORKER_SYSROOT_H
#define SYNCPROBE_WORKER_SYSROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYSROOT_NAME_BYTES 64
#define SYSROOT_PATH_BYTES 512

struct sysroot {
        int fd; /* owned; -1: not open */
};

/* 0 or -errno. */
int sysroot_open(struct sysroot *ret, const char *path);
void sysroot_close(struct sysroot *root);

/* The file's first @room - 1 bytes as a string, without newlines at its end. The length or -errno. */
int sysroot_read(const struct sysroot *root, const char *path, char *ret, size_t room);
/* All of a file, to be free()d. 0, -EFBIG (more than @limit) or -errno. */
int sysroot_read_all(const struct sysroot *root, const char *path, size_t limit, char **ret);
/* A decimal number at its beginning; -EINVAL: there is none. */
int sysroot_read_number(const struct sysroot *root, const char *path, uint64_t *ret);
bool sysroot_has(const struct sysroot *root, const char *path);

/* The path that is left once all symbolic links are followed. 0 or -errno. */
int sysroot_resolve(const struct sysroot *root, const char *path, char ret[SYSROOT_PATH_BYTES]);

/* The names in a directory in byte order, but "." and ".." and those that are too
 * long. How many, at most @room, or -errno. */
int sysroot_list(const struct sysroot *root, const char *path, char (*ret)[SYSROOT_NAME_BYTES], size_t room);

#endif
