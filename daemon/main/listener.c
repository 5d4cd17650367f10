/*
 * Listening sockets; see main/listener.h.
 */
#include "main/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

/* The host and port of "host:port" and "[v6]:port"; @copy is cut up. */
static int split_address(char *copy, const char **ret_host, const char **ret_port) {
        char *colon = strrchr(copy, ':'), *end;

        if (!colon || colon[1] == '\0')
                return -EINVAL;
        *colon = '\0';
        *ret_port = colon + 1;
        if (copy[0] == '[') {
                end = strchr(copy, ']');
                if (!end || end[1] != '\0')
                        return -EINVAL;
                *end = '\0';
                *ret_host = copy + 1;
                return 0;
        }
        if (strchr(copy, ':')) /* IPv6 without brackets: where would the port begin? */
                return -EINVAL;
        *ret_host = copy;
        return 0;
}

static int bind_and_listen(int fd, const struct sockaddr *address, socklen_t length) {
        int one = 1;

        if (address->sa_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) < 0)
                return -errno;
        if (address->sa_family != AF_UNIX && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0)
                return -errno;
        if (bind(fd, address, length) < 0 || listen(fd, BACKLOG) < 0)
                return -errno;
        return 0;
}

static int open_inet(const char *address, int *ret_fd) {
        struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
                                  .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV };
        struct addrinfo *found;
        const char *host, *port;
        char *copy = strdup(address);
        int fd = -1, r;

        if (!copy)
                return -ENOMEM;
        r = split_address(copy, &host, &port);
        if (r == 0 && strcmp(host, "localhost") == 0)
                host = "127.0.0.1";
        if (r == 0 && getaddrinfo(strcmp(host, "*") == 0 ? NULL : host, port, &hints, &found) != 0)
                r = -EINVAL;
        free(copy);
        if (r < 0)
                return r;
        fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        r = fd < 0 ? -errno : bind_and_listen(fd, found->ai_addr, found->ai_addrlen);
        freeaddrinfo(found);
        if (r < 0) {
                if (fd >= 0)
                        close(fd);
                return r;
        }
        *ret_fd = fd;
        return 0;
}

/* A socket that nobody listens on any more is in the way of the next bind; a
 * file of any other kind, or one that answers, is left alone. */
static int clear_dead_socket(const struct sockaddr_un *address) {
        struct stat st;
        int fd, r = 0;

        if (lstat(address->sun_path, &st) < 0)
                return errno == ENOENT ? 0 : -errno;
        if (!S_ISSOCK(st.st_mode))
                return -EADDRINUSE;
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        if (connect(fd, (const struct sockaddr *) address, sizeof *address) == 0 || errno != ECONNREFUSED)
                r = -EADDRINUSE;
        else if (unlink(address->sun_path) < 0)
                r = -errno;
        close(fd);
        return r;
}

static int open_unix(const char *path, int *ret_fd) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd, r;

        if (strlen(path) >= sizeof address.sun_path)
                return -ENAMETOOLONG;
        (void) memcpy(address.sun_path, path, strlen(path) + 1);
        r = clear_dead_socket(&address);
        if (r < 0)
                return r;
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;

        mode_t mask = umask(0117); /* 0660 */

        r = bind_and_listen(fd, (const struct sockaddr *) &address, sizeof address);
        (void) umask(mask);
        if (r < 0) {
                close(fd);
                return r;
        }
        *ret_fd = fd;
        return 0;
}

int listener_open(const char *address, int *ret_fd) {
        return address[0] == '/' ? open_unix(address, ret_fd) : open_inet(address, ret_fd);
}

void listener_close(const char *address, int fd) {
        close(fd);
        if (address[0] == '/')
                (void) unlink(address);
}
