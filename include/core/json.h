/*
 * json - pieces of our JSON documents, made with jansson.
 *
 * Ownership follows jansson's *_new functions: values are new references, an
 * object takes its members over also when it fails, and a NULL value (memory ran
 * out while it was made) makes whatever should hold it fail in turn, so that each object
 * has one check at its end. Pure.
 */
#ifndef SYNCPROBE_CORE_JSON_H
#define SYNCPROBE_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/strbuf.h"

struct json_t; /* jansson's */

/* A string of possibly invalid UTF-8, each offending byte replaced by U+FFFD. NULL text gives null. */
struct json_t *json_text(const char *text);
/* The text of @b, which is emptied. */
struct json_t *json_from_strbuf(struct strbuf *b);

/* Nanoseconds as seconds (HISTOGRAM_NONE: null), and a number that may be NAN (null). */
struct json_t *json_seconds(uint64_t ns);
struct json_t *json_number(double value);
struct json_t *json_count(uint64_t value);
struct json_t *json_bytes(uint64_t value); /* PROTO_UNKNOWN: null */
struct json_t *json_timestamp(uint64_t realtime_ns);

/* 0 stands for "no limit", and is null. */
struct json_t *json_limit(uint64_t value);
struct json_t *json_limit_seconds(uint64_t ns);

struct json_member {
        const char *name;
        struct json_t *value;
};

/* Adds @n members, whose values it takes over. Less than 0, and all of them dropped, when
 * memory ran out for any. @object may be NULL. */
int json_add_members(struct json_t *object, const struct json_member *members, size_t n);
struct json_t *json_object_of(const struct json_member *members, size_t n);

/* The whole document, indented, and a newline; takes it over. NULL is an error of @b. */
void json_add_document(struct strbuf *b, struct json_t *document);

/* How every document of ours is dumped: flags for json_dumps(). Twelve digits
 * hold a nanosecond of a quarter of an hour, and keep 485.1 from becoming
 * 485.10000000000002. JSON_REAL_PRECISION is jansson's. */
#define JSON_FLAGS_COMPACT (JSON_COMPACT | JSON_REAL_PRECISION(12))
#define JSON_FLAGS_INDENTED (JSON_INDENT(2) | JSON_REAL_PRECISION(12))

/* @json, or NULL where @failed, and then it is dropped. */
struct json_t *json_drop_if(bool failed, struct json_t *json);

#endif
