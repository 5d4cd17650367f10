/*
 * endpoint - the HTTP server in the event loop: listeners, connections, its timer.
 */
#ifndef SYNCPROBE_MAIN_ENDPOINT_H
#define SYNCPROBE_MAIN_ENDPOINT_H

#include "http/httpd.h"
#include "main/config.h"

struct sd_event;
struct endpoint;

/* Listens on every address of @config; an error is logged with its address.
 * 0 or -errno. */
int endpoint_new(struct endpoint **ret, struct sd_event *event, const struct config *config,
                 httpd_snapshot_fn snapshot, void *userdata);
/* Ends every connection and gives the addresses back. NULL-safe. */
struct endpoint *endpoint_free(struct endpoint *e);

#endif
