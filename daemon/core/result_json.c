/*
 * A result as JSON; see core/result_json.h.
 *
 * Ownership follows jansson's *_new functions: set_new() takes the value over
 * also when it fails, and a NULL value (memory ran out while it was made) fails
 * like any other, so that each object has one check at its end.
 */
#include "core/result_json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/units.h"
#include "core/utf8.h"

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

static json_t *json_from_strbuf(struct strbuf *b) {
        const char *text;
        json_t *json = strbuf_finish(b, &text) < 0 ? NULL : json_stringn_nocheck(text, b->length);

        strbuf_done(b);
        return json;
}

json_t *json_text(const char *text) {
        struct strbuf b;

        if (!text)
                return json_null();
        strbuf_init(&b);
        while (*text != '\0') {
                size_t length = utf8_length(text);

                if (length > 0)
                        strbuf_add_bytes(&b, text, length);
                else
                        strbuf_add(&b, replacement);
                text += length > 0 ? length : 1;
        }
        return json_from_strbuf(&b);
}

json_t *json_number(double value) {
        return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_seconds(uint64_t ns) {
        return ns == HISTOGRAM_NONE ? json_null() : json_real((double) ns / 1e9);
}

static json_t *json_count(uint64_t value) {
        return json_integer((json_int_t) (value > INT64_MAX ? INT64_MAX : value));
}

static json_t *json_bytes(uint64_t value) {
        return value == PROTO_UNKNOWN ? json_null() : json_count(value);
}

/* 0 stands for "no limit" there. */
static json_t *json_limit_seconds(uint64_t ns) {
        return ns == 0 ? json_null() : json_seconds(ns);
}

static json_t *json_limit(uint64_t value) {
        return value == 0 ? json_null() : json_count(value);
}

static json_t *json_timestamp(uint64_t realtime_ns) {
        struct strbuf b;

        strbuf_init(&b);
        units_add_timestamp(&b, realtime_ns);
        return json_from_strbuf(&b);
}

/* An object of @n members, whose values it takes over. NULL, and all of them
 * dropped, when memory ran out for any. */
struct member {
        const char *name;
        json_t *value;
};

static int add_members(json_t *object, const struct member *members, size_t n) {
        int r = object ? 0 : -1;

        for (size_t i = 0; i < n; i++)
                if (r < 0)
                        json_decref(members[i].value);
                else
                        r = json_object_set_new_nocheck(object, members[i].name, members[i].value);
        return r;
}

static json_t *drop_if(bool failed, json_t *json) {
        if (!failed)
                return json;
        json_decref(json);
        return NULL;
}

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static json_t *summary_to_json(const struct histogram_summary *s, bool shown) {
        if (!shown || s->samples == 0)
                return json_null();

        const struct member members[] = {
                { "min", json_seconds(s->min_ns) },   { "mean", json_seconds(s->mean_ns) },
                { "p50", json_seconds(s->p50_ns) },   { "p90", json_seconds(s->p90_ns) },
                { "p99", json_seconds(s->p99_ns) },   { "p999", json_seconds(s->p999_ns) },
                { "max", json_seconds(s->max_ns) },
        };
        json_t *object = json_object();

        return drop_if(add_members(object, members, COUNT_OF(members)) < 0, object);
}

static json_t *data_to_json(const struct spec *s) {
        struct strbuf b;

        strbuf_init(&b);
        spec_add_data(&b, s);
        return json_from_strbuf(&b);
}

static json_t *parameter_to_json(const struct spec *s, enum spec_key key) {
        switch (key) {
        case SPEC_SIZE:
                return json_limit(s->size_bytes);
        case SPEC_BLOCK:
                return json_count(s->block_bytes);
        case SPEC_COUNT:
                return json_limit(s->count);
        case SPEC_DURATION:
                return json_limit_seconds(s->duration_ns);
        case SPEC_LAYOUT:
                return json_string(layout_name(s->layout));
        case SPEC_SYNC:
                return json_string(sync_mode_name(s->sync));
        case SPEC_DIRECT:
                return json_boolean(s->direct);
        case SPEC_DATA:
                return data_to_json(s);
        case SPEC_WRITEBACK:
                return json_string(writeback_name(s->writeback));
        case SPEC_REUSE:
                return json_boolean(s->reuse);
        case SPEC_MAX_RATE:
                return json_limit(s->max_rate_bytes);
        case SPEC_MAX_DURATION:
                return json_limit_seconds(s->max_duration_ns);
        case SPEC_PERIOD:
                return json_seconds(s->period_ns);
        case SPEC_DURABLE:
                return json_boolean(s->durable);
        case SPEC_KEY_COUNT_:
                break;
        }
        return json_null();
}

static json_t *parameters_to_json(const struct spec *s) {
        static const char *const names[SPEC_KEY_COUNT_] = {
                [SPEC_SIZE] = "size_bytes",
                [SPEC_BLOCK] = "block_bytes",
                [SPEC_COUNT] = "count",
                [SPEC_DURATION] = "duration_seconds",
                [SPEC_LAYOUT] = "layout",
                [SPEC_SYNC] = "sync",
                [SPEC_DIRECT] = "direct",
                [SPEC_DATA] = "data",
                [SPEC_WRITEBACK] = "writeback",
                [SPEC_REUSE] = "reuse",
                [SPEC_MAX_RATE] = "max_rate_bytes_per_second",
                [SPEC_MAX_DURATION] = "max_duration_seconds",
                [SPEC_PERIOD] = "period_seconds",
                [SPEC_DURABLE] = "durable",
        };
        json_t *object = json_object();
        int r = object ? 0 : -1;

        for (unsigned i = 0; i < SPEC_KEY_COUNT_ && r == 0; i++)
                /* create's block is fixed, but not secret. */
                if (spec_key_is_for((enum spec_key) i, s->kind) || i == SPEC_BLOCK)
                        r = json_object_set_new_nocheck(object, names[i], parameter_to_json(s, (enum spec_key) i));
        return drop_if(r < 0, object);
}

static json_t *reasons_to_json(const struct judgement *j) {
        json_t *array = json_array();
        int r = array ? 0 : -1;

        for (unsigned i = 0; i < CODE_COUNT_ && r == 0; i++) {
                if ((j->codes >> i & 1) == 0)
                        continue;

                const struct member members[] = {
                        { "code", json_string(code_name((enum code) i)) },
                        { "text", json_string(code_text((enum code) i)) },
                        { "accepted", json_false() },
                };
                json_t *object = json_object();
                bool failed = add_members(object, members, COUNT_OF(members)) < 0;

                r = json_array_append_new(array, drop_if(failed, object));
        }
        return drop_if(r < 0, array);
}

static json_t *evidence_to_json(const struct result *result) {
        const struct member members[] = {
                { "fstype", result->fstype[0] != '\0' ? json_text(result->fstype) : json_null() },
                { "source", json_null() },
                { "devices", json_array() },
                { "allocated_bytes", json_bytes(result->allocated_bytes) },
        };
        json_t *object = json_object();

        return drop_if(add_members(object, members, COUNT_OF(members)) < 0, object);
}

static json_t *reason_to_json(const struct result *result) {
        switch (result->outcome) {
        case OUTCOME_FAILED:
                return json_string(reason_name(result->reason));
        case OUTCOME_SKIPPED:
                return json_string(skip_name(result->skip));
        case OUTCOME_OK:
        case OUTCOME_COUNT_:
                break;
        }
        return json_null();
}

static json_t *failure_to_json(const struct result *result) {
        struct strbuf b;

        if (result->outcome == OUTCOME_OK)
                return json_null();
        strbuf_init(&b);
        result_add_failure(&b, result);
        return json_from_strbuf(&b);
}

static json_t *effect_to_json(enum proto_effect effect) {
        switch (effect) {
        case PROTO_EFFECT_NONE:
                return json_string("none");
        case PROTO_EFFECT_SEEN:
                return json_string("seen");
        case PROTO_EFFECT_UNKNOWN:
        case PROTO_EFFECT_COUNT_:
                break;
        }
        return json_null();
}

static int add_head(json_t *object, const struct result *r, const char *target, const char *test) {
        const struct member members[] = {
                { "target", json_text(target) },
                { "test", json_text(test) },
                { "kind", json_string(kind_name(r->spec.kind)) },
                { "outcome", json_string(outcome_name(r->outcome)) },
                { "reason", reason_to_json(r) },
                { "phase", r->phase == PHASE_NONE ? json_null() : json_string(phase_name(r->phase)) },
                { "error", failure_to_json(r) },
                { "truncated", json_boolean(r->truncated) },
                { "started", json_timestamp(r->started_realtime_ns) },
                { "ended", json_timestamp(r->ended_realtime_ns) },
        };

        return add_members(object, members, COUNT_OF(members));
}

static int add_measured(json_t *object, const struct result *r) {
        bool ok = result_is_ok(r);
        const struct member members[] = {
                { "elapsed_seconds", ok ? json_seconds(r->elapsed_ns) : json_null() },
                { "written_bytes", ok ? json_count(r->written_bytes) : json_null() },
                { "laid_out_bytes", ok ? json_count(r->laid_out_bytes) : json_null() },
                { "samples", ok ? json_count(r->samples) : json_null() },
                { "sync_seconds", summary_to_json(&r->sync, ok) },
                { "write_seconds", summary_to_json(&r->write, ok) },
                { "syncs_per_second", ok ? json_number(r->syncs_per_second) : json_null() },
                { "stream_bytes_per_second", ok ? json_number(r->stream_bytes_per_second) : json_null() },
        };

        return add_members(object, members, COUNT_OF(members));
}

static int add_stream(json_t *object, const struct result *r) {
        bool ok = result_is_ok(r);

        if (r->spec.kind != KIND_STREAM)
                return 0;

        const struct member members[] = {
                { "write_elapsed_seconds", ok ? json_seconds(r->write.sum_ns) : json_null() },
                { "sync_elapsed_seconds", ok ? json_seconds(r->sync.sum_ns) : json_null() },
                { "writeback_effect", ok ? effect_to_json(r->writeback) : json_null() },
        };

        return add_members(object, members, COUNT_OF(members));
}

static int add_judgement(json_t *object, const struct result *r) {
        const struct member members[] = {
                { "parameters", parameters_to_json(&r->spec) },
                { "verdict", json_string(verdict_name(r->judgement.verdict)) },
                { "reached", json_string(reached_name(r->judgement.reached)) },
                { "basis", json_string(basis_name(r->judgement.basis)) },
                { "reasons", reasons_to_json(&r->judgement) },
                { "evidence", evidence_to_json(r) },
        };

        return add_members(object, members, COUNT_OF(members));
}

json_t *result_to_json(const struct result *r, const char *target, const char *test) {
        json_t *object = json_object();
        bool failed = !object || add_head(object, r, target, test) < 0 || add_measured(object, r) < 0 ||
                      add_stream(object, r) < 0 || add_judgement(object, r) < 0;

        return drop_if(failed, object);
}

static int add_chunk(const char *chunk, size_t n, void *b) {
        strbuf_add_bytes(b, chunk, n);
        return ((struct strbuf *) b)->error;
}

void result_json_add_document(struct strbuf *b, const struct result_json_item *items, size_t n) {
        json_t *document = json_object(), *results = json_array();
        int r = document && results ? 0 : -1;

        for (size_t i = 0; i < n && r == 0; i++)
                r = json_array_append_new(results, result_to_json(items[i].result, items[i].target, items[i].test));
        if (r == 0)
                r = json_object_set_nocheck(document, "results", results);
        if (r == 0)
                r = json_dump_callback(document, add_chunk, b, RESULT_JSON_FLAGS_INDENTED);
        json_decref(results);
        json_decref(document);
        if (r < 0 && b->error == 0)
                b->error = -ENOMEM;
        strbuf_add_char(b, '\n');
}
