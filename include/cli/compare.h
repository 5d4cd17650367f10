/*
 * compare - several runs of the same tests: medians, spreads, ratios. Pure.
 */
#ifndef SYNCPROBE_CLI_COMPARE_H
#define SYNCPROBE_CLI_COMPARE_H

#include <stddef.h>

#include "core/result.h"
#include "core/strbuf.h"

/* One finished run: which path and test (as numbers), and its result. */
struct compare_run {
        size_t path, test;
        struct result result;
};

struct compare {
        const char *const *paths;   /* as shown */
        const char *const *fstypes;
        size_t path_count;
        const char *const *tests;   /* their names */
        size_t test_count;
        const struct compare_run *runs; /* in any order */
        size_t run_count;
        unsigned rounds;                /* how often each test was to run */
};

/* Of @n > 0 values, which it sorts. */
struct compare_summary {
        double median, min, max;
        double spread; /* (max - min) / median; 0 where the median is */
};
void compare_summarize(double *values, size_t n, struct compare_summary *ret);

/*
 * Several paths: one table with a column for each, and its ratio to the first.
 * One path, or several rounds: each path's medians, extremes and spread. Runs
 * that measured nothing are left out and counted.
 */
void compare_add(struct strbuf *b, const struct compare *c);

#endif
