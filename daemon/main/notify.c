/*
 * Telling systemd; see main/notify.h.
 */
#include "main/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int notify_init(struct notify *n) {
        const char *path = getenv("NOTIFY_SOCKET");
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int r = 0;

        *n = (struct notify) { .socket = -1 };
        if (!path || (path[0] != '/' && path[0] != '@'))
                return 0;

        size_t length = strlen(path);

        if (length >= sizeof address.sun_path) {
                r = -ENAMETOOLONG;
                goto finish;
        }
        (void) memcpy(address.sun_path, path, length);
        if (path[0] == '@')
                address.sun_path[0] = '\0';
        n->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (n->socket < 0) {
                r = -errno;
                goto finish;
        }
        if (connect(n->socket, (struct sockaddr *) &address,
                    (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length)) < 0) {
                r = -errno;
                notify_done(n);
        }
finish:
        (void) unsetenv("NOTIFY_SOCKET");
        return r;
}

void notify_done(struct notify *n) {
        if (n->socket >= 0)
                close(n->socket);
        n->socket = -1;
}

static bool send_text(struct notify *n, const char *text) {
        return n->socket < 0 || send(n->socket, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ||
               errno != EAGAIN;
}

bool notify_flush(struct notify *n) {
        char text[sizeof n->status + 32];

        if (n->ready_pending) {
                (void) snprintf(text, sizeof text, "READY=1\nSTATUS=%s", n->status);
                n->ready_pending = !send_text(n, text);
        }
        if (n->stopping_pending && !n->ready_pending)
                n->stopping_pending = !send_text(n, "STOPPING=1");
        return !n->ready_pending && !n->stopping_pending;
}

void notify_ready(struct notify *n, const char *status) {
        (void) snprintf(n->status, sizeof n->status, "%s", status);
        n->ready_pending = true;
        (void) notify_flush(n);
}

void notify_stopping(struct notify *n) {
        n->stopping_pending = true;
        (void) notify_flush(n);
}
