/*
 * httpd - the HTTP endpoint, as a guest in somebody else's event loop.
 *
 * Owns the libmicrohttpd daemon and its connections. The loop watches
 * httpd_fd() for reading and one timer; after either, after httpd_add() and after start it
 * calls httpd_run(), which says when to call again at the latest. Accepting
 * is the loop's affair too. Nothing here blocks, and no request starts anything:
 * a scrape triggers no test and waits for no disk.
 */
#ifndef SYNCPROBE_HTTP_HTTPD_H
#define SYNCPROBE_HTTP_HTTPD_H

#include <stdint.h>

#include "core/snapshot.h"

struct httpd;

/* Fills in *ret, whose contents stay valid until it is called again or the loop
 * goes on. Returns 0 or -errno (the request is answered with 503). */
typedef int (*httpd_snapshot_fn)(void *userdata, const struct snapshot **ret);

/* Returns 0 or -errno. */
int httpd_new(struct httpd **ret, httpd_snapshot_fn snapshot, void *userdata);
/* Ends all connections. NULL-safe. */
struct httpd *httpd_free(struct httpd *h);

int httpd_fd(const struct httpd *h);

/* Takes over an accepted, non-blocking, close-on-exec connection of any address
 * family; closes it on error, and when there are too many already. 0 or -errno. */
int httpd_add(struct httpd *h, int connection);

/* Serves what is ready. *ret_wait_ns: call again after this time at the latest;
 * UINT64_MAX: only when httpd_fd() is readable. */
void httpd_run(struct httpd *h, uint64_t *ret_wait_ns);

#endif
