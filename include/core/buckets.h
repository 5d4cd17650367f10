/*
 * buckets - a latency histogram as Prometheus has it: few, fixed edges.
 *
 * The edges contain every one of etcd's own (0.001 * 2^n up to 8.192) and its
 * published limit of 10 ms. Filled from core/histogram.h by the midpoint of each
 * fine bucket, so a sample nearer to an edge than 1/128 of it may be counted on the
 * other side. Counts grow for the life of the process. Pure.
 */
#ifndef SYNCPROBE_CORE_BUCKETS_H
#define SYNCPROBE_CORE_BUCKETS_H

#include <stdint.h>

#include "core/histogram.h"

#define BUCKETS_EDGES 23

struct buckets {
        uint64_t counts[BUCKETS_EDGES + 1]; /* not cumulative; the last one is above every edge */
        uint64_t samples;
        uint64_t sum_ns;
};

/* The i-th upper edge, and how it is written in both text formats ("2.5e-05"). */
uint64_t buckets_edge_ns(unsigned i);
const char *buckets_edge_text(unsigned i);

void buckets_add(struct buckets *b, const struct histogram *h);

#endif
