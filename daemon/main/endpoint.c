/*
 * HTTP in the loop; see main/endpoint.h.
 *
 * libmicrohttpd is edge-triggered behind its epoll descriptor and has work left
 * that no descriptor announces: after every call its own timeout is asked for
 * anew and set on one timer. Without that timer a large request hangs.
 */
#include "main/endpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "main/listener.h"
#include "main/log.h"

struct listening {
        struct endpoint *endpoint;
        const char *address; /* the configuration's */
        int fd;
        sd_event_source *source;
};

struct endpoint {
        sd_event *event;
        struct httpd *httpd;
        sd_event_source *on_ready, *on_timer;
        struct listening *listening;
        size_t n_listening;
        int reserve; /* a descriptor to give up when there is none left */
};

static void serve(struct endpoint *e) {
        uint64_t wait_ns;

        httpd_run(e->httpd, &wait_ns);
        if (wait_ns == UINT64_MAX) {
                (void) sd_event_source_set_enabled(e->on_timer, SD_EVENT_OFF);
                return;
        }
        (void) sd_event_source_set_time_relative(e->on_timer, wait_ns / 1000);
        (void) sd_event_source_set_enabled(e->on_timer, SD_EVENT_ONESHOT);
}

static int on_ready(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        (void) source;
        (void) fd;
        (void) events;
        serve(userdata);
        return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        (void) source;
        (void) usec;
        serve(userdata);
        return 0;
}

/* With no descriptor left, a connection that waits would wake the loop for ever:
 * it is taken with the one kept in reserve, and closed. */
static void turn_away(struct endpoint *e, int fd) {
        int connection;

        if (e->reserve >= 0)
                (void) close(e->reserve);
        connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (connection >= 0)
                (void) close(connection);
        e->reserve = eventfd(0, EFD_CLOEXEC);
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        struct listening *l = userdata;
        int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        (void) source;
        (void) events;
        if (connection < 0) {
                if (errno == EMFILE || errno == ENFILE)
                        turn_away(l->endpoint, fd);
                return 0; /* or it went away */
        }
        if (httpd_add(l->endpoint->httpd, connection) == 0)
                serve(l->endpoint);
        return 0;
}

static int start_listening(struct endpoint *e, struct listening *l, const char *address) {
        int r;

        *l = (struct listening) { .endpoint = e, .address = address, .fd = -1 };
        r = listener_open(address, &l->fd);
        if (r < 0) {
                log_error("cannot listen on %s: %s", address,
                          r == -EINVAL ? "no such address; write host:port, [v6]:port or an absolute path"
                                       : strerror(-r));
                return r;
        }
        r = sd_event_add_io(e->event, &l->source, l->fd, EPOLLIN, on_connection, l);
        if (r < 0) {
                log_error("cannot watch the listener on %s: %s", address, strerror(-r));
                listener_close(address, l->fd);
                return r;
        }
        (void) sd_event_source_set_description(l->source, "listener");
        if (address[0] == '/')
                log_info("listening on unix:%s", address);
        else
                log_info("listening on http://%s/", address);
        return 0;
}

int endpoint_new(struct endpoint **ret, struct sd_event *event, const struct config *config,
                 httpd_snapshot_fn snapshot, void *userdata) {
        struct endpoint *e = calloc(1, sizeof *e);
        int r;

        if (!e)
                return -ENOMEM;
        e->event = sd_event_ref(event);
        e->reserve = eventfd(0, EFD_CLOEXEC);
        e->listening = calloc(config->n_listen, sizeof *e->listening);
        r = e->listening ? httpd_new(&e->httpd, snapshot, userdata) : -ENOMEM;
        if (r == 0)
                r = sd_event_add_io(event, &e->on_ready, httpd_fd(e->httpd), EPOLLIN, on_ready, e);
        if (r >= 0)
                r = sd_event_add_time(event, &e->on_timer, CLOCK_MONOTONIC, 0, 1000, on_timer, e);
        if (r >= 0) {
                (void) sd_event_source_set_description(e->on_ready, "http");
                (void) sd_event_source_set_description(e->on_timer, "http-timeout");
                r = sd_event_source_set_enabled(e->on_timer, SD_EVENT_OFF);
        }
        if (r < 0)
                log_error("cannot serve HTTP: %s", strerror(-r));
        for (size_t i = 0; i < config->n_listen && r >= 0; i++) {
                r = start_listening(e, &e->listening[i], config->listen[i]);
                if (r >= 0)
                        e->n_listening++;
        }
        if (r < 0) {
                endpoint_free(e);
                return r;
        }
        serve(e);
        *ret = e;
        return 0;
}

struct endpoint *endpoint_free(struct endpoint *e) {
        if (!e)
                return NULL;
        for (size_t i = 0; i < e->n_listening; i++) {
                sd_event_source_disable_unref(e->listening[i].source);
                listener_close(e->listening[i].address, e->listening[i].fd);
        }
        free(e->listening);
        sd_event_source_disable_unref(e->on_ready);
        sd_event_source_disable_unref(e->on_timer);
        httpd_free(e->httpd);
        if (e->reserve >= 0)
                (void) close(e->reserve);
        sd_event_unref(e->event);
        free(e);
        return NULL;
}
