/*
 * Stacks, evidence and reasons as JSON; see core/evidence_json.h.
 */
#include "core/evidence_json.h"

#include <errno.h>
#include <jansson.h>

#include "core/defaults.h"
#include "core/grounds.h"
#include "core/json.h"
#include "core/result_json.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static json_t *text_or_null(const char *text) {
        return text && text[0] != '\0' ? json_text(text) : json_null();
}

static json_t *rotational(const struct stack_node *n) {
        return n->rotational < 0 ? json_null() : json_boolean(n->rotational);
}

static json_t *facts_to_json(uint32_t facts) {
        static const char *const names[] = {
                "nobarrier", "fsync-nobarrier", "volatile", "sync-disabled", "no-cache-flush", "write-cache-overridden",
                "compression", "late-blocks", "fua", "attached", "logbias-throughput",
                "shared",
        };
        json_t *array = json_array();
        int r = array ? 0 : -1;

        for (size_t i = 0; i < COUNT_OF(names) && r == 0; i++)
                if ((facts >> i & 1) != 0)
                        r = json_array_append_new(array, json_string(names[i]));
        return json_drop_if(r < 0, array);
}

static json_t *node_to_json(const struct stack *s, size_t i) {
        const struct stack_node *n = &s->nodes[i];
        const struct json_member members[] = {
                { "name", json_text(n->name) },
                { "layer", json_string(layer_name((enum layer) n->layer)) },
                { "parent", n->parent < 0 ? json_null() : json_integer(n->parent) },
                { "role", json_string(role_name((enum role) n->role)) },
                { "detail", text_or_null(n->detail) },
                { "transport", text_or_null(n->transport) },
                { "rotational", rotational(n) },
                { "write_cache", text_or_null(write_cache_name((enum write_cache) n->write_cache)) },
                { "facts", facts_to_json(n->facts) },
        };

        return json_object_of(members, COUNT_OF(members));
}

json_t *stack_to_json(const struct stack *s) {
        json_t *nodes;
        int r;

        if (!s)
                return json_null();
        nodes = json_array();
        r = nodes ? 0 : -1;
        for (size_t i = 0; i < s->n_nodes && r == 0; i++)
                r = json_array_append_new(nodes, node_to_json(s, i));

        const struct json_member members[] = {
                { "fstype", text_or_null(s->fstype) },
                { "source", text_or_null(s->source) },
                { "mount_point", text_or_null(s->mount_point) },
                { "options", text_or_null(s->options) },
                { "medium", json_string(medium_name(stack_medium(s))) },
                { "complete", json_boolean(!s->incomplete) },
                { "remark", text_or_null(s->remark) },
                { "nodes", json_drop_if(r < 0, nodes) },
        };

        return json_object_of(members, COUNT_OF(members));
}

static json_t *leaf_to_json(const struct evidence *e, size_t i) {
        const struct stack_node *n = &e->stack->nodes[e->leaves[i]];
        const struct json_member members[] = {
                { "name", json_text(n->name) },
                { "layer", json_string(layer_name((enum layer) n->layer)) },
                { "role", json_string(role_name((enum role) n->role)) },
                { "rotational", rotational(n) },
                { "write_cache", text_or_null(write_cache_name((enum write_cache) n->write_cache)) },
                { "written_bytes", json_bytes(e->seen.leaves[i].written_bytes) },
                { "flushes", json_bytes(e->seen.leaves[i].flushes) },
        };

        return json_object_of(members, COUNT_OF(members));
}

static json_t *leaves_to_json(const struct evidence *e) {
        json_t *array = json_array();
        int r = array ? 0 : -1;

        for (size_t i = 0; e && e->stack && i < e->n_leaves && r == 0; i++)
                r = json_array_append_new(array, leaf_to_json(e, i));
        return json_drop_if(r < 0, array);
}

static json_t *readings_seconds(uint64_t ns) {
        return ns == PROTO_UNKNOWN ? json_null() : json_real((double) ns / 1e9);
}

json_t *evidence_to_json(const struct result *r) {
        const struct evidence *e = r->evidence;
        const struct stack *s = e ? e->stack : NULL;
        struct proto_evidence nothing;

        if (!e)
                proto_evidence_init(&nothing);

        const struct proto_evidence *seen = e ? &e->seen : &nothing;
        const struct json_member members[] = {
                { "fstype", text_or_null(s && s->fstype[0] != '\0' ? s->fstype : r->fstype) },
                { "source", text_or_null(s ? s->source : NULL) },
                { "devices", leaves_to_json(e) },
                { "device_written_bytes", e ? json_bytes(evidence_device_bytes(e)) : json_null() },
                { "other_written_bytes", e ? json_bytes(evidence_other_bytes(e)) : json_null() },
                { "distinct_bytes", json_bytes(seen->distinct_bytes) },
                { "allocated_bytes", json_bytes(seen->allocated_bytes) },
                { "extent_bytes", json_bytes(seen->extent_bytes) },
                { "encoded_bytes", json_bytes(seen->encoded_bytes) },
                { "delayed_bytes", json_bytes(seen->delayed_bytes) },
                { "watched_seconds", readings_seconds(seen->watched_ns) },
                { "cpu_wait_seconds", readings_seconds(seen->waited_ns) },
                { "cpu_steal_seconds", readings_seconds(seen->stolen_ns) },
        };

        return json_object_of(members, COUNT_OF(members));
}

static json_t *ground_to_json(const struct result *r, enum code code) {
        struct strbuf b;

        strbuf_init(&b);
        grounds_add_text(&b, r, code);

        const struct json_member members[] = {
                { "code", json_string(code_name(code)) },
                { "text", json_from_strbuf(&b) },
                { "accepted", json_boolean((r->judgement.accepted & CODE_BIT(code)) != 0) },
        };

        return json_object_of(members, COUNT_OF(members));
}

json_t *reasons_to_json(const struct result *r) {
        json_t *array = json_array();
        int error = array ? 0 : -1;

        for (unsigned i = 0; i < CODE_COUNT_ && error == 0; i++)
                if ((r->judgement.codes & CODE_BIT(i)) != 0)
                        error = json_array_append_new(array, ground_to_json(r, (enum code) i));
        return json_drop_if(error < 0, array);
}

static json_t *defaults_to_json(const struct stack *s) {
        struct default_test tests[DEFAULTS_MAX];
        size_t n = defaults_for(s, tests);
        json_t *array = json_array();
        int r = array ? 0 : -1;

        for (size_t i = 0; i < n && r == 0; i++) {
                const struct json_member members[] = {
                        { "name", json_string(spec_default_name(&tests[i].spec)) },
                        { "kind", json_string(kind_name(tests[i].spec.kind)) },
                        { "interval_seconds", json_seconds(tests[i].interval_ns) },
                        { "parameters", parameters_to_json(&tests[i].spec) },
                };

                r = json_array_append_new(array, json_object_of(members, COUNT_OF(members)));
        }
        return json_drop_if(r < 0, array);
}

static json_t *item_to_json(const struct stack_json_item *item) {
        const struct json_member members[] = {
                { "path", json_text(item->path) },
                { "stack", stack_to_json(item->stack) },
                { "default_tests", defaults_to_json(item->stack) },
        };

        return json_object_of(members, COUNT_OF(members));
}

void stack_json_add_document(struct strbuf *b, const struct stack_json_item *items, size_t n) {
        json_t *paths = json_array(), *document;
        int r = paths ? 0 : -1;

        for (size_t i = 0; i < n && r == 0; i++)
                r = json_array_append_new(paths, item_to_json(&items[i]));

        const struct json_member members[] = { { "paths", json_drop_if(r < 0, paths) } };

        document = json_object_of(members, COUNT_OF(members));
        json_add_document(b, document);
}
