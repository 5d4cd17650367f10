/*
 * `syncprobe explain`; see cli/explain.h.
 *
 * The path is looked up by a worker, and the stack mapped by another child, as for
 * a run: so a dead storage hangs them, and Ctrl-C works here.
 */
#include "cli/explain.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/libexec.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/probe.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/screen.h"
#include "cli/stacktree.h"
#include "core/defaults.h"
#include "core/evidence_json.h"
#include "core/units.h"

static const char help[] =
        "Usage: syncprobe explain [--json] PATH...\n"
        "\n"
        "Shows what lies under each directory, down to the disks: file systems, volumes,\n"
        "caches; what a test there can show and what it cannot; and the default tests\n"
        "for such a storage. Writes nothing.\n"
        "\n"
        "  --json    print it as JSON\n"
        "  --help    print this text\n"
        "\n"
        "Exit status: 0 done, 1 a path cannot be tested, 2 wrong use.\n";

struct explain {
        bool json;
        struct screen screen;
        struct progress progress;
        struct interrupt interrupt;
        char *program;    /* owned */
        struct stack_json_item *items; /* owned, their stacks too: what has been found, for JSON */
        size_t n_items;
        bool failed;
};

static void add_defaults(struct strbuf *b, const struct stack *s) {
        struct default_test tests[DEFAULTS_MAX];
        size_t n = defaults_for(s, tests);

        strbuf_printf(b, "\nDefault tests (%s):\n", medium_text(stack_medium(s)));
        for (size_t i = 0; i < n; i++) {
                strbuf_printf(b, "  %-7s every ", kind_name(tests[i].spec.kind));
                units_add_duration_exact(b, tests[i].spec.kind == KIND_PULSE ? tests[i].spec.period_ns : tests[i].interval_ns);
                strbuf_add(b, ": ");
                spec_add_description(b, &tests[i].spec);
                strbuf_add(b, "\n");
        }
        if (stack_medium(s) == MEDIUM_SHARED)
                strbuf_add(b, "  stream  off: it would load a storage that others share\n");
}

static int show(struct explain *e, const struct probe *p) {
        static const struct stack unknown = { .n_nodes = 0 };
        const struct stack *s = probe_stack(p) ? probe_stack(p) : &unknown;
        struct strbuf b;

        strbuf_init(&b);
        report_add_header(&b, probe_path(p), probe_fstype(p), s, e->screen.bold);
        strbuf_add(&b, "\n");
        stacktree_add(&b, s);
        if (s->mount_point[0] != '\0') {
                strbuf_add(&b, "mounted at ");
                report_add_printable(&b, s->mount_point);
                strbuf_add(&b, ", with ");
                report_add_printable(&b, s->options);
                strbuf_add(&b, "\n");
        }
        if (s->remark[0] != '\0') {
                strbuf_add(&b, "not complete: ");
                report_add_printable(&b, s->remark);
                strbuf_add(&b, "\n");
        }
        strbuf_add(&b, "\n");
        stacktree_add_sight(&b, s, 0, "");
        add_defaults(&b, s);
        return screen_write(&e->screen, stdout, &b);
}

static void tell_failure(const struct explain *e, const struct probe *p, const struct result *r) {
        struct strbuf b;

        strbuf_init(&b);
        strbuf_add(&b, "syncprobe: ");
        report_add_printable(&b, probe_path(p));
        strbuf_add(&b, ": ");
        result_add_failure(&b, r);
        strbuf_add(&b, "\n");
        (void) screen_write(&e->screen, stderr, &b);
}

/* 0 (told, also a failure); or -errno, -EINTR and -ECANCELED at a signal. */
static int explain_path(struct explain *e, const char *path, bool first) {
        struct probe *p;
        struct result why;
        int r = probe_new(&p, e->program, path, &e->interrupt, &e->progress);

        if (r < 0)
                return r;
        r = probe_look(p, &why);
        if (r == -ENODATA) {
                tell_failure(e, p, &why);
                e->failed = true;
                r = 0;
        } else if (r == 0 && e->json) {
                e->items[e->n_items++] = (struct stack_json_item) { .path = path, .stack = stack_ref(probe_stack(p)) };
        } else if (r == 0) {
                if (!first)
                        (void) fputs("\n", stdout);
                r = show(e, p);
        }
        probe_free(p);
        return r;
}

static int show_json(const struct explain *e) {
        const struct screen bytes = { .utf8 = true }; /* JSON is UTF-8, whatever the locale */
        struct strbuf b;

        strbuf_init(&b);
        stack_json_add_document(&b, e->items, e->n_items);
        return screen_write(&bytes, stdout, &b);
}

static int explain_paths(struct explain *e, char **paths, int n) {
        int r = libexec_find("syncprobe-worker", &e->program);

        if (r == 0)
                r = interrupt_init(&e->interrupt);
        e->items = calloc((size_t) n, sizeof *e->items);
        if (!e->items)
                r = -ENOMEM;
        for (int i = 0; i < n && r == 0; i++)
                r = explain_path(e, paths[i], i == 0);
        if (r == 0 && e->json)
                r = show_json(e);
        if (r == -EINTR || r == -ECANCELED)
                r = CLI_SIGNAL + e->interrupt.signal;
        else if (r == 0)
                r = e->failed ? CLI_FAILED : CLI_OK;
        for (size_t i = 0; e->items && i < e->n_items; i++)
                stack_unref(e->items[i].stack);
        free(e->items);
        free(e->program);
        interrupt_done(&e->interrupt);
        return r;
}

int explain_main(int argc, char **argv) {
        static const struct option options[] = {
                { "json", no_argument, NULL, 'j' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        struct explain e = { .interrupt = { .fd = -1 } };
        int c, r;

        optind = 0; /* glibc: from the beginning */
        while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
                if (c == 'h')
                        return fputs(help, stdout) < 0 || fflush(stdout) != 0 ? CLI_FAILED : CLI_OK;
                if (c != 'j')
                        return CLI_USAGE; /* getopt has said why */
                e.json = true;
        }
        if (optind == argc) {
                fputs("syncprobe explain: which path? It takes at least one directory\n", stderr);
                return CLI_USAGE;
        }
        for (int i = optind; i < argc; i++)
                if (argv[i][0] == '\0') {
                        fputs("syncprobe explain: an empty path\n", stderr);
                        return CLI_USAGE;
                }
        screen_init(&e.screen);
        progress_init(&e.progress, false, e.screen.utf8);
        r = explain_paths(&e, argv + optind, argc - optind);
        if (r == -ENOENT)
                fputs("syncprobe: syncprobe-worker is not found\n", stderr);
        else if (r < 0)
                fprintf(stderr, "syncprobe: %s\n", strerror(-r));
        return r < 0 ? CLI_FAILED : r;
}
