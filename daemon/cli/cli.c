/*
 * The subcommands; see cli/cli.h.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "cli/explain.h"
#include "cli/run.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

static const char usage[] =
        "Usage: syncprobe run [OPTION...] PATH...\n"
        "       syncprobe explain [--json] PATH...\n"
        "       syncprobe version\n"
        "       syncprobe help\n";

static int print(FILE *to, const char *text) {
        if (fputs(text, to) < 0 || fflush(to) != 0)
                return CLI_FAILED;
        return CLI_OK;
}

static int help_main(int argc, char **argv) {
        (void) argc;
        (void) argv;
        return print(stdout,
                     "Usage: syncprobe COMMAND ...\n"
                     "\n"
                     "Tells how long storage takes to make a write durable.\n"
                     "\n"
                     "  run [OPTION...] PATH...  test the file systems of these directories now\n"
                     "  explain [--json] PATH... show what lies under them, and what a test there can tell\n"
                     "  version                  print the version\n"
                     "  help                     print this text\n"
                     "\n"
                     "syncprobe COMMAND --help tells a command's options; syncprobe(1) tells the rest.\n");
}

static int version_main(int argc, char **argv) {
        (void) argc;
        (void) argv;
        return print(stdout, "syncprobe " PACKAGE_VERSION "\n");
}

static const struct command {
        const char *name, *option;
        int (*main)(int argc, char **argv);
        int takes_arguments;
} commands[] = {
        { "run", NULL, run_main, 1 },
        { "explain", NULL, explain_main, 1 },
        { "version", "--version", version_main, 0 },
        { "help", "--help", help_main, 0 },
};

int cli_main(int argc, char **argv) {
        if (argc < 2) {
                (void) print(stderr, usage);
                return CLI_USAGE;
        }
        for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
                const struct command *c = &commands[i];

                if (strcmp(argv[1], c->name) != 0 && (!c->option || strcmp(argv[1], c->option) != 0))
                        continue;
                if (!c->takes_arguments && argc > 2) {
                        /* "syncprobe version --help" is a way to ask, too. */
                        if (argc == 3 && strcmp(argv[2], "--help") == 0)
                                return help_main(0, NULL);
                        fprintf(stderr, "syncprobe: %s takes no arguments\n", argv[1]);
                        return CLI_USAGE;
                }
                return c->main(argc - 1, argv + 1);
        }
        fprintf(stderr, "syncprobe: no such command: %s\n", argv[1]);
        (void) print(stderr, usage);
        return CLI_USAGE;
}
