/*
 * `syncprobe run`; see cli/run.h.
 *
 * Rounds, then paths, then tests: with several paths, a round visits each in
 * turn, so that a change of the weather strikes all alike. Each path has its
 * worker for as long as the program runs.
 */
#include "cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/libexec.h"
#include "cli/cli.h"
#include "cli/compare.h"
#include "cli/interrupt.h"
#include "cli/judged.h"
#include "cli/options.h"
#include "cli/probe.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/screen.h"
#include "core/ddline.h"
#include "core/grounds.h"
#include "core/result_json.h"

struct run {
        struct options options;
        struct plan plan;
        struct screen screen;
        struct progress progress;
        struct interrupt interrupt;
        char *program;               /* owned: the worker's */
        struct probe **probes;       /* owned: one a path */
        struct compare_run *runs;    /* owned: all that have finished, in order */
        size_t run_count;
        struct histogram sync[PLAN_MAX]; /* of the path's runs now going on */
        bool failed;                 /* any test */
        int output_error;            /* the first -errno of writing to standard output */
};

static void out(struct run *run, struct strbuf *b) {
        int r = screen_write(&run->screen, stdout, b);

        if (r < 0 && run->output_error == 0)
                run->output_error = r;
}

static bool has_report(const struct run *run) {
        return run->options.output == OUTPUT_REPORT && run->options.repeat == 1;
}

/* --- what is shown while it runs ------------------------------------------- */

/* Without a report to stand in, a failure is told on standard error. */
static void tell_failure(struct run *run, const struct probe *p, const char *test, const struct result *r) {
        struct strbuf b;

        strbuf_init(&b);
        strbuf_add(&b, "syncprobe: ");
        report_add_printable(&b, probe_path(p));
        if (!probe_is_refused(p))
                strbuf_printf(&b, ": %s %s", test, outcome_name(r->outcome));
        strbuf_add(&b, ": ");
        result_add_failure(&b, r);
        strbuf_add(&b, "\n");
        (void) screen_write(&run->screen, stderr, &b);
}

static void show_line(struct run *run, const struct probe *p, unsigned round, const char *test,
                      const struct result *r) {
        struct strbuf b;

        strbuf_init(&b);
        strbuf_printf(&b, "%u/%u  ", round + 1, run->options.repeat);
        report_add_printable(&b, probe_path(p));
        strbuf_printf(&b, "  %s  ", test);
        report_add_line(&b, r);
        strbuf_add(&b, "\n");
        out(run, &b);
}

/* The whole report on a path, whose @n runs begin at @done: the verdict leads it. */
static void show_report(struct run *run, const struct probe *p, const struct compare_run *done, size_t n) {
        const struct planned *tests = run->plan.tests;
        struct report_item items[PLAN_MAX];
        struct strbuf b;

        for (size_t i = 0; i < n; i++)
                items[i] = (struct report_item) {
                        .name = tests[done[i].test].name,
                        .result = &done[i].result,
                        .sync = &run->sync[done[i].test],
                };
        strbuf_init(&b);
        if (done->path > 0)
                strbuf_add(&b, "\n");
        report_add_header(&b, probe_path(p), probe_fstype(p), probe_stack(p), run->screen.bold);
        judged_add(&b, items, n, run->screen.bold);
        for (size_t i = 0; i < n;) {
                size_t together = i + 1 < n && report_is_pair(&items[i].result->spec, &items[i + 1].result->spec) ? 2 : 1;

                report_add_block(&b, &items[i], together, run->screen.bold);
                i += together;
        }
        out(run, &b);
}

static void show_dd(const struct result *r) {
        const struct screen as_it_is = { .utf8 = true }; /* the words are in the locale's character set */
        struct ddline_words words;
        struct strbuf b;

        screen_dd_words(&words, r->written_bytes);
        strbuf_init(&b);
        ddline_add_words(&b, r->written_bytes, r->elapsed_ns, &words);
        strbuf_add(&b, "\n");
        (void) screen_write(&as_it_is, stderr, &b);
}

/* What dd never told. */
static void tell_suspicion(struct run *run, const struct result *r) {
        for (unsigned i = 0; i < CODE_COUNT_; i++) {
                struct strbuf b, text;
                const char *said;

                if ((r->judgement.codes & ~r->judgement.accepted & CODE_BIT(i)) == 0 ||
                    code_verdict((enum code) i) != VERDICT_SUSPECT)
                        continue;
                strbuf_init(&b);
                strbuf_init(&text);
                strbuf_printf(&b, "syncprobe: suspect: %s: ", code_name((enum code) i));
                grounds_add_text(&text, r, (enum code) i);
                if (strbuf_finish(&text, &said) == 0)
                        report_add_printable(&b, said);
                strbuf_add(&b, "\n");
                strbuf_done(&text);
                (void) screen_write(&run->screen, stderr, &b);
        }
}

/* What a run shows as soon as it has finished; a report waits for all of the path's. */
static void show(struct run *run, const struct probe *p, unsigned round, size_t test) {
        const struct result *r = &run->runs[run->run_count - 1].result;
        const char *name = run->plan.tests[test].name;

        if (probe_is_refused(p)) {
                if (test == 0)
                        tell_failure(run, p, name, r);
        } else if (run->options.output == OUTPUT_DD && result_is_ok(r)) {
                show_dd(r);
                tell_suspicion(run, r);
        } else if (has_report(run)) {
                return;
        } else if (run->options.output == OUTPUT_REPORT) {
                show_line(run, p, round, name, r);
        } else if (!result_is_ok(r)) {
                tell_failure(run, p, name, r);
        }
}

/* --- what is shown at the end ------------------------------------------------ */

static int show_json(struct run *run) {
        struct result_json_item *items = calloc(run->run_count > 0 ? run->run_count : 1, sizeof *items);
        const struct screen bytes = { .utf8 = true }; /* JSON is UTF-8, whatever the locale */
        struct strbuf b;

        if (!items)
                return -ENOMEM;
        for (size_t i = 0; i < run->run_count; i++)
                items[i] = (struct result_json_item) {
                        .result = &run->runs[i].result,
                        .target = probe_path(run->probes[run->runs[i].path]),
                        .test = run->plan.tests[run->runs[i].test].name,
                };
        strbuf_init(&b);
        result_json_add_document(&b, items, run->run_count);
        free(items);

        int r = screen_write(&bytes, stdout, &b);

        if (r < 0 && run->output_error == 0)
                run->output_error = r;
        return 0;
}

static int show_comparison(struct run *run) {
        size_t paths = run->options.path_count;
        const char **names = calloc(2 * paths, sizeof *names);
        const char *tests[PLAN_MAX];
        struct strbuf b;

        if (!names)
                return -ENOMEM;
        for (size_t i = 0; i < paths; i++) {
                names[i] = probe_path(run->probes[i]);
                names[paths + i] = probe_fstype(run->probes[i]);
        }
        for (size_t i = 0; i < run->plan.count; i++)
                tests[i] = run->plan.tests[i].name;

        const struct compare c = {
                .paths = names,
                .fstypes = names + paths,
                .path_count = paths,
                .tests = tests,
                .test_count = run->plan.count,
                .runs = run->runs,
                .run_count = run->run_count,
                .rounds = run->options.repeat,
        };

        strbuf_init(&b);
        compare_add(&b, &c);
        free(names);
        out(run, &b);
        return 0;
}

static int show_end(struct run *run, bool whole) {
        if (run->options.output == OUTPUT_JSON)
                return show_json(run);
        if (run->options.output == OUTPUT_REPORT && whole && (run->options.repeat > 1 || run->options.path_count > 1))
                return show_comparison(run);
        return 0;
}

/* --- running ----------------------------------------------------------------- */

static int run_path(struct run *run, unsigned round, size_t path) {
        struct probe *p = run->probes[path];
        const struct compare_run *first = &run->runs[run->run_count];
        size_t finished = 0;
        int r = 0;

        for (size_t test = 0; test < run->plan.count && r == 0; test++) {
                const struct planned *t = &run->plan.tests[test];
                struct compare_run *done = &run->runs[run->run_count];

                done->path = path;
                done->test = test;
                r = probe_run(p, &t->spec, t->name, run->options.min_free_bytes, &done->result, &run->sync[test]);
                run->run_count++;
                if (!result_is_ok(&done->result))
                        run->failed = true;
                if (r == -ECANCELED)
                        break;
                show(run, p, round, test);
                finished++;
        }
        if (has_report(run) && !probe_is_refused(p) && finished > 0)
                show_report(run, p, first, finished);
        return r;
}

static int run_all(struct run *run) {
        int r = 0;

        for (unsigned round = 0; round < run->options.repeat && r == 0; round++)
                for (size_t path = 0; path < run->options.path_count && r == 0; path++)
                        r = run_path(run, round, path);
        return r;
}

static int set_up(struct run *run) {
        size_t paths = run->options.path_count;
        int r = libexec_find("syncprobe-worker", &run->program);

        if (r < 0)
                return r;
        r = interrupt_init(&run->interrupt);
        if (r < 0)
                return r;
        run->probes = calloc(paths, sizeof(struct probe *));
        run->runs = calloc(paths * run->plan.count * run->options.repeat, sizeof *run->runs);
        if (!run->probes || !run->runs)
                return -ENOMEM;
        for (size_t i = 0; i < paths && r == 0; i++)
                r = probe_new(&run->probes[i], run->program, run->options.paths[i], &run->interrupt, &run->progress);
        for (size_t i = 0; i < paths && r == 0; i++)
                probe_accept(run->probes[i], run->options.accepted);
        return r;
}

static void tear_down(struct run *run) {
        for (size_t i = 0; run->probes && i < run->options.path_count; i++)
                probe_free(run->probes[i]);
        for (size_t i = 0; i < run->run_count; i++)
                result_done(&run->runs[i].result);
        free(run->probes);
        free(run->runs);
        free(run->program);
        interrupt_done(&run->interrupt);
}

/* The exit status of what has been set up; or -errno where that failed. */
static int run_and_show(struct run *run) {
        int r = set_up(run);

        if (r == -ENOENT) {
                fputs("syncprobe: syncprobe-worker is not found, neither in $SYNCPROBE_LIBEXEC nor beside syncprobe nor "
                      "where it is installed\n", stderr);
                return CLI_FAILED;
        }
        if (r == 0)
                r = run_all(run);
        if (r == 0 || r == -EINTR || r == -ECANCELED) {
                int shown = show_end(run, r == 0);

                if (shown < 0)
                        r = shown;
        }
        if (r == -EINTR || r == -ECANCELED)
                return CLI_SIGNAL + run->interrupt.signal;
        if (r < 0)
                return r;
        return run->failed ? CLI_FAILED : CLI_OK;
}

static int refuse(const char *error) {
        fprintf(stderr, "syncprobe run: %s\nsyncprobe run --help tells more\n", error);
        return CLI_USAGE;
}

int run_main(int argc, char **argv) {
        char error[OPTIONS_ERROR_BYTES];
        struct run *run = calloc(1, sizeof *run);
        int r;

        if (!run) {
                fputs("syncprobe: out of memory\n", stderr);
                return CLI_FAILED;
        }
        run->interrupt.fd = -1;
        screen_init(&run->screen);
        r = options_parse(&run->options, argc, argv, error);
        if (r == 0 && !run->options.help)
                r = plan_make(&run->plan, &run->options, error);
        if (r < 0) {
                r = refuse(error);
        } else if (run->options.help) {
                struct strbuf b;

                strbuf_init(&b);
                options_add_help(&b);
                out(run, &b);
                r = CLI_OK;
        } else {
                progress_init(&run->progress, run->options.progress, run->screen.utf8);
                r = run_and_show(run);
                tear_down(run);
        }
        if (r >= 0 && run->output_error < 0)
                r = run->output_error;
        free(run);
        if (r < 0) {
                fprintf(stderr, "syncprobe: %s\n", strerror(-r));
                return CLI_FAILED;
        }
        return r;
}
