/*
 * result_json - a result as the JSON object that the API and `run --json` share.
 *
 * UTF-8, RFC 3339 times, plain numbers in seconds and bytes; what a kind does
 * not measure, or a failed run did not, is null; never NaN or an infinity.
 * Memory to memory; does not block.
 */
#ifndef SYNCPROBE_CORE_RESULT_JSON_H
#define SYNCPROBE_CORE_RESULT_JSON_H

#include "core/result.h"
#include "core/strbuf.h"

struct json_t; /* jansson's */

/* A new reference, or NULL when memory ran out. @target or @test that are not
 * UTF-8 have each offending byte replaced by U+FFFD. */
struct json_t *result_to_json(const struct result *r, const char *target, const char *test);

/* What a test does, by its keys: {"block_bytes": 4096, …}. A new reference or NULL. */
struct json_t *parameters_to_json(const struct spec *s);

/* {"results": [ … ]} and a newline, indented, of @n results. */
struct result_json_item {
        const struct result *result;
        const char *target, *test;
};
void result_json_add_document(struct strbuf *b, const struct result_json_item *items, size_t n);

#endif
