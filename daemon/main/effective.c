/*
 * The effective configuration; see main/effective.h.
 */
#include "main/effective.h"

#include "core/units.h"
#include "core/verdict.h"

#define DAY_NS (UINT64_C(24) * 3600 * UNITS_NS_PER_SECOND)

static void add_quoted(struct strbuf *b, const char *text) {
        strbuf_add_char(b, '"');
        for (const char *c = text; *c != '\0'; c++) {
                if (*c == '"' || *c == '\\')
                        strbuf_add_char(b, '\\');
                strbuf_add_char(b, *c);
        }
        strbuf_add_char(b, '"');
}

static void add_duration(struct strbuf *b, const char *indent, const char *key, uint64_t ns) {
        strbuf_printf(b, "%s%s = \"", indent, key);
        units_add_duration_exact(b, ns);
        strbuf_add(b, "\"; # ");
        strbuf_add_double(b, (double) ns / (double) UNITS_NS_PER_SECOND, 15);
        strbuf_add(b, " s\n");
}

static void add_size(struct strbuf *b, const char *indent, const char *key, uint64_t bytes) {
        strbuf_printf(b, "%s%s = \"", indent, key);
        units_add_size_exact(b, bytes);
        strbuf_printf(b, "\"; # %llu bytes\n", (unsigned long long) bytes);
}

/* Bytes that a run writes at most, as far as the specification says. */
static uint64_t run_bytes(const struct config_test *t) {
        const struct spec *s = &t->spec;

        switch (s->kind) {
        case KIND_STREAM:
                return s->size_bytes;
        case KIND_PULSE:
                return t->interval_ns / s->period_ns * s->block_bytes;
        case KIND_COMMIT:
                return s->count * s->block_bytes + (s->layout == LAYOUT_OVERWRITE ? s->size_bytes : 0);
        case KIND_CREATE:
        case KIND_COUNT_:
                break;
        }
        return s->count * SPEC_CREATE_BLOCK_BYTES;
}

static void add_test(struct strbuf *b, const struct config_test *t) {
        static const char indent[] = "          ";
        const struct spec *s = &t->spec;

        strbuf_printf(b, "        { kind = \"%s\"; name = \"%s\"; # ", kind_name(s->kind), t->name);
        spec_add_description(b, s);
        strbuf_add_char(b, '\n');
        add_duration(b, indent, "interval", t->interval_ns);
        add_duration(b, indent, "max_duration", s->max_duration_ns);
        if (spec_key_is_for(SPEC_SIZE, s->kind) && s->size_bytes > 0 && s->layout != LAYOUT_APPEND)
                add_size(b, indent, "size", s->size_bytes);
        if (spec_key_is_for(SPEC_BLOCK, s->kind))
                add_size(b, indent, "block", s->block_bytes);
        if (spec_key_is_for(SPEC_COUNT, s->kind) && s->count > 0)
                strbuf_printf(b, "%scount = %llu;\n", indent, (unsigned long long) s->count);
        if (spec_key_is_for(SPEC_DURATION, s->kind) && s->duration_ns > 0)
                add_duration(b, indent, "duration", s->duration_ns);
        if (s->kind == KIND_PULSE)
                add_duration(b, indent, "period", s->period_ns);
        if (s->kind == KIND_COMMIT)
                strbuf_printf(b, "%slayout = \"%s\"; sync = \"%s\"; direct = %s;\n", indent, layout_name(s->layout),
                              sync_mode_name(s->sync), s->direct ? "true" : "false");
        if (s->kind == KIND_STREAM)
                strbuf_printf(b, "%swriteback = \"%s\"; reuse = %s;\n", indent, writeback_name(s->writeback),
                              s->reuse ? "true" : "false");
        if (s->kind == KIND_STREAM && s->max_rate_bytes > 0)
                add_size(b, indent, "max_rate", s->max_rate_bytes);
        if (s->kind == KIND_CREATE)
                strbuf_printf(b, "%sdurable = %s;\n", indent, s->durable ? "true" : "false");
        strbuf_printf(b, "%sdata = \"", indent);
        spec_add_data(b, s);
        strbuf_add(b, "\"; }");
}

static void add_target(struct strbuf *b, const struct config_target *t) {
        static const char indent[] = "    ";
        double day = 0;

        strbuf_add(b, "  { name = ");
        add_quoted(b, t->name);
        strbuf_add(b, "; path = ");
        add_quoted(b, t->path);
        strbuf_add(b, ";\n");
        if (t->group) {
                strbuf_add(b, "    group = ");
                add_quoted(b, t->group);
                strbuf_add(b, ";\n");
        }
        add_duration(b, indent, "deadline", t->deadline_ns);
        add_duration(b, indent, "kill_after", t->kill_after_ns);
        strbuf_add(b, "    min_free = [");
        if (t->min_free_percent > 0)
                strbuf_printf(b, " \"%u%%\"", t->min_free_percent);
        if (t->min_free_bytes > 0) {
                strbuf_add(b, t->min_free_percent > 0 ? ", \"" : " \"");
                units_add_size_exact(b, t->min_free_bytes);
                strbuf_add_char(b, '"');
        }
        strbuf_printf(b, " ]; owner_check = %s;\n    accept = [", t->owner_check ? "true" : "false");
        for (unsigned i = 0, n = 0; i < CODE_COUNT_; i++)
                if ((t->accepted & CODE_BIT(i)) != 0)
                        strbuf_printf(b, "%s \"%s\"", n++ > 0 ? "," : "", code_name((enum code) i));
        strbuf_add(b, " ];\n    labels = {");
        for (size_t i = 0; i < t->n_labels; i++) {
                strbuf_printf(b, " %s = ", t->labels[i].name);
                add_quoted(b, t->labels[i].value);
                strbuf_add_char(b, ';');
        }
        strbuf_add(b, " };\n    tests = (\n");
        for (size_t i = 0; i < t->n_tests; i++) {
                add_test(b, &t->tests[i]);
                strbuf_add(b, i + 1 < t->n_tests ? ",\n" : "\n");
                day += (double) run_bytes(&t->tests[i]) * ((double) DAY_NS / (double) t->tests[i].interval_ns);
        }
        strbuf_add(b, "    ); } # ");
        strbuf_add_fixed(b, day / 1e9, 2);
        strbuf_add(b, " GB/day as far as sizes and counts say");
}

void effective_add(struct strbuf *b, const struct config *c) {
        strbuf_add(b, "listen = [ ");
        for (size_t i = 0; i < c->n_listen; i++) {
                add_quoted(b, c->listen[i]);
                strbuf_add(b, i + 1 < c->n_listen ? ", " : " ];\n");
        }
        strbuf_add(b, "targets = (\n");
        for (size_t i = 0; i < c->n_targets; i++) {
                add_target(b, &c->targets[i]);
                /* The separator stands before the comment's end, on the next line. */
                strbuf_add(b, i + 1 < c->n_targets ? "\n  ,\n" : "\n");
        }
        strbuf_add(b, ");\n");
}
