/*
 * Reading below a root; see worker/sysroot.h.
 */
#include "worker/sysroot.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_READ_BYTES 4096

int sysroot_open(struct sysroot *ret, const char *path) {
        int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        ret->fd = fd;
        return 0;
}

void sysroot_close(struct sysroot *root) {
        if (root->fd >= 0)
                (void) close(root->fd);
        root->fd = -1;
}

static int open_below(const struct sysroot *root, const char *path, int flags) {
        int fd;

        path += strspn(path, "/");
        do
                fd = openat(root->fd, path[0] != '\0' ? path : ".", flags | O_CLOEXEC);
        while (fd < 0 && errno == EINTR);
        return fd < 0 ? -errno : fd;
}

/* Up to @room bytes: a file of /proc may give them in several pieces. */
static ssize_t read_up_to(int fd, char *to, size_t room) {
        size_t length = 0;

        while (length < room) {
                ssize_t n = read(fd, to + length, room - length);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                length += (size_t) n;
        }
        return (ssize_t) length;
}

int sysroot_read(const struct sysroot *root, const char *path, char *ret, size_t room) {
        int fd = open_below(root, path, O_RDONLY);
        ssize_t n;

        if (fd < 0)
                return fd;
        n = read_up_to(fd, ret, room - 1);
        (void) close(fd);
        if (n < 0)
                return (int) n;
        while (n > 0 && isspace((unsigned char) ret[n - 1]))
                n--;
        ret[n] = '\0';
        return (int) n;
}

int sysroot_read_all(const struct sysroot *root, const char *path, size_t limit, char **ret) {
        int fd = open_below(root, path, O_RDONLY), r = 0;
        size_t allocated = FIRST_READ_BYTES, length = 0;
        char *text;

        if (fd < 0)
                return fd;
        text = malloc(allocated);
        if (!text)
                r = -ENOMEM;
        while (r == 0) {
                ssize_t n = read_up_to(fd, text + length, allocated - length - 1);

                if (n < 0) {
                        r = (int) n;
                        break;
                }
                length += (size_t) n;
                if (length < allocated - 1)
                        break;

                char *more = allocated < limit ? realloc(text, 2 * allocated) : NULL;

                if (!more)
                        r = allocated < limit ? -ENOMEM : -EFBIG;
                else
                        text = more;
                allocated *= 2;
        }
        (void) close(fd);
        if (r < 0) {
                free(text);
                return r;
        }
        text[length] = '\0';
        *ret = text;
        return 0;
}

int sysroot_read_number(const struct sysroot *root, const char *path, uint64_t *ret) {
        char text[32], *end;
        int n = sysroot_read(root, path, text, sizeof text);
        unsigned long long number;

        if (n < 0)
                return n;
        if (!isdigit((unsigned char) text[0]))
                return -EINVAL;
        errno = 0;
        number = strtoull(text, &end, 10);
        if (errno != 0)
                return -errno;
        *ret = number;
        return 0;
}

bool sysroot_has(const struct sysroot *root, const char *path) {
        int fd = open_below(root, path, O_PATH);

        if (fd >= 0)
                (void) close(fd);
        return fd >= 0;
}

static int path_of(int fd, char *ret, size_t room) {
        char link[64];
        ssize_t n;

        (void) snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        n = readlink(link, ret, room);
        if (n < 0)
                return -errno;
        if ((size_t) n == room)
                return -ENAMETOOLONG;
        ret[n] = '\0';
        return 0;
}

int sysroot_resolve(const struct sysroot *root, const char *path, char ret[SYSROOT_PATH_BYTES]) {
        char base[SYSROOT_PATH_BYTES], full[2 * SYSROOT_PATH_BYTES];
        int fd = open_below(root, path, O_PATH), r;
        size_t skip;

        if (fd < 0)
                return fd;
        r = path_of(fd, full, sizeof full);
        (void) close(fd);
        if (r == 0)
                r = path_of(root->fd, base, sizeof base);
        if (r < 0)
                return r;
        skip = strcmp(base, "/") == 0 ? 0 : strlen(base);
        if (strlen(full) < skip || strlen(full) - skip >= SYSROOT_PATH_BYTES)
                return -ENAMETOOLONG;
        (void) memcpy(ret, full + skip, strlen(full) - skip + 1);
        return 0;
}

static int compare_names(const void *a, const void *b) {
        return strcmp(a, b);
}

int sysroot_list(const struct sysroot *root, const char *path, char (*ret)[SYSROOT_NAME_BYTES], size_t room) {
        int fd = open_below(root, path, O_RDONLY | O_DIRECTORY), n = 0;
        struct dirent *entry;
        DIR *d;

        if (fd < 0)
                return fd;
        d = fdopendir(fd);
        if (!d) {
                n = -errno;
                (void) close(fd);
                return n;
        }
        while ((size_t) n < room && (entry = readdir(d))) {
                size_t length = strlen(entry->d_name);

                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || length >= SYSROOT_NAME_BYTES)
                        continue;
                (void) memcpy(ret[n++], entry->d_name, length + 1);
        }
        (void) closedir(d);
        qsort(ret, (size_t) n, sizeof ret[0], compare_names);
        return n;
}
