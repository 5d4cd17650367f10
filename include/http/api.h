/*
 * api - the JSON documents, from a snapshot. Pure.
 *
 * Each adds one document to @b, whose sticky error tells of want of memory.
 */
#ifndef SYNCPROBE_HTTP_API_H
#define SYNCPROBE_HTTP_API_H

#include <stdint.h>

#include "core/snapshot.h"
#include "core/strbuf.h"

#define API_LIMIT_DEFAULT 100
#define API_LIMIT_MAX 1000

void api_add_status(struct strbuf *b, const struct snapshot *s);
void api_add_targets(struct strbuf *b, const struct snapshot *s);
void api_add_target(struct strbuf *b, const struct snapshot_target *t);

/* Which of a test's results: begun at or after @since_ns and before @until_ns
 * (since the epoch), newest first, @limit of them. */
struct api_page {
        uint64_t since_ns, until_ns;
        uint64_t limit;
};
void api_add_results(struct strbuf *b, const struct snapshot_target *t, const struct snapshot_test *test,
                     const struct api_page *page);

/* {"error": "…"} */
void api_add_error(struct strbuf *b, const char *text);

/* RFC 3339, or decimal seconds since the epoch. 0 or -EINVAL. */
int api_parse_time(const char *text, uint64_t *ret_ns);

/* NULL: there is none. */
const struct snapshot_target *api_find_target(const struct snapshot *s, const char *name);
const struct snapshot_test *api_find_test(const struct snapshot_target *t, const char *name);

#endif
