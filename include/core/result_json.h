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

/* A JSON string of possibly invalid UTF-8, as above. NULL text gives null. */
struct json_t *json_text(const char *text);

/* Nanoseconds as seconds (HISTOGRAM_NONE: null), and a number that may be NAN (null). */
struct json_t *json_seconds(uint64_t ns);
struct json_t *json_number(double value);

/* {"results": [ … ]} and a newline, indented, of @n results. */
struct result_json_item {
        const struct result *result;
        const char *target, *test;
};
void result_json_add_document(struct strbuf *b, const struct result_json_item *items, size_t n);

/* How every document of ours is dumped: flags for json_dumps(). Twelve digits
 * hold a nanosecond of a quarter of an hour, and keep 485.1 from becoming
 * 485.10000000000002. JSON_REAL_PRECISION is jansson's. */
#define RESULT_JSON_FLAGS_COMPACT (JSON_COMPACT | JSON_REAL_PRECISION(12))
#define RESULT_JSON_FLAGS_INDENTED (JSON_INDENT(2) | JSON_REAL_PRECISION(12))

#endif
