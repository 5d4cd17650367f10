/*
 * Several runs of the same tests; see cli/compare.h.
 */
#include "cli/compare.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/table.h"
#include "core/units.h"

/* What is compared, and of which kinds. NAN: this run has not measured it. */
enum figure { FIGURE_STREAM, FIGURE_SYNCS, FIGURE_P50, FIGURE_P99, FIGURE_COUNT_ };

static const char *figure_name(enum figure figure, enum kind kind) {
        switch (figure) {
        case FIGURE_STREAM:
                return "MB/s";
        case FIGURE_SYNCS:
                return kind == KIND_CREATE ? "fsyncs/s" : "commits/s";
        case FIGURE_P50:
                return "sync p50";
        case FIGURE_P99:
                return "sync p99";
        case FIGURE_COUNT_:
                break;
        }
        return "";
}

static double nanoseconds(uint64_t ns) {
        return ns == HISTOGRAM_NONE ? (double) NAN : (double) ns;
}

static double figure_of(const struct result *r, enum figure figure) {
        bool latencies = r->spec.kind == KIND_COMMIT || r->spec.kind == KIND_PULSE;

        if (!result_is_ok(r))
                return (double) NAN;
        switch (figure) {
        case FIGURE_STREAM:
                return r->stream_bytes_per_second / 1e6;
        case FIGURE_SYNCS:
                return r->syncs_per_second;
        case FIGURE_P50:
                return latencies ? nanoseconds(r->sync.p50_ns) : (double) NAN;
        case FIGURE_P99:
                return latencies ? nanoseconds(r->sync.p99_ns) : (double) NAN;
        case FIGURE_COUNT_:
                break;
        }
        return (double) NAN;
}

static void add_figure(struct strbuf *b, enum figure figure, double value) {
        if (figure == FIGURE_P50 || figure == FIGURE_P99)
                units_add_duration(b, (uint64_t) value);
        else
                report_add_number(b, value);
}

static int by_value(const void *a, const void *b) {
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

void compare_summarize(double *values, size_t n, struct compare_summary *ret) {
        double median;

        qsort(values, n, sizeof *values, by_value);
        median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
        *ret = (struct compare_summary) {
                .median = median,
                .min = values[0],
                .max = values[n - 1],
                .spread = median > 0 ? (values[n - 1] - values[0]) / median : 0,
        };
}

/* The summary of one figure of one test on one path. False where no run has it.
 * @values has room for every run. */
static bool summarize(const struct compare *c, size_t path, size_t test, enum figure figure, double *values,
                      struct compare_summary *ret) {
        size_t n = 0;

        for (size_t i = 0; i < c->run_count; i++) {
                const struct compare_run *run = &c->runs[i];

                if (run->path != path || run->test != test)
                        continue;

                double value = figure_of(&run->result, figure);

                if (isfinite(value))
                        values[n++] = value;
        }
        if (n == 0)
                return false;
        compare_summarize(values, n, ret);
        return true;
}

static const struct result *any_result(const struct compare *c, size_t test) {
        for (size_t i = 0; i < c->run_count; i++)
                if (c->runs[i].test == test)
                        return &c->runs[i].result;
        return NULL;
}

/* "485", or a dash where nothing was measured. */
static void add_cell(struct table *t, enum figure figure, bool known, double value) {
        struct strbuf b;

        strbuf_init(&b);
        if (known)
                add_figure(&b, figure, value);
        else
                strbuf_add(&b, "–");
        table_add(t, &b);
}

static void add_percent(struct table *t, bool known, double share) {
        struct strbuf b;

        strbuf_init(&b);
        if (known) {
                report_add_number(&b, share * 100);
                strbuf_add(&b, " %");
        }
        table_add(t, &b);
}

static void add_ratio(struct table *t, bool known, double ratio) {
        struct strbuf b;

        strbuf_init(&b);
        if (known) {
                strbuf_add(&b, "×");
                report_add_number(&b, ratio);
        }
        table_add(t, &b);
}

/* A, B, … Z, then their numbers: paths are too long for columns. */
static void add_label(struct strbuf *b, size_t path) {
        if (path < 26)
                strbuf_add_char(b, (char) ('A' + path));
        else
                strbuf_printf(b, "%zu", path + 1);
}

/* --- one path --------------------------------------------------------------- */

#define SPREAD_COLUMNS 6

static void add_spread_rows(struct table *t, const struct compare *c, size_t path, double *values) {
        for (size_t test = 0; test < c->test_count; test++) {
                const struct result *any = any_result(c, test);
                const char *name = c->tests[test];

                for (unsigned figure = 0; any && figure < FIGURE_COUNT_; figure++) {
                        struct compare_summary s;

                        if (!summarize(c, path, test, (enum figure) figure, values, &s))
                                continue;
                        table_add_text(t, name);
                        table_add_text(t, figure_name((enum figure) figure, any->spec.kind));
                        add_cell(t, (enum figure) figure, true, s.median);
                        add_cell(t, (enum figure) figure, true, s.min);
                        add_cell(t, (enum figure) figure, true, s.max);
                        add_percent(t, true, s.spread);
                        name = "";
                }
        }
}

static int add_spread(struct strbuf *b, const struct compare *c, size_t path, double *values) {
        static const char *const head[SPREAD_COLUMNS] = { "", "", "median", "min", "max", "spread" };
        struct table *t;
        struct strbuf label;
        int r = table_new(&t, SPREAD_COLUMNS);

        if (r < 0)
                return r;
        strbuf_init(&label);
        if (c->path_count > 1) {
                strbuf_add(b, "\n");
                add_label(&label, path);
        }
        table_add(t, &label);
        for (size_t i = 1; i < SPREAD_COLUMNS; i++)
                table_add_text(t, head[i]);
        add_spread_rows(t, c, path, values);
        table_write(t, b, 2, "  ");
        table_free(t);
        return 0;
}

/* --- several paths ---------------------------------------------------------- */

static void add_legend(struct strbuf *b, const struct compare *c) {
        for (size_t i = 0; i < c->path_count; i++) {
                strbuf_add(b, "  ");
                add_label(b, i);
                strbuf_add(b, "  ");
                report_add_printable(b, c->paths[i]);
                if (c->fstypes[i][0] != '\0')
                        strbuf_printf(b, " (%s)", c->fstypes[i]);
                strbuf_add(b, "\n");
        }
        strbuf_add(b, "\n");
}

/* One figure of one test: two cells a path, the value and its ratio to the first path's. */
static void add_ratio_row(struct table *t, const struct compare *c, size_t test, enum figure figure, double *values,
                          const char *name, enum kind kind) {
        struct compare_summary first = { 0 }, s = { 0 };
        bool first_known = false;

        table_add_text(t, name);
        table_add_text(t, figure_name(figure, kind));
        for (size_t path = 0; path < c->path_count; path++) {
                bool known = summarize(c, path, test, figure, values, &s);

                add_cell(t, figure, known, known ? s.median : 0);
                if (path == 0) {
                        first_known = known && s.median > 0;
                        first = s;
                } else {
                        add_ratio(t, known && first_known, known && first_known ? s.median / first.median : 0);
                }
        }
}

static bool any_path_has(const struct compare *c, size_t test, enum figure figure, double *values) {
        struct compare_summary s;

        for (size_t path = 0; path < c->path_count; path++)
                if (summarize(c, path, test, figure, values, &s))
                        return true;
        return false;
}

static void add_ratio_head(struct table *t, const struct compare *c) {
        table_add_text(t, "");
        table_add_text(t, "");
        for (size_t path = 0; path < c->path_count; path++) {
                struct strbuf label;

                strbuf_init(&label);
                add_label(&label, path);
                table_add(t, &label);
                if (path > 0)
                        table_add_text(t, "");
        }
}

static int add_ratios(struct strbuf *b, const struct compare *c, double *values) {
        struct table *t;
        int r = table_new(&t, 2 + 2 * c->path_count - 1);

        if (r < 0)
                return r;
        add_legend(b, c);
        add_ratio_head(t, c);
        for (size_t test = 0; test < c->test_count; test++) {
                const struct result *any = any_result(c, test);
                const char *name = c->tests[test];

                for (unsigned figure = 0; any && figure < FIGURE_COUNT_; figure++) {
                        if (!any_path_has(c, test, (enum figure) figure, values))
                                continue;
                        add_ratio_row(t, c, test, (enum figure) figure, values, name, any->spec.kind);
                        name = "";
                }
        }
        table_write(t, b, 2, "  ");
        table_free(t);
        return 0;
}

static void add_failures(struct strbuf *b, const struct compare *c) {
        size_t failed = 0;

        for (size_t i = 0; i < c->run_count; i++)
                if (!result_is_ok(&c->runs[i].result))
                        failed++;
        if (failed > 0)
                strbuf_printf(b, "  %zu of %zu runs measured nothing, and are left out\n", failed, c->run_count);
}

void compare_add(struct strbuf *b, const struct compare *c) {
        double *values;
        int r = 0;

        if (c->run_count == 0)
                return;
        values = malloc(c->run_count * sizeof *values);
        if (!values) {
                b->error = -ENOMEM;
                return;
        }
        if (c->rounds > 1)
                strbuf_printf(b, "\nMedians of %u rounds\n", c->rounds);
        else
                strbuf_add(b, "\nCompared\n");
        if (c->path_count > 1)
                r = add_ratios(b, c, values);
        for (size_t path = 0; path < c->path_count && r == 0 && (c->rounds > 1 || c->path_count == 1); path++)
                r = add_spread(b, c, path, values);
        if (r < 0)
                b->error = r;
        add_failures(b, c);
        free(values);
}
