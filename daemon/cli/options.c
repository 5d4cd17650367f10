/*
 * The options of `syncprobe run`; see cli/options.h.
 */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"

/* getopt's numbers: the keys come first, as they stand in enum spec_key. Above
 * any character, so that optopt never looks like a short option. */
enum { FIRST_KEY = 0x100 };
enum other {
        OTHER_KIND = FIRST_KEY + SPEC_KEY_COUNT_,
        OTHER_REPEAT, OTHER_MIN_FREE, OTHER_ACCEPT, OTHER_JSON, OTHER_DD, OTHER_NO_PROGRESS, OTHER_HELP,
        OTHER_END_,
};

static const struct {
        const char *name;
        int argument;
        enum other number;
        const char *help;
} others[] = {
        { "kind", required_argument, OTHER_KIND, "stream, commit, create or pulse (default: the first three)" },
        { "repeat", required_argument, OTHER_REPEAT, "run everything so often; tells median and spread" },
        { "min-free", required_argument, OTHER_MIN_FREE, "write nothing that would leave less free space" },
        { "accept", required_argument, OTHER_ACCEPT, "vouch for a reason, such as host-cache-unseen; may be repeated" },
        { "json", no_argument, OTHER_JSON, "print the results as JSON" },
        { "dd", no_argument, OTHER_DD, "stream zeros as dd does, and print only dd's line" },
        { "no-progress", no_argument, OTHER_NO_PROGRESS, "draw no progress bar, on a terminal either" },
        { "help", no_argument, OTHER_HELP, "print this text" },
};

#define OTHER_COUNT (sizeof others / sizeof others[0])
#define NAME_BYTES 32

struct option_table {
        char names[SPEC_KEY_COUNT_][NAME_BYTES]; /* "max-rate" */
        struct option options[SPEC_KEY_COUNT_ + OTHER_COUNT + 1];
};

static void make_table(struct option_table *t) {
        for (size_t i = 0; i < SPEC_KEY_COUNT_; i++) {
                enum spec_key key = (enum spec_key) i;

                snprintf(t->names[i], NAME_BYTES, "%s", spec_key_name(key));
                for (char *c = t->names[i]; *c != '\0'; c++)
                        if (*c == '_')
                                *c = '-';
                t->options[i] = (struct option) {
                        .name = t->names[i],
                        .has_arg = spec_key_is_flag(key) ? optional_argument : required_argument,
                        .val = FIRST_KEY + (int) i,
                };
        }
        for (size_t i = 0; i < OTHER_COUNT; i++)
                t->options[SPEC_KEY_COUNT_ + i] = (struct option) {
                        .name = others[i].name,
                        .has_arg = others[i].argument,
                        .val = (int) others[i].number,
                };
        t->options[SPEC_KEY_COUNT_ + OTHER_COUNT] = (struct option) { 0 };
}

__attribute__((format(printf, 2, 3))) static int refuse(char *error, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(error, OPTIONS_ERROR_BYTES, format, arguments);
        va_end(arguments);
        return -EINVAL;
}

static int set_output(struct options *o, enum output output, char *error) {
        if (o->output != OUTPUT_REPORT && o->output != output)
                return refuse(error, "--json and --dd exclude each other");
        o->output = output;
        return 0;
}

static int set_repeat(struct options *o, const char *text, char *error) {
        uint64_t n = 0;

        if (units_parse_count(text, &n) < 0 || n < 1 || n > OPTIONS_REPEAT_MAX)
                return refuse(error, "--repeat takes a number from 1 to %d, not \"%s\"", OPTIONS_REPEAT_MAX, text);
        o->repeat = (unsigned) n;
        return 0;
}

static int add_accepted(struct options *o, const char *text, char *error) {
        enum code code;

        if (code_parse(text, &code) < 0 || !code_can_be_accepted(code))
                return refuse(error, "--accept takes controller-cache-unseen, host-cache-unseen, device-unseen, "
                                     "faster-than-medium or no-flush, not \"%.64s\"", text);
        o->accepted |= CODE_BIT(code);
        return 0;
}

static int set_other(struct options *o, enum other number, const char *text, char *error) {
        switch (number) {
        case OTHER_KIND:
                if (kind_parse(text, &o->kind) < 0)
                        return refuse(error, "--kind is stream, commit, create or pulse, not \"%s\"", text);
                o->kind_given = true;
                return 0;
        case OTHER_REPEAT:
                return set_repeat(o, text, error);
        case OTHER_MIN_FREE:
                if (units_parse_size(text, &o->min_free_bytes) < 0 || o->min_free_bytes == 0)
                        return refuse(error, "--min-free takes a size above zero, such as 10GiB, not \"%s\"", text);
                return 0;
        case OTHER_ACCEPT:
                return add_accepted(o, text, error);
        case OTHER_JSON:
                return set_output(o, OUTPUT_JSON, error);
        case OTHER_DD:
                return set_output(o, OUTPUT_DD, error);
        case OTHER_NO_PROGRESS:
                o->progress = false;
                return 0;
        case OTHER_HELP:
                o->help = true;
                return 0;
        case OTHER_END_:
                break;
        }
        return refuse(error, "no such option");
}

/* What getopt stumbled over. */
static int refuse_option(int c, char **argv, const struct option_table *t, char *error) {
        const char *name = NULL;

        for (const struct option *o = t->options; o->name; o++)
                if (o->val == optopt)
                        name = o->name;
        if (c == ':')
                return refuse(error, "--%s needs a value", name ? name : "?");
        if (name) /* known, so it was given a value that it does not take */
                return refuse(error, "--%s takes no value", name);
        if (optopt != 0)
                return refuse(error, "no such option: -%c", optopt);
        return refuse(error, "no such option, or not one alone: %.200s", argv[optind - 1]);
}

static int check_together(const struct options *o, char *error) {
        if (o->path_count == 0)
                return refuse(error, "which path? It takes at least one directory");
        for (size_t i = 0; i < o->path_count; i++)
                if (o->paths[i][0] == '\0')
                        return refuse(error, "an empty path");
        if (o->output != OUTPUT_DD)
                return 0;
        if (o->kind_given && o->kind != KIND_STREAM)
                return refuse(error, "--dd is for the kind stream");
        if (o->path_count > 1)
                return refuse(error, "--dd takes one path, not %zu", o->path_count);
        if (o->repeat > 1)
                return refuse(error, "--dd and --repeat exclude each other");
        return 0;
}

int options_parse(struct options *ret, int argc, char **argv, char *error) {
        struct options o = { .progress = true, .repeat = 1 };
        struct option_table table;
        int c, r;

        make_table(&table);
        optind = 0; /* glibc: from the beginning */
        opterr = 0;
        while ((c = getopt_long(argc, argv, ":", table.options, NULL)) != -1) {
                if (c == '?' || c == ':')
                        return refuse_option(c, argv, &table, error);
                if (c < FIRST_KEY + SPEC_KEY_COUNT_) {
                        o.values[c - FIRST_KEY] = optarg ? optarg : "true";
                        continue;
                }
                r = set_other(&o, (enum other) c, optarg, error);
                if (r < 0)
                        return r;
                if (o.help) {
                        *ret = o;
                        return 0;
                }
        }
        o.paths = argv + optind;
        o.path_count = (size_t) (argc - optind);
        r = check_together(&o, error);
        if (r < 0)
                return r;
        *ret = o;
        return 0;
}

/* --- the plan ------------------------------------------------------------- */

static int refuse_orphan(enum spec_key key, char *error) {
        for (unsigned kind = 0; kind < KIND_COUNT_; kind++)
                if (spec_key_is_for(key, (enum kind) kind))
                        return refuse(error, "--%s is for the kind %s: add --kind %s", spec_key_name(key),
                                      kind_name((enum kind) kind), kind_name((enum kind) kind));
        return refuse(error, "--%s is for no kind", spec_key_name(key));
}

static bool is_one_kind(const struct options *o) {
        return o->kind_given || o->output == OUTPUT_DD;
}

static int add_test(struct plan *p, const struct options *o, enum kind kind, const char *data, const char *name,
                    char *error) {
        char why[SPEC_ERROR_BYTES];
        struct planned *t = &p->tests[p->count];
        int r = 0;

        spec_init(&t->spec, kind);
        for (unsigned i = 0; i < SPEC_KEY_COUNT_ && r == 0; i++)
                /* With a kind, a key that is not for it is an error; without, it is for others. */
                if (o->values[i] && (is_one_kind(o) || spec_key_is_for((enum spec_key) i, kind)))
                        r = spec_set(&t->spec, (enum spec_key) i, o->values[i], why);
        if (r == 0 && data)
                r = spec_set(&t->spec, SPEC_DATA, data, why);
        if (r == 0 && kind == KIND_PULSE) {
                if (!o->values[SPEC_COUNT] && !o->values[SPEC_DURATION])
                        r = spec_set(&t->spec, SPEC_COUNT, "10", why);
                if (r == 0 && !o->values[SPEC_PERIOD])
                        r = spec_set(&t->spec, SPEC_PERIOD, "1s", why);
        }
        if (r == 0 && o->output == OUTPUT_DD) {
                if (!o->values[SPEC_WRITEBACK])
                        r = spec_set(&t->spec, SPEC_WRITEBACK, "lazy", why);
                if (r == 0 && !o->values[SPEC_SIZE] && !o->values[SPEC_DURATION])
                        r = spec_set(&t->spec, SPEC_SIZE, "1GiB", why);
        }
        if (r == 0)
                r = spec_finish(&t->spec, why);
        if (r < 0)
                return refuse(error, "%s: %s", kind_name(kind), why);
        t->name = name ? name : spec_default_name(&t->spec);
        p->count++;
        return 0;
}

static int add_kind(struct plan *p, const struct options *o, enum kind kind, char *error) {
        int r;

        if (o->output == OUTPUT_DD)
                return add_test(p, o, kind, o->values[SPEC_DATA] ? NULL : "zero", NULL, error);
        if (kind != KIND_STREAM || o->values[SPEC_DATA])
                return add_test(p, o, kind, NULL, NULL, error);
        r = add_test(p, o, kind, "zero", "stream-zero", error);
        if (r == 0)
                r = add_test(p, o, kind, "random", "stream-random", error);
        return r;
}

int plan_make(struct plan *ret, const struct options *o, char *error) {
        static const enum kind all[] = { KIND_COMMIT, KIND_STREAM, KIND_CREATE };
        struct plan p = { .count = 0 };
        int r = 0;

        if (is_one_kind(o)) {
                r = add_kind(&p, o, o->kind_given ? o->kind : KIND_STREAM, error);
        } else {
                for (unsigned key = 0; key < SPEC_KEY_COUNT_; key++) {
                        bool taken = false;

                        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
                                taken = taken || spec_key_is_for((enum spec_key) key, all[i]);
                        if (o->values[key] && !taken)
                                return refuse_orphan((enum spec_key) key, error);
                }
                for (size_t i = 0; i < sizeof all / sizeof all[0] && r == 0; i++)
                        r = add_kind(&p, o, all[i], error);
        }
        if (r == 0)
                *ret = p;
        return r;
}

/* --- help ----------------------------------------------------------------- */

static void add_option(struct strbuf *b, const char *name, const char *value, const char *help) {
        char left[64];

        snprintf(left, sizeof left, "--%s%s", name, value);
        strbuf_printf(b, "  %-26s %s\n", left, help);
}

/* " (stream, commit)" */
static void add_kinds(struct strbuf *b, enum spec_key key) {
        const char *between = "";

        strbuf_add(b, "  [");
        for (unsigned kind = 0; kind < KIND_COUNT_; kind++)
                if (spec_key_is_for(key, (enum kind) kind)) {
                        strbuf_printf(b, "%s%s", between, kind_name((enum kind) kind));
                        between = " ";
                }
        strbuf_add(b, "]");
}

void options_add_help(struct strbuf *b) {
        struct option_table table;

        make_table(&table);
        strbuf_add(b, "Usage: syncprobe run [OPTION...] PATH...\n"
                      "\n"
                      "Tests the file system of each directory: small durable writes (commit), one\n"
                      "file from end to end with zeros and with random data (stream), and small new\n"
                      "files (create). Uses only files of its own, and removes them.\n"
                      "\n");
        for (size_t i = 0; i < OTHER_COUNT; i++)
                add_option(b, others[i].name, others[i].argument == no_argument ? "" : "=VALUE", others[i].help);
        strbuf_add(b, "\nParameters of the tests, and the kinds that have them:\n");
        for (size_t i = 0; i < SPEC_KEY_COUNT_; i++) {
                struct strbuf help;
                const char *text;

                strbuf_init(&help);
                strbuf_add(&help, spec_key_help((enum spec_key) i));
                add_kinds(&help, (enum spec_key) i);
                if (strbuf_finish(&help, &text) == 0)
                        add_option(b, table.names[i], spec_key_is_flag((enum spec_key) i) ? "" : "=VALUE", text);
                else
                        b->error = help.error;
                strbuf_done(&help);
        }
        strbuf_add(b, "\nSizes: 4096, 64KiB, 1.5G (powers of 1024), 10MB (powers of 1000).\n"
                      "Durations: 500ms, 10s, 5m.\n"
                      "Exit status: 0 done, 1 a test failed or could not run, 2 wrong use.\n");
}
