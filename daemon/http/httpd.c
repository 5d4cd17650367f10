/*
 * libmicrohttpd in somebody else's loop; see http/httpd.h.
 *
 * Connections are accepted by the loop and handed in: at its own limit
 * libmicrohttpd can stop listening for good. The limit here is ours.
 */
#include "http/httpd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/units.h"
#include "http/guard.h"
#include "http/routes.h"

#define CONNECTIONS_MAX 256
#define IDLE_SECONDS 15u
/* A request's head, and nothing of a reply, has to fit. */
#define CONNECTION_MEMORY_BYTES ((size_t) 16 << 10)

struct httpd {
        struct MHD_Daemon *mhd;
        int fd;
        unsigned connections;
        httpd_snapshot_fn snapshot;
        void *userdata;
};

/* --- answering --- */

static const struct {
        const char *name, *value;
} security_headers[] = {
        { "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; "
                                     "base-uri 'none'; form-action 'none'" },
        { "X-Content-Type-Options", "nosniff" },
        { "Referrer-Policy", "no-referrer" },
        { "Cache-Control", "no-store" },
};

static enum MHD_Result add_headers(struct MHD_Response *response, const struct routes_reply *reply) {
        enum MHD_Result r = MHD_add_response_header(response, "Content-Type", reply->content_type);

        for (size_t i = 0; i < sizeof security_headers / sizeof security_headers[0] && r == MHD_YES; i++)
                r = MHD_add_response_header(response, security_headers[i].name, security_headers[i].value);
        if (r == MHD_YES && reply->allow)
                r = MHD_add_response_header(response, "Allow", reply->allow);
        return r;
}

/* Ends @reply's body. MHD_NO closes the connection. */
static enum MHD_Result send_reply(struct MHD_Connection *connection, struct routes_reply *reply, bool and_close) {
        struct MHD_Response *response;
        enum MHD_Result r = MHD_NO;
        size_t length = reply->body.length;
        char *body;

        if (strbuf_steal(&reply->body, &body) < 0)
                return MHD_NO;
        response = MHD_create_response_from_buffer(length, body, MHD_RESPMEM_MUST_FREE);
        if (!response) {
                free(body);
                return MHD_NO;
        }
        if (add_headers(response, reply) == MHD_YES &&
            (!and_close || MHD_add_response_header(response, "Connection", "close") == MHD_YES))
                r = MHD_queue_response(connection, reply->status, response);
        MHD_destroy_response(response);
        return r;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text) {
        struct routes_reply reply = { .allow = NULL };

        strbuf_init(&reply.body);
        routes_refuse(&reply, status, text);
        return send_reply(connection, &reply, true);
}

struct headers {
        struct guard_header items[GUARD_HEADERS_MAX];
        size_t count;
        bool too_many;
};

static enum MHD_Result collect_header(void *userdata, enum MHD_ValueKind kind, const char *name, const char *value) {
        struct headers *h = userdata;

        (void) kind;
        if (h->count == GUARD_HEADERS_MAX) {
                h->too_many = true;
                return MHD_NO;
        }
        h->items[h->count++] = (struct guard_header) { .name = name, .value = value };
        return MHD_YES;
}

static const char *complaint(struct MHD_Connection *connection, const char *method, const char *url) {
        struct headers h = { .count = 0 };

        (void) MHD_get_connection_values(connection, MHD_HEADER_KIND, collect_header, &h);
        return h.too_many ? "too many headers" : guard_complaint(method, url, h.items, h.count);
}

static enum MHD_Result answer(struct httpd *h, struct MHD_Connection *connection, const char *method,
                              const char *url, bool and_close) {
        const struct routes_request request = {
                .method = method,
                .path = url,
                .accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept"),
                .since = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "since"),
                .until = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "until"),
                .limit = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "limit"),
        };
        const struct snapshot *snapshot;
        struct routes_reply reply;

        if (h->snapshot(h->userdata, &snapshot) < 0)
                return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "not ready yet");
        routes_answer(&reply, &request, snapshot);
        return send_reply(connection, &reply, and_close);
}

/* Called first with the head alone, where only a refusal may be answered. */
static enum MHD_Result on_request(void *userdata, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload, size_t *upload_bytes,
                                  void **request) {
        static int seen;
        struct httpd *h = userdata;
        const char *wrong;

        (void) version;
        (void) upload;
        if (*request == NULL) {
                *request = &seen;
                wrong = complaint(connection, method, url);
                if (wrong)
                        return refuse(connection, MHD_HTTP_BAD_REQUEST, wrong);
                /* No method with a body is served: the body is not waited for. */
                if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
                        return answer(h, connection, method, url, true);
                return MHD_YES;
        }
        *upload_bytes = 0;
        return answer(h, connection, method, url, false);
}

/* --- life --- */

static void on_connection(void *userdata, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode what) {
        struct httpd *h = userdata;

        (void) connection;
        (void) socket_context;
        if (what == MHD_CONNECTION_NOTIFY_STARTED)
                h->connections++;
        else if (what == MHD_CONNECTION_NOTIFY_CLOSED)
                h->connections--;
}

/* libmicrohttpd's own words go nowhere: they tell of every client that hung up. */
static void ignore_log(void *userdata, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
static void ignore_log(void *userdata, const char *format, va_list arguments) {
        (void) userdata;
        (void) format;
        (void) arguments;
}

int httpd_new(struct httpd **ret, httpd_snapshot_fn snapshot, void *userdata) {
        struct httpd *h = calloc(1, sizeof *h);
        const union MHD_DaemonInfo *info;

        if (!h)
                return -ENOMEM;
        h->snapshot = snapshot;
        h->userdata = userdata;
        h->mhd = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG, 0, NULL, NULL,
                                  on_request, h,
                                  MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL, /* first, as the manual asks */
                                  MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX + 16u,
                                  MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
                                  MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY_BYTES,
                                  MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_END);
        info = h->mhd ? MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
        if (!info) {
                httpd_free(h);
                return -ENOMEM;
        }
        h->fd = info->epoll_fd;
        *ret = h;
        return 0;
}

struct httpd *httpd_free(struct httpd *h) {
        if (!h)
                return NULL;
        if (h->mhd)
                MHD_stop_daemon(h->mhd);
        free(h);
        return NULL;
}

int httpd_fd(const struct httpd *h) {
        return h->fd;
}

int httpd_add(struct httpd *h, int connection) {
        struct sockaddr_storage peer = { .ss_family = AF_UNSPEC };
        socklen_t length = sizeof peer;
        /* Of a Unix socket's client libmicrohttpd must be told something it knows. */
        const struct sockaddr_in loopback = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

        if (h->connections >= CONNECTIONS_MAX) {
                (void) close(connection);
                return -EMFILE;
        }
        if (getpeername(connection, (struct sockaddr *) &peer, &length) < 0) {
                int r = -errno;

                (void) close(connection);
                return r;
        }
        if (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) {
                (void) memcpy(&peer, &loopback, sizeof loopback);
                length = sizeof loopback;
        }
        /* It closes the connection itself when it fails. */
        return MHD_add_connection(h->mhd, connection, (struct sockaddr *) &peer, length) == MHD_YES ? 0 : -ENOMEM;
}

void httpd_run(struct httpd *h, uint64_t *ret_wait_ns) {
        MHD_UNSIGNED_LONG_LONG wait_ms;

        (void) MHD_run(h->mhd);
        *ret_wait_ns = MHD_get_timeout(h->mhd, &wait_ms) == MHD_YES ? (uint64_t) wait_ms * UNITS_NS_PER_MS : UINT64_MAX;
}
