/*
 * guard - refuses requests that two readers could take for different ones.
 *
 * libmicrohttpd 0.9.75 lets pass what request smuggling is made of: a body
 * length told twice or in two ways, a space before a header's colon, folded
 * lines. Behind a proxy such a request becomes two. All of them get 400 and the
 * connection is closed. Pure.
 */
#ifndef SYNCPROBE_HTTP_GUARD_H
#define SYNCPROBE_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define GUARD_HEADERS_MAX 64

struct guard_header {
        const char *name, *value; /* as they stood in the request; @value may be NULL */
};

/* NULL: a request to be answered; else what is wrong with it, in a few words. */
const char *guard_complaint(const char *method, const char *url, const struct guard_header *headers, size_t n);

#endif
