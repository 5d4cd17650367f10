/*
 * A result as JSON; see core/result_json.h.
 */
#include "core/result_json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/evidence_json.h"
#include "core/json.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static json_t *summary_to_json(const struct histogram_summary *s, bool shown) {
        if (!shown || s->samples == 0)
                return json_null();

        const struct json_member members[] = {
                { "min", json_seconds(s->min_ns) },   { "mean", json_seconds(s->mean_ns) },
                { "p50", json_seconds(s->p50_ns) },   { "p90", json_seconds(s->p90_ns) },
                { "p99", json_seconds(s->p99_ns) },   { "p999", json_seconds(s->p999_ns) },
                { "max", json_seconds(s->max_ns) },
        };
        json_t *object = json_object();

        return json_drop_if(json_add_members(object, members, COUNT_OF(members)) < 0, object);
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

json_t *parameters_to_json(const struct spec *s) {
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
        return json_drop_if(r < 0, object);
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
        const struct json_member members[] = {
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

        return json_add_members(object, members, COUNT_OF(members));
}

static int add_measured(json_t *object, const struct result *r) {
        bool ok = result_is_ok(r);
        const struct json_member members[] = {
                { "elapsed_seconds", ok ? json_seconds(r->elapsed_ns) : json_null() },
                { "written_bytes", ok ? json_count(r->written_bytes) : json_null() },
                { "laid_out_bytes", ok ? json_count(r->laid_out_bytes) : json_null() },
                { "samples", ok ? json_count(r->samples) : json_null() },
                { "sync_seconds", summary_to_json(&r->sync, ok) },
                { "write_seconds", summary_to_json(&r->write, ok) },
                { "syncs_per_second", ok ? json_number(r->syncs_per_second) : json_null() },
                { "stream_bytes_per_second", ok ? json_number(r->stream_bytes_per_second) : json_null() },
        };

        return json_add_members(object, members, COUNT_OF(members));
}

static int add_stream(json_t *object, const struct result *r) {
        bool ok = result_is_ok(r);

        if (r->spec.kind != KIND_STREAM)
                return 0;

        const struct json_member members[] = {
                { "write_elapsed_seconds", ok ? json_seconds(r->write.sum_ns) : json_null() },
                { "sync_elapsed_seconds", ok ? json_seconds(r->sync.sum_ns) : json_null() },
                { "writeback_effect", ok ? effect_to_json(r->writeback) : json_null() },
        };

        return json_add_members(object, members, COUNT_OF(members));
}

static int add_judgement(json_t *object, const struct result *r) {
        const struct json_member members[] = {
                { "parameters", parameters_to_json(&r->spec) },
                { "verdict", json_string(verdict_name(r->judgement.verdict)) },
                { "reached", json_string(reached_name(r->judgement.reached)) },
                { "basis", json_string(basis_name(r->judgement.basis)) },
                { "reasons", reasons_to_json(r) },
                { "evidence", evidence_to_json(r) },
        };

        return json_add_members(object, members, COUNT_OF(members));
}

json_t *result_to_json(const struct result *r, const char *target, const char *test) {
        json_t *object = json_object();
        bool failed = !object || add_head(object, r, target, test) < 0 || add_measured(object, r) < 0 ||
                      add_stream(object, r) < 0 || add_judgement(object, r) < 0;

        return json_drop_if(failed, object);
}

void result_json_add_document(struct strbuf *b, const struct result_json_item *items, size_t n) {
        json_t *results = json_array();
        int r = results ? 0 : -1;

        for (size_t i = 0; i < n && r == 0; i++)
                r = json_array_append_new(results, result_to_json(items[i].result, items[i].target, items[i].test));

        const struct json_member members[] = { { "results", json_drop_if(r < 0, results) } };

        json_add_document(b, json_object_of(members, COUNT_OF(members)));
}
