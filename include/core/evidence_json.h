/*
 * evidence_json - stacks, evidence and reasons as JSON. Pure.
 */
#ifndef SYNCPROBE_CORE_EVIDENCE_JSON_H
#define SYNCPROBE_CORE_EVIDENCE_JSON_H

#include "core/result.h"
#include "core/stack.h"

struct json_t; /* jansson's */

/* New references, or NULL when memory ran out. */

/* The whole tree: {"fstype", "source", "mount_point", "options", "medium", "complete", "remark",
 * "nodes": [ { "name", "layer", "parent", … } ]}, parents by index. NULL stack: null. */
struct json_t *stack_to_json(const struct stack *s);

/* What one run's bytes did: fstype, source, devices (the leaves), and the readings. */
struct json_t *evidence_to_json(const struct result *r);

/* [ { "code", "text", "accepted" } ] */
struct json_t *reasons_to_json(const struct result *r);

/* {"paths": [ { "path", "stack", "default_tests" } ]} and a newline, indented. */
struct stack_json_item {
        const char *path;
        struct stack *stack; /* may be NULL */
};
void stack_json_add_document(struct strbuf *b, const struct stack_json_item *items, size_t n);

#endif
