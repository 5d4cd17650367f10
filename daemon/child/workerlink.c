/*
 * The parent's end of a worker; see child/workerlink.h.
 *
 * The page is sealed against shrinking before the worker gets it: otherwise a
 * worker could cut it short and the parent would die of SIGBUS on its next look.
 */
#include "child/workerlink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

struct workerlink {
        struct spawn process;
        int socket; /* non-blocking */
        struct proto_page *page;
};

static int make_page(int *ret_fd, struct proto_page **ret_page) {
        int fd = memfd_create("syncprobe-page", MFD_CLOEXEC | MFD_ALLOW_SEALING), r;

        if (fd < 0)
                return -errno;
        if (ftruncate(fd, sizeof(struct proto_page)) < 0 ||
            fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
                r = -errno;
                goto fail;
        }
        void *page = mmap(NULL, sizeof(struct proto_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

        if (page == MAP_FAILED) {
                r = -errno;
                goto fail;
        }
        *ret_fd = fd;
        *ret_page = page;
        return 0;
fail:
        close(fd);
        return r;
}

int workerlink_new(struct workerlink **ret, const char *program, const char *title) {
        struct workerlink *l = malloc(sizeof *l);
        int sockets[2], page_fd = -1, flags, r;

        if (!l)
                return -ENOMEM;
        *l = (struct workerlink) { .process = { .pidfd = -1, .exec_fd = -1 }, .socket = -1 };

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0) {
                r = -errno;
                free(l);
                return r;
        }
        l->socket = sockets[0];
        flags = fcntl(l->socket, F_GETFL);
        if (flags < 0 || fcntl(l->socket, F_SETFL, flags | O_NONBLOCK) < 0) {
                r = -errno;
                goto finish;
        }
        r = make_page(&page_fd, &l->page);
        if (r < 0)
                goto finish;

        const int descriptors[] = {
                [PROTO_SOCKET_FD - 3] = sockets[1],
                [PROTO_PAGE_FD - 3] = page_fd,
        };
        char *path = strdup(program), *argument = strdup(title);

        r = -ENOMEM;
        if (path && argument)
                r = spawn_child(&l->process, (char *[]) { path, argument, NULL }, descriptors, 2);
        free(path);
        free(argument);
        close(page_fd);
finish:
        close(sockets[1]);
        if (r < 0) {
                workerlink_free(l);
                return r;
        }
        *ret = l;
        return 0;
}

void workerlink_end(struct workerlink *l) {
        workerlink_cancel(l); /* so that a run in progress ends before it looks at the socket */
        (void) shutdown(l->socket, SHUT_RDWR);
}

struct workerlink *workerlink_free(struct workerlink *l) {
        if (!l)
                return NULL;
        if (l->page) {
                workerlink_cancel(l);
                (void) munmap(l->page, sizeof *l->page);
        }
        if (l->socket >= 0)
                close(l->socket);
        spawn_done(&l->process);
        free(l);
        return NULL;
}

struct spawn *workerlink_process(struct workerlink *l) {
        return &l->process;
}

int workerlink_socket(const struct workerlink *l) {
        return l->socket;
}

int workerlink_send(struct workerlink *l, const union proto_message *m) {
        ssize_t n = send(l->socket, m, m->header.length, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0)
                return -errno;
        return (size_t) n == m->header.length ? 0 : -EMSGSIZE;
}

int workerlink_receive(struct workerlink *l, union proto_message *ret) {
        ssize_t n;

        do
                n = recv(l->socket, ret, sizeof *ret, MSG_DONTWAIT | MSG_TRUNC);
        while (n < 0 && errno == EINTR);

        if (n < 0)
                return errno == EAGAIN ? 0 : -errno;
        if (n == 0)
                return -ECONNRESET;

        int type = proto_check(ret, (size_t) n);

        if (type < 0)
                return type;
        return type == PROTO_READY || type == PROTO_REPORT || type == PROTO_STACK ? 1 : -EBADMSG;
}

void workerlink_cancel(struct workerlink *l) {
        atomic_store_explicit(&l->page->cancel, 1, memory_order_relaxed);
}

void workerlink_progress(const struct workerlink *l, uint64_t now_ns, struct workerlink_progress *ret) {
        uint64_t call = atomic_load_explicit(&l->page->call, memory_order_relaxed);
        uint64_t since = proto_call_since_ns(call);

        *ret = (struct workerlink_progress) {
                .phase = proto_call_phase(call),
                .since_ns = since < now_ns ? since : now_ns,
                .samples = atomic_load_explicit(&l->page->samples, memory_order_relaxed),
                .written_bytes = atomic_load_explicit(&l->page->written_bytes, memory_order_relaxed),
                .total = atomic_load_explicit(&l->page->progress_total, memory_order_relaxed),
        };
}

int workerlink_histograms(const struct workerlink *l, bool finished, struct histogram *ret_sync,
                          struct histogram *ret_write) {
        memcpy(ret_sync, &l->page->sync, sizeof *ret_sync);
        memcpy(ret_write, &l->page->write, sizeof *ret_write);
        if (finished && !(histogram_is_consistent(ret_sync) && histogram_is_consistent(ret_write)))
                return -EBADMSG;
        return 0;
}
