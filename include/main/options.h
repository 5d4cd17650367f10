/*
 * options - syncprobed's command line.
 */
#ifndef SYNCPROBE_MAIN_OPTIONS_H
#define SYNCPROBE_MAIN_OPTIONS_H

#include <stdbool.h>

struct options {
        const char *config; /* never NULL */
        const char *state;  /* NULL: keep none */
        bool check;
};

/* 0: go on; otherwise the status to exit with (*ret_status), after a usage
 * error, --help or --version, whose text was printed: returns 1. */
int options_parse(struct options *ret, int argc, char **argv, int *ret_status);

#endif
