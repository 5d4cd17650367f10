/*
 * The metrics; see http/metrics.h.
 *
 * One table of families. Each has a function that writes the samples of one
 * target, of one test, or of the process; the table decides over what it is called.
 */
#include "http/metrics.h"

#include <math.h>
#include <string.h>

#include "core/units.h"
#include "core/utf8.h"

/* Digits of a rate or of the process's own numbers: more than was measured. */
#define DIGITS 15

struct writer {
        struct strbuf *b;
        const char *family; /* the sample's name, less a suffix */
        bool openmetrics;
};

/* --- samples --- */

/* A label's value: \ " and newline escaped, bytes that are not UTF-8 replaced. */
static void add_escaped(struct strbuf *b, const char *text) {
        size_t plain = 0; /* bytes from @text on that stand for themselves */

        while (text[plain] != '\0') {
                char c = text[plain];
                size_t n = utf8_length(text + plain);

                if (n > 0 && c != '\\' && c != '"' && c != '\n') {
                        plain += n;
                        continue;
                }
                strbuf_add_bytes(b, text, plain);
                if (n == 0)
                        strbuf_add(b, "\xef\xbf\xbd");
                else
                        strbuf_add(b, c == '\n' ? "\\n" : c == '"' ? "\\\"" : "\\\\");
                text += plain + 1;
                plain = 0;
        }
        strbuf_add_bytes(b, text, plain);
}

/*
 * Numbers by hand: a scrape of many targets has some ten thousand, in which
 * printf would spend most of its time.
 */
static void add_count(struct strbuf *b, uint64_t number) {
        char digits[20]; /* of 2^64 - 1 */
        size_t at = sizeof digits;

        do
                digits[--at] = (char) ('0' + number % 10);
        while ((number /= 10) > 0);
        strbuf_add_bytes(b, digits + at, sizeof digits - at);
}

/* Exact: "0.000251", "45.5", "1764540900". */
static void add_seconds(struct strbuf *b, uint64_t ns) {
        uint64_t rest = ns % UNITS_NS_PER_SECOND;
        char fraction[9];
        size_t n = sizeof fraction;

        add_count(b, ns / UNITS_NS_PER_SECOND);
        if (rest == 0)
                return;
        for (; rest % 10 == 0; rest /= 10)
                n--;
        for (size_t i = n; i > 0; rest /= 10)
                fraction[--i] = (char) ('0' + rest % 10);
        strbuf_add_char(b, '.');
        strbuf_add_bytes(b, fraction, n);
}

/* A sample is begun, gets its labels, and is ended by its value. */
static void begin(const struct writer *w, const char *suffix) {
        strbuf_add(w->b, w->family);
        strbuf_add(w->b, suffix);
}

static void label(const struct writer *w, bool first, const char *name, const char *value) {
        strbuf_add_char(w->b, first ? '{' : ',');
        strbuf_add(w->b, name);
        strbuf_add(w->b, "=\"");
        add_escaped(w->b, value);
        strbuf_add_char(w->b, '"');
}

static void value(const struct writer *w, bool labelled, double number) {
        strbuf_add(w->b, labelled ? "} " : " ");
        strbuf_add_double(w->b, number, DIGITS);
        strbuf_add_char(w->b, '\n');
}

static void value_count(const struct writer *w, uint64_t number) {
        strbuf_add(w->b, "} ");
        add_count(w->b, number);
        strbuf_add_char(w->b, '\n');
}

static void value_seconds(const struct writer *w, uint64_t ns) {
        strbuf_add(w->b, "} ");
        add_seconds(w->b, ns);
        strbuf_add_char(w->b, '\n');
}

static double seconds(uint64_t ns) {
        return (double) ns / (double) UNITS_NS_PER_SECOND;
}

static void begin_target(const struct writer *w, const char *suffix, const struct snapshot_target *t) {
        begin(w, suffix);
        label(w, true, "target", t->name);
}

static void begin_test(const struct writer *w, const char *suffix, const struct snapshot_target *t,
                       const struct snapshot_test *test) {
        begin_target(w, suffix, t);
        label(w, false, "test", test->name);
}

/* What samples of these types end in; the table has the name without. */
#define TOTAL "_total"
#define INFO "_info"

/* The newest run, if it measured something. */
static const struct result *newest_ok(const struct snapshot_test *test) {
        const struct result *r = test->results->count > 0 ? results_get(test->results, 0) : NULL;

        return r && result_is_ok(r) ? r : NULL;
}

/* --- of a target --- */

static void target_info(const struct writer *w, const struct snapshot_target *t) {
        begin_target(w, INFO, t);
        label(w, false, "path", t->path);
        label(w, false, "fstype", t->fstype);
        label(w, false, "source", t->source);
        for (size_t i = 0; i < t->n_labels; i++)
                label(w, false, t->labels[i].name, t->labels[i].value);
        value_count(w, 1);
}

static void target_devices(const struct writer *w, const struct snapshot_target *t) {
        for (size_t i = 0; t->stack && i < t->stack->n_nodes; i++) {
                if (!stack_node_is_device_leaf(t->stack, i))
                        continue;
                begin_target(w, INFO, t);
                label(w, false, "device", t->stack->nodes[i].name);
                label(w, false, "role", role_name((enum role) t->stack->nodes[i].role));
                value_count(w, 1);
        }
}

static void target_state(const struct writer *w, const struct snapshot_target *t) {
        for (unsigned i = 0; i < STATE_COUNT_; i++) {
                begin_target(w, "", t);
                label(w, false, "state", state_name((enum state) i));
                value_count(w, t->state == (enum state) i);
        }
}

static void target_status(const struct writer *w, const struct snapshot_target *t) {
        for (unsigned i = 0; i < STATUS_COUNT_; i++) {
                begin_target(w, "", t);
                label(w, false, "status", status_name((enum status) i));
                value_count(w, t->status == (enum status) i);
        }
}

static void target_deadline(const struct writer *w, const struct snapshot_target *t) {
        begin_target(w, "", t);
        value_seconds(w, t->deadline_ns);
}

static void target_inflight(const struct writer *w, const struct snapshot_target *t) {
        begin_target(w, "", t);
        value_seconds(w, t->inflight_ns);
}

static void target_stall(const struct writer *w, const struct snapshot_target *t) {
        begin_target(w, TOTAL, t);
        value_seconds(w, t->stall_total_ns);
}

/* --- of a test --- */

static void test_info(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        const struct spec *s = test->spec;

        begin_test(w, INFO, t, test);
        label(w, false, "kind", kind_name(s->kind));
        label(w, false, "layout", spec_key_is_for(SPEC_LAYOUT, s->kind) ? layout_name(s->layout) : "");
        label(w, false, "sync", s->kind == KIND_CREATE ? "fsync" : sync_mode_name(s->sync));
        strbuf_add(w->b, ",data=\"");
        spec_add_data(w->b, s);
        strbuf_add_char(w->b, '"');
        label(w, false, "writeback", spec_key_is_for(SPEC_WRITEBACK, s->kind) ? writeback_name(s->writeback) : "");
        value_count(w, 1);
}

static void test_interval(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        begin_test(w, "", t, test);
        value_seconds(w, test->interval_ns);
}

static void last_success(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        if (test->results->count == 0)
                return;
        begin_test(w, "", t, test);
        value_count(w, newest_ok(test) != NULL);
}

static void last_run_time(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        if (test->results->count == 0)
                return;
        begin_test(w, "", t, test);
        value_seconds(w, results_get(test->results, 0)->ended_realtime_ns);
}

static void last_success_time(const struct writer *w, const struct snapshot_target *t,
                              const struct snapshot_test *test) {
        if (!test->last_ok)
                return;
        begin_test(w, "", t, test);
        value_seconds(w, test->last_ok->ended_realtime_ns);
}

static void runs(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        begin_test(w, TOTAL, t, test);
        label(w, false, "outcome", outcome_name(OUTCOME_OK));
        value_count(w, test->runs_ok);
        begin_test(w, TOTAL, t, test);
        label(w, false, "outcome", outcome_name(OUTCOME_FAILED));
        value_count(w, test->runs_failed);
}

static void failures(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        for (unsigned i = 0; i < REASON_COUNT_; i++) {
                if (test->failures[i] == 0)
                        continue;
                begin_test(w, TOTAL, t, test);
                label(w, false, "reason", reason_name((enum reason) i));
                value_count(w, test->failures[i]);
        }
}

static void skips(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        uint64_t total = 0;

        for (unsigned i = 0; i < SKIP_COUNT_; i++)
                total += test->skips[i];
        begin_test(w, TOTAL, t, test);
        value_count(w, total);
}

static void add_sum_and_count(const struct writer *w, const struct snapshot_target *t,
                              const struct snapshot_test *test, uint64_t sum_ns, uint64_t samples) {
        begin_test(w, "_sum", t, test);
        value_seconds(w, sum_ns);
        begin_test(w, "_count", t, test);
        value_count(w, samples);
}

/* A stream syncs once a run: its length says how much was dirty, not how fast
 * a sync is, and has no place in buckets. */
static void sync_duration(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        uint64_t below = 0;

        if (test->spec->kind != KIND_STREAM)
                for (unsigned i = 0; i <= BUCKETS_EDGES; i++) {
                        below += test->syncs.counts[i];
                        begin_test(w, "_bucket", t, test);
                        label(w, false, "le", i < BUCKETS_EDGES ? buckets_edge_text(i) : "+Inf");
                        value_count(w, below);
                }
        else if (w->openmetrics) { /* whose parser wants the last bucket */
                begin_test(w, "_bucket", t, test);
                label(w, false, "le", "+Inf");
                value_count(w, test->syncs.samples);
        }
        add_sum_and_count(w, t, test, test->syncs.sum_ns, test->syncs.samples);
}

static void write_duration(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        add_sum_and_count(w, t, test, test->write_sum_ns, test->writes);
}

static void syncs_lost(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        begin_test(w, TOTAL, t, test);
        value_count(w, test->syncs_lost);
}

static void pulses_missed(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        if (test->spec->kind != KIND_PULSE)
                return;
        begin_test(w, TOTAL, t, test);
        value_count(w, test->pulses_missed);
}

static void last_sync(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        const struct result *r = newest_ok(test);

        /* A stream has one sync: its sum and count say all of it. */
        if (!r || test->spec->kind == KIND_STREAM)
                return;

        const struct {
                const char *name;
                uint64_t ns;
        } stats[] = {
                { "min", r->sync.min_ns },   { "p50", r->sync.p50_ns },   { "p90", r->sync.p90_ns },
                { "p99", r->sync.p99_ns },   { "p999", r->sync.p999_ns }, { "max", r->sync.max_ns },
        };

        for (size_t i = 0; i < sizeof stats / sizeof stats[0]; i++) {
                if (stats[i].ns == HISTOGRAM_NONE)
                        continue;
                begin_test(w, "", t, test);
                label(w, false, "stat", stats[i].name);
                value_seconds(w, stats[i].ns);
        }
}

static void add_measured(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test,
                         double measured) {
        if (isnan(measured))
                return;
        begin_test(w, "", t, test);
        value(w, true, measured);
}

static void last_syncs_per_second(const struct writer *w, const struct snapshot_target *t,
                                  const struct snapshot_test *test) {
        const struct result *r = newest_ok(test);

        add_measured(w, t, test, r ? r->syncs_per_second : (double) NAN);
}

static void last_stream_rate(const struct writer *w, const struct snapshot_target *t,
                             const struct snapshot_test *test) {
        const struct result *r = newest_ok(test);

        add_measured(w, t, test, r ? r->stream_bytes_per_second : (double) NAN);
}

static void verdict(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        const struct result *r = newest_ok(test);

        for (unsigned i = 0; i < VERDICT_COUNT_ && r; i++) {
                begin_test(w, "", t, test);
                label(w, false, "verdict", verdict_name((enum verdict) i));
                value_count(w, r->judgement.verdict == (enum verdict) i);
        }
}

static void suspicion(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        const struct result *r = newest_ok(test);

        for (unsigned i = 0; i < CODE_COUNT_ && r; i++) {
                if ((r->judgement.codes & CODE_BIT(i)) == 0)
                        continue;
                begin_test(w, "", t, test);
                label(w, false, "code", code_name((enum code) i));
                value_count(w, 1);
        }
}

static void written(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test) {
        begin_test(w, TOTAL, t, test);
        value_count(w, test->written_bytes);
}

/* --- the families --- */

static const struct family {
        const char *name; /* without _total and _info */
        const char *type; /* Prometheus's word; "info" is a gauge there */
        const char *help;
        void (*of_target)(const struct writer *w, const struct snapshot_target *t);
        void (*of_test)(const struct writer *w, const struct snapshot_target *t, const struct snapshot_test *test);
} families[] = {
        { "syncprobe_target", "info", "A target: its path, and the file system that was found there.", target_info, NULL },
        { "syncprobe_target_device", "info", "A device at the end of what lies under a target: where its bytes go.",
          target_devices, NULL },
        { "syncprobe_target_state", "gauge", "1 for the state that a target is in, 0 for the others.", target_state, NULL },
        { "syncprobe_target_status", "gauge", "1 for the worst that holds of a target, 0 for the others.", target_status, NULL },
        { "syncprobe_target_deadline_seconds", "gauge",
          "How long a system call on the target may take before it counts as hung.", target_deadline, NULL },
        { "syncprobe_inflight_seconds", "gauge",
          "Age of the system call on the target that is in progress, 0 when there is none.", target_inflight, NULL },
        { "syncprobe_stall_seconds", "counter",
          "Time spent in system calls that went past their deadline.", target_stall, NULL },
        { "syncprobe_test", "info", "A test: what is done, and how.", NULL, test_info },
        { "syncprobe_test_interval_seconds", "gauge", "Time from one result of a test to the next.", NULL, test_interval },
        { "syncprobe_last_run_success", "gauge", "Whether the newest run was ok.", NULL, last_success },
        { "syncprobe_last_run_timestamp_seconds", "gauge", "When the newest run ended.", NULL, last_run_time },
        { "syncprobe_last_success_timestamp_seconds", "gauge", "When the newest run that was ok ended.", NULL,
          last_success_time },
        { "syncprobe_runs", "counter", "Runs that have finished.", NULL, runs },
        { "syncprobe_run_failures", "counter", "Runs that failed, by reason.", NULL, failures },
        { "syncprobe_runs_skipped", "counter", "Turns on which a test was left out.", NULL, skips },
        { "syncprobe_sync_duration_seconds", "histogram",
          "Length of every sync call that returned success, from failed and late runs too.", NULL, sync_duration },
        { "syncprobe_write_duration_seconds", "summary", "Length of every write call that returned success.", NULL,
          write_duration },
        { "syncprobe_syncs_lost", "counter", "Sync calls that never returned.", NULL, syncs_lost },
        { "syncprobe_pulses_missed", "counter", "Pulses that could not start, because the target hung.", NULL,
          pulses_missed },
        { "syncprobe_last_run_sync_seconds", "gauge",
          "Sync latency in the newest run; a quantile only where there were samples enough.", NULL, last_sync },
        { "syncprobe_last_run_syncs_per_second", "gauge", "Commits a second at queue depth 1, in the newest run.", NULL,
          last_syncs_per_second },
        { "syncprobe_last_run_stream_bytes_per_second", "gauge",
          "Rate of the newest stream, its final sync included.", NULL, last_stream_rate },
        { "syncprobe_verdict", "gauge", "1 for the verdict on the newest run, 0 for the others.", NULL, verdict },
        { "syncprobe_suspicion", "gauge", "1 for each reason of that verdict that is present.", NULL, suspicion },
        { "syncprobe_written_bytes", "counter", "Bytes that a test has written, laying out included.", NULL, written },
};

static void add_head(const struct writer *w, const char *type, const char *help) {
        bool info = strcmp(type, "info") == 0;
        /* OpenMetrics names the family; the older format names the samples. */
        const char *suffix = w->openmetrics ? "" : info ? INFO : strcmp(type, "counter") == 0 ? TOTAL : "";

        strbuf_printf(w->b, "# HELP %s%s %s\n# TYPE %s%s %s\n", w->family, suffix, help, w->family, suffix,
                      info && !w->openmetrics ? "gauge" : type);
}

static void add_family(struct writer *w, const struct family *f, const struct snapshot *s) {
        w->family = f->name;
        add_head(w, f->type, f->help);
        for (size_t i = 0; i < s->n_targets; i++) {
                if (f->of_target)
                        f->of_target(w, &s->targets[i]);
                for (size_t k = 0; f->of_test && k < s->targets[i].n_tests; k++)
                        f->of_test(w, &s->targets[i], &s->targets[i].tests[k]);
        }
}

static void add_single(struct writer *w, const char *name, const char *type, const char *help, double number) {
        w->family = name;
        add_head(w, type, help);
        begin(w, strcmp(type, "counter") == 0 ? TOTAL : "");
        value(w, false, number);
}

static void add_process(struct writer *w, const struct procstat *p) {
        add_single(w, "process_cpu_seconds", "counter", "Total user and system CPU time spent in seconds.", p->cpu_seconds);
        add_single(w, "process_open_fds", "gauge", "Number of open file descriptors.", (double) p->open_fds);
        add_single(w, "process_max_fds", "gauge", "Maximum number of open file descriptors.", (double) p->max_fds);
        add_single(w, "process_virtual_memory_bytes", "gauge", "Virtual memory size in bytes.", (double) p->virtual_bytes);
        add_single(w, "process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
                   (double) p->resident_bytes);
        add_single(w, "process_start_time_seconds", "gauge", "Start time of the process since unix epoch in seconds.",
                   p->start_time_seconds);
}

void metrics_add(struct strbuf *b, const struct snapshot *s, const struct procstat *process, bool openmetrics) {
        struct writer w = { .b = b, .openmetrics = openmetrics, .family = "syncprobe_build" };

        add_head(&w, "info", "The version that runs.");
        begin(&w, INFO);
        label(&w, true, "version", s->version);
        value_count(&w, 1);
        add_single(&w, "syncprobe_config_last_reload_successful", "gauge",
                   "Whether the last attempt to load the configuration succeeded.", s->reload_successful);
        add_single(&w, "syncprobe_config_last_reload_success_timestamp_seconds", "gauge",
                   "When the configuration in force was loaded.", seconds(s->reloaded_realtime_ns));
        for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
                add_family(&w, &families[i], s);
        add_single(&w, "syncprobe_log_messages_dropped", "counter", "Log lines dropped because their receiver stalled.",
                   (double) s->log_messages_dropped);
        if (process)
                add_process(&w, process);
        if (openmetrics)
                strbuf_add(b, "# EOF\n");
}
