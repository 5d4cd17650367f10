/*
 * options - the options of `syncprobe run`, and the tests they ask for.
 *
 * The options for a test's parameters are made from core/spec.h's table of keys,
 * so that they bear the same names and take the same values as the
 * configuration. Pure but for getopt's own state; nothing blocks or allocates,
 * except the help text (strbuf).
 */
#ifndef SYNCPROBE_CLI_OPTIONS_H
#define SYNCPROBE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/spec.h"
#include "core/strbuf.h"
#include "core/verdict.h"

enum output { OUTPUT_REPORT, OUTPUT_JSON, OUTPUT_DD };

#define OPTIONS_REPEAT_MAX 10000
#define OPTIONS_ERROR_BYTES (SPEC_ERROR_BYTES + 64)

struct options {
        bool help;
        bool kind_given;
        enum kind kind;
        const char *values[SPEC_KEY_COUNT_]; /* as given; owned by argv; NULL: not given */
        enum output output;
        bool progress;
        unsigned repeat;
        uint64_t min_free_bytes; /* 0: not asked for */
        uint32_t accepted;       /* CODE_BIT()s of core/verdict.h */
        char **paths;            /* in argv */
        size_t path_count;
};

/* @argv[0] is the subcommand's name. Reorders @argv. Returns 0, or -EINVAL with a
 * sentence in @error[OPTIONS_ERROR_BYTES]. With ret->help, nothing else was looked at. */
int options_parse(struct options *ret, int argc, char **argv, char *error);

void options_add_help(struct strbuf *b);

/* The tests to run on each path, in order. */
#define PLAN_MAX 4

struct planned {
        struct spec spec;
        const char *name; /* static */
};

struct plan {
        struct planned tests[PLAN_MAX];
        size_t count;
};

/* Returns 0, or -EINVAL with a sentence in @error[OPTIONS_ERROR_BYTES]. */
int plan_make(struct plan *ret, const struct options *o, char *error);

#endif
