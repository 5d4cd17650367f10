/*
 * The command line; see main/options.h.
 */
#include "main/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_CONFIG SYSCONFDIR "/syncprobe/syncprobe.conf"

static const char usage[] =
        "usage: syncprobed [--config FILE] [--state DIR] [--foreground]\n"
        "       syncprobed --check [FILE]\n"
        "\n"
        "Runs scheduled fdatasync write tests and serves their results over HTTP.\n"
        "\n"
        "  --config FILE   the configuration (" DEFAULT_CONFIG ")\n"
        "  --state DIR     where state is kept; made (0700) if it is missing\n"
        "  --foreground    stay in the foreground, as it always does: for clarity in scripts\n"
        "  --check [FILE]  check the configuration, print what is in force, and exit:\n"
        "                  0 fine, 1 wrong, 2 wrong use\n"
        "  --help, --version\n";

int options_parse(struct options *ret, int argc, char **argv, int *ret_status) {
        static const struct option known[] = {
                { "config", required_argument, NULL, 'c' }, { "state", required_argument, NULL, 's' },
                { "check", no_argument, NULL, 'k' },        { "foreground", no_argument, NULL, 'f' },
                { "help", no_argument, NULL, 'h' },         { "version", no_argument, NULL, 'v' },
                { NULL, 0, NULL, 0 },
        };
        int option;

        *ret = (struct options) { .config = DEFAULT_CONFIG };
        *ret_status = EXIT_SUCCESS;
        while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
                switch (option) {
                case 'c':
                        ret->config = optarg;
                        break;
                case 's':
                        ret->state = optarg;
                        break;
                case 'k':
                        ret->check = true;
                        break;
                case 'f':
                        break;
                case 'h':
                        fputs(usage, stdout);
                        return 1;
                case 'v':
                        puts("syncprobed " VERSION);
                        return 1;
                default:
                        fputs("try syncprobed --help\n", stderr);
                        *ret_status = 2;
                        return 1;
                }
        }
        if (ret->check && optind + 1 == argc)
                ret->config = argv[optind++];
        if (optind < argc) {
                fprintf(stderr, "syncprobed: %s is not an option; try syncprobed --help\n", argv[optind]);
                *ret_status = 2;
                return 1;
        }
        return 0;
}
