/*
 * routes - which document a request asks for. Knows no HTTP library.
 */
#ifndef SYNCPROBE_HTTP_ROUTES_H
#define SYNCPROBE_HTTP_ROUTES_H

#include "core/snapshot.h"
#include "core/strbuf.h"

/* What of a request counts here; NULL where it was not given. */
struct routes_request {
        const char *method;
        const char *path;   /* decoded, without the query */
        const char *accept; /* the header */
        const char *since, *until, *limit;
};

struct routes_reply {
        unsigned status;
        const char *content_type;
        const char *allow; /* with 405, else NULL */
        struct strbuf body;
};

/* Fills in *ret, whose body the caller ends with strbuf_done(). A sticky error
 * in the body means that memory ran out. Does not block. */
void routes_answer(struct routes_reply *ret, const struct routes_request *request, const struct snapshot *s);

/* An error as JSON, for the caller's own refusals. */
void routes_refuse(struct routes_reply *ret, unsigned status, const char *text);

#endif
