/*
 * histogram - latencies in log-linear buckets, with their exact extremes.
 *
 * The scheme of fio (stat.h, "struct io_u_plat"): every power of two is cut
 * into 2^HISTOGRAM_SUB_BITS = 64 equal sub-buckets; below 128 ns each
 * nanosecond has its own. A bucket that begins at m * 2^s (64 <= m < 128) is
 * 2^s wide, and its midpoint is reported, so the error is at most
 * 2^(s-1) / (64 * 2^s) = 1/128 of the value. Minimum, maximum, sum and count
 * are exact, and two histograms merge without loss.
 *
 * A plain struct without pointers, so that it can live in memory shared by
 * two processes and be copied. Not locked: one writer. Units: nanoseconds.
 * Nothing here allocates, fails or blocks.
 */
#ifndef SYNCPROBE_CORE_HISTOGRAM_H
#define SYNCPROBE_CORE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS 6
/* Above this (78 hours) values share the last bucket; sum and maximum stay exact. */
#define HISTOGRAM_TOP_BITS 48
#define HISTOGRAM_BUCKETS \
        (((HISTOGRAM_TOP_BITS - 1 - HISTOGRAM_SUB_BITS) << HISTOGRAM_SUB_BITS) + (2 << HISTOGRAM_SUB_BITS))

#define HISTOGRAM_NONE UINT64_MAX /* a quantile or extreme that is not known */

struct histogram {
        uint64_t samples;
        uint64_t sum_ns;
        uint64_t min_ns; /* HISTOGRAM_NONE while empty */
        uint64_t max_ns; /* 0 while empty */
        uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* What is told of a histogram: every member in ns, or HISTOGRAM_NONE. */
struct histogram_summary {
        uint64_t samples;
        uint64_t sum_ns;
        uint64_t min_ns, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
};

void histogram_reset(struct histogram *h);
void histogram_merge(struct histogram *into, const struct histogram *from);

static inline size_t histogram_index(uint64_t ns) {
        if (ns < (1u << HISTOGRAM_SUB_BITS))
                return (size_t) ns;
        if (ns >> HISTOGRAM_TOP_BITS)
                return HISTOGRAM_BUCKETS - 1;
        unsigned shift = 63u - (unsigned) __builtin_clzll(ns) - HISTOGRAM_SUB_BITS;
        return ((size_t) shift << HISTOGRAM_SUB_BITS) + (size_t) (ns >> shift);
}

/* Inline, since it stands inside the loop that is being timed. */
static inline void histogram_add(struct histogram *h, uint64_t ns) {
        h->samples++;
        h->sum_ns += ns;
        if (ns < h->min_ns)
                h->min_ns = ns;
        if (ns > h->max_ns)
                h->max_ns = ns;
        h->buckets[histogram_index(ns)]++;
}

/* First value of a bucket, and the midpoint that stands for it. */
uint64_t histogram_bucket_start_ns(size_t index);
uint64_t histogram_bucket_middle_ns(size_t index);

/*
 * The smallest value that at least the share @q (0 < q < 1) of the samples do
 * not exceed, to the error above, and never outside [min, max]. HISTOGRAM_NONE
 * where there are fewer than 1/(1-q) samples: such a quantile would be the
 * maximum under another name.
 */
uint64_t histogram_quantile_ns(const struct histogram *h, double q);

/* How many samples are at or below @ns, by the midpoints of their buckets. */
uint64_t histogram_count_up_to(const struct histogram *h, uint64_t ns);

void histogram_summarize(const struct histogram *h, struct histogram_summary *ret);

/*
 * Whether a histogram that another process wrote hangs together: the buckets
 * add up to the count, and the extremes and the sum fit them. A histogram that
 * is still being written to need not.
 */
bool histogram_is_consistent(const struct histogram *h);

#endif
