/*
 * The report for a person; see cli/report.h.
 */
#include "cli/report.h"

#include <math.h>
#include <string.h>

#include "cli/bars.h"
#include "core/ddline.h"
#include "core/units.h"
#include "core/utf8.h"

#define BOLD "\033[1m"
#define PLAIN "\033[0m"

/* Zeros are told to be treated differently when they are this much faster … */
#define ZERO_RATIO 1.5
/* … and not merely because random data had to be made: at this rate, half of what
 * the generator reaches on a slow core, making them may cost time, no more. */
#define MAKING_DATA_BYTES_PER_SECOND 5e9

/* Flash itself needs longer to be written: what answers faster is a memory before it. */
#define CACHE_P50_NS (50 * UNITS_NS_PER_US)

static void add_bold(struct strbuf *b, const char *text, bool bold) {
        strbuf_add(b, bold ? BOLD : "");
        strbuf_add(b, text);
        strbuf_add(b, bold ? PLAIN : "");
}

void report_add_number(struct strbuf *b, double value) {
        if (fabs(value) >= 99.95)
                strbuf_add_fixed(b, value, 0);
        else
                strbuf_add_double(b, value, 3);
}

void report_add_rates(struct strbuf *b, double bytes_per_second) {
        report_add_number(b, bytes_per_second / 1e6);
        strbuf_add(b, " MB/s (");
        report_add_number(b, bytes_per_second / 1048576);
        strbuf_add(b, " MiB/s)");
}

void report_add_printable(struct strbuf *b, const char *text) {
        while (*text != '\0') {
                const unsigned char *at = (const unsigned char *) text;
                size_t length = utf8_length(text);
                bool control = at[0] < 0x20 || at[0] == 0x7F || (at[0] == 0xC2 && at[1] < 0xA0);

                if (length > 0 && !control) {
                        strbuf_add_bytes(b, text, length);
                } else {
                        if (length == 0)
                                length = 1;
                        for (size_t i = 0; i < length; i++)
                                strbuf_printf(b, "\\x%02x", at[i]);
                }
                text += length;
        }
}

void report_add_header(struct strbuf *b, const char *path, const char *fstype, const struct stack *stack, bool bold) {
        bool mapped = stack && stack->n_nodes > 0;

        strbuf_add(b, bold ? BOLD : "");
        report_add_printable(b, path);
        strbuf_add(b, bold ? PLAIN : "");
        if (mapped && stack->fstype[0] != '\0')
                fstype = stack->fstype;
        if (fstype[0] != '\0') {
                bool more;
                uint8_t leaves[STACK_LEAVES_MAX];

                strbuf_printf(b, " (%s", fstype);
                if (mapped && stack->source[0] == '/' && stack_leaves(stack, leaves, &more) > 0) {
                        strbuf_add(b, " on ");
                        stack_add_leaf_names(b, stack);
                } else if (mapped && stack->source[0] != '\0' && strcmp(stack->source, fstype) != 0 &&
                           strcmp(stack->source, "none") != 0) {
                        strbuf_add(b, " ");
                        report_add_printable(b, stack->source);
                        if (stack_leaves(stack, leaves, &more) > 0) {
                                strbuf_add(b, " on ");
                                stack_add_leaf_names(b, stack);
                        }
                }
                strbuf_add(b, ")");
        }
        strbuf_add(b, "\n");
}

/* --- latencies ------------------------------------------------------------ */

/* "p99 3.1 ms", or why there is none. */
static void add_quantile(struct strbuf *b, const char *name, uint64_t ns, unsigned samples_needed) {
        strbuf_printf(b, "%s ", name);
        if (ns == HISTOGRAM_NONE)
                strbuf_printf(b, "– (needs %u samples)", samples_needed);
        else
                units_add_duration(b, ns);
}

static void add_latencies(struct strbuf *b, const char *call, const struct histogram_summary *s) {
        const struct {
                const char *name;
                uint64_t ns;
                unsigned samples_needed;
        } quantiles[] = {
                { "p50", s->p50_ns, 2 },       { "p90", s->p90_ns, 10 }, { "p99", s->p99_ns, 100 },
                { "p99.9", s->p999_ns, 1000 }, { "max", s->max_ns, 1 },
        };

        if (s->samples == 0)
                return;
        strbuf_printf(b, "  %-9s", call);
        for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
                strbuf_add(b, "   ");
                add_quantile(b, quantiles[i].name, quantiles[i].ns, quantiles[i].samples_needed);
        }
        strbuf_add(b, "\n");
}

static const char *sync_call(const struct spec *s) {
        if (s->kind == KIND_CREATE)
                return "fsync";
        if (s->kind == KIND_COMMIT)
                return s->sync == SYNC_DSYNC ? "O_DSYNC" : sync_mode_name(s->sync);
        return "fdatasync";
}

static void add_all_latencies(struct strbuf *b, const struct report_item *item) {
        const struct result *r = item->result;

        add_latencies(b, sync_call(&r->spec), &r->sync);
        add_latencies(b, "write", &r->write);
        if (item->sync)
                bars_add(b, item->sync, "  ");
        if (r->sync.p50_ns < CACHE_P50_NS && r->judgement.verdict != VERDICT_SUSPECT)
                strbuf_add(b, "  Half of the syncs took under 50 µs: a cache answered, be it volatile or protected against\n"
                              "  power loss, which cannot be told apart from here.\n");
}

/* --- the blocks ----------------------------------------------------------- */

static void add_title(struct strbuf *b, const char *name, const struct spec *s, bool bold) {
        strbuf_add(b, "\n");
        add_bold(b, name, bold);
        strbuf_add(b, ": ");
        spec_add_description(b, s);
        strbuf_add(b, "\n");
}

/* False, and told, when there is nothing measured to show. */
static bool add_if_failed(struct strbuf *b, const char *label, const struct result *r) {
        if (result_is_ok(r))
                return true;
        strbuf_printf(b, "  %s%s%s: ", label, label[0] != '\0' ? " " : "", outcome_name(r->outcome));
        result_add_failure(b, r);
        strbuf_add(b, "\n");
        return false;
}

static void add_truncated(struct strbuf *b, const struct result *r) {
        if (r->truncated)
                strbuf_add(b, "  cut short by max-duration\n");
}

static void add_commit(struct strbuf *b, const struct report_item *item, bool bold) {
        const struct result *r = item->result;

        add_title(b, item->name, &r->spec, bold);
        if (!add_if_failed(b, "", r))
                return;
        strbuf_add(b, "  ");
        strbuf_add(b, bold ? BOLD : "");
        report_add_number(b, r->syncs_per_second);
        strbuf_add(b, " commits/s");
        strbuf_add(b, bold ? PLAIN : "");
        strbuf_printf(b, "   (%llu samples in ", (unsigned long long) r->samples);
        units_add_duration(b, r->elapsed_ns);
        strbuf_add(b, ")\n");
        add_all_latencies(b, item);
        add_truncated(b, r);
        if (r->spec.kind == KIND_COMMIT && r->sync.p99_ns != HISTOGRAM_NONE) {
                strbuf_add(b, "  etcd's guide line for its log is a p99 under 10 ms; here it is ");
                units_add_duration(b, r->sync.p99_ns);
                strbuf_add(b, r->sync.p99_ns < REPORT_SLOW_P99_NS ? "\n" : ", above it\n");
        }
}

static void add_create(struct strbuf *b, const struct report_item *item, bool bold) {
        const struct result *r = item->result;

        add_title(b, item->name, &r->spec, bold);
        if (!add_if_failed(b, "", r))
                return;
        strbuf_add(b, "  ");
        strbuf_add(b, bold ? BOLD : "");
        strbuf_add(b, "FSYNCS/SECOND: ");
        strbuf_add_fixed(b, r->syncs_per_second, 2);
        strbuf_add(b, bold ? PLAIN : "");
        strbuf_add(b, r->spec.durable ? "   (in the durable order, which pveperf has not)\n"
                                      : "   (as pveperf counts; over 200 is wanted)\n");
        add_all_latencies(b, item);
        add_truncated(b, r);
}

/* "zeros", "random", "compressible:50": of one width, so that dd's lines stand under each other. */
static void add_stream_label(struct strbuf *b, const struct spec *s) {
        if (s->data == DATA_COMPRESSIBLE)
                spec_add_data(b, s);
        else
                strbuf_add(b, s->data == DATA_ZERO ? "zeros " : "random");
}

static void add_stream_figures(struct strbuf *b, const struct result *r, bool bold) {
        uint64_t calls_ns = r->write.sum_ns + r->sync.sum_ns;

        if (!result_is_ok(r)) {
                struct strbuf label;
                const char *text = "";

                strbuf_init(&label);
                add_stream_label(&label, &r->spec);
                if (strbuf_finish(&label, &text) < 0)
                        b->error = label.error;
                (void) add_if_failed(b, text, r);
                strbuf_done(&label);
                return;
        }
        strbuf_add(b, "  ");
        add_stream_label(b, &r->spec);
        strbuf_add(b, "   ");
        strbuf_add(b, bold ? BOLD : "");
        ddline_add(b, r->written_bytes, r->elapsed_ns, ".");
        strbuf_add(b, bold ? PLAIN : "");
        strbuf_add(b, "\n           ");
        report_add_rates(b, r->stream_bytes_per_second);
        strbuf_add(b, ": in write ");
        units_add_duration(b, r->write.sum_ns);
        strbuf_add(b, ", in fdatasync ");
        units_add_duration(b, r->sync.sum_ns);
        strbuf_add(b, r->spec.writeback == WRITEBACK_EAGER ? ", waiting for write-back and making data "
                                                           : ", making data ");
        units_add_duration(b, r->elapsed_ns > calls_ns ? r->elapsed_ns - calls_ns : 0);
        strbuf_add(b, "\n");
        if (r->spec.writeback == WRITEBACK_EAGER && r->writeback == PROTO_EFFECT_NONE)
                strbuf_add(b, "           (starting write-back early had no effect here)\n");
        add_truncated(b, r);
}

static void add_comparison(struct strbuf *b, const struct result *zero, const struct result *random) {
        double fast = zero->stream_bytes_per_second, slow = random->stream_bytes_per_second;

        if (!result_is_ok(zero) || !result_is_ok(random) || !(fast > 0) || !(slow > 0))
                return;
        if (slow / fast > ZERO_RATIO) {
                strbuf_add(b, "  Random data went ");
                report_add_number(b, slow / fast);
                strbuf_add(b, " times as fast as zeros: the storage was not equally free for both. Run it again.\n");
                return;
        }
        if (fast / slow <= ZERO_RATIO || 1 / slow - 1 / fast <= 1 / MAKING_DATA_BYTES_PER_SECOND)
                return;
        strbuf_add(b, "  Zeros went ");
        report_add_number(b, fast / slow);
        strbuf_add(b, " times as fast as random data: the storage treats zeros differently (compression or\n"
                      "  zero detection), so the figure for zeros says nothing about it.\n");
}

bool report_is_pair(const struct spec *first, const struct spec *second) {
        return first->kind == KIND_STREAM && second->kind == KIND_STREAM && first->data == DATA_ZERO &&
               second->data == DATA_RANDOM;
}

static void add_stream(struct strbuf *b, const struct report_item *items, size_t n, bool bold) {
        const struct spec *s = &items[0].result->spec;
        struct spec shared = *s;
        struct strbuf description;
        const char *text = "";

        if (n == 1) {
                add_title(b, items[0].name, s, bold);
                add_stream_figures(b, items[0].result, bold);
                return;
        }
        strbuf_add(b, "\n");
        add_bold(b, kind_name(s->kind), bold);
        strbuf_add(b, ": ");
        strbuf_init(&description);
        spec_add_description(&description, &shared);
        if (strbuf_finish(&description, &text) < 0)
                b->error = description.error;
        /* Without ", zero data" at its end: it is for both. */
        strbuf_add_bytes(b, text, (size_t) ((strrchr(text, ',') ? strrchr(text, ',') : text) - text));
        strbuf_add(b, "\n");
        strbuf_done(&description);
        for (size_t i = 0; i < n; i++)
                add_stream_figures(b, items[i].result, bold);
        add_comparison(b, items[0].result, items[1].result);
}

void report_add_block(struct strbuf *b, const struct report_item *items, size_t n, bool bold) {
        switch (items[0].result->spec.kind) {
        case KIND_STREAM:
                add_stream(b, items, n, bold);
                break;
        case KIND_COMMIT:
        case KIND_PULSE:
                add_commit(b, items, bold);
                break;
        case KIND_CREATE:
                add_create(b, items, bold);
                break;
        case KIND_COUNT_:
                break;
        }
}

/* "  suspect: compressed, device-bytes-missing" */
static void add_suspicion(struct strbuf *b, const struct result *r) {
        const char *between = "  suspect: ";

        for (unsigned i = 0; i < CODE_COUNT_; i++)
                if ((r->judgement.codes & ~r->judgement.accepted & CODE_BIT(i)) != 0 &&
                    code_verdict((enum code) i) == VERDICT_SUSPECT) {
                        strbuf_printf(b, "%s%s", between, code_name((enum code) i));
                        between = ", ";
                }
}

void report_add_line(struct strbuf *b, const struct result *r) {
        if (!result_is_ok(r)) {
                strbuf_printf(b, "%s: ", outcome_name(r->outcome));
                result_add_failure(b, r);
                return;
        }
        switch (r->spec.kind) {
        case KIND_STREAM:
                report_add_rates(b, r->stream_bytes_per_second);
                break;
        case KIND_CREATE:
                strbuf_add(b, "FSYNCS/SECOND: ");
                strbuf_add_fixed(b, r->syncs_per_second, 2);
                break;
        case KIND_COMMIT:
        case KIND_PULSE:
                report_add_number(b, r->syncs_per_second);
                strbuf_printf(b, " commits/s, %s ", sync_call(&r->spec));
                add_quantile(b, "p50", r->sync.p50_ns, 2);
                strbuf_add(b, ", ");
                add_quantile(b, "p99", r->sync.p99_ns, 100);
                break;
        case KIND_COUNT_:
                break;
        }
        if (r->judgement.verdict == VERDICT_SUSPECT)
                add_suspicion(b, r);
}
