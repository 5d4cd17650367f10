/*
 * The state directory; see main/statedir.h.
 */
#include "main/statedir.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int statedir_open(const char *path, int *ret_fd) {
        int fd, r = 0;

        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return -errno;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                r = errno == EWOULDBLOCK ? -EBUSY : -errno;
        if (r < 0) {
                (void) close(fd);
                return r;
        }
        *ret_fd = fd;
        return 0;
}
