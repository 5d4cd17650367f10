/*
 * Latency histogram; see core/histogram.h for the scheme and its error bound.
 */
#include "core/histogram.h"

#include <string.h>

void histogram_reset(struct histogram *h) {
        memset(h, 0, sizeof *h);
        h->min_ns = HISTOGRAM_NONE;
}

void histogram_merge(struct histogram *into, const struct histogram *from) {
        into->samples += from->samples;
        into->sum_ns += from->sum_ns;
        if (from->min_ns < into->min_ns)
                into->min_ns = from->min_ns;
        if (from->max_ns > into->max_ns)
                into->max_ns = from->max_ns;
        for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
                into->buckets[i] += from->buckets[i];
}

static unsigned bucket_shift(size_t index) {
        return index < (2u << HISTOGRAM_SUB_BITS) ? 0 : (unsigned) (index >> HISTOGRAM_SUB_BITS) - 1;
}

uint64_t histogram_bucket_start_ns(size_t index) {
        unsigned shift = bucket_shift(index);

        return (uint64_t) (index - ((size_t) shift << HISTOGRAM_SUB_BITS)) << shift;
}

uint64_t histogram_bucket_middle_ns(size_t index) {
        return histogram_bucket_start_ns(index) + (UINT64_C(1) << bucket_shift(index)) / 2;
}

static uint64_t bucket_middle_within(const struct histogram *h, size_t index) {
        uint64_t middle = histogram_bucket_middle_ns(index);

        /* The first and last bucket hold the extremes, which are known exactly,
         * and a quantile beyond them would puzzle every reader. */
        if (middle < h->min_ns)
                return h->min_ns;
        if (middle > h->max_ns)
                return h->max_ns;
        return middle;
}

/* ceil(q * samples), without a rounding error of q pushing an exact product up. */
static uint64_t quantile_rank(uint64_t samples, double q) {
        double exact = q * (double) samples;
        uint64_t rank = (uint64_t) exact;

        if (exact - (double) rank > 1e-9 * exact)
                rank++;
        if (rank < 1)
                return 1;
        return rank < samples ? rank : samples;
}

uint64_t histogram_quantile_ns(const struct histogram *h, double q) {
        if ((double) h->samples * (1 - q) < 1 - 1e-9)
                return HISTOGRAM_NONE;

        uint64_t rank = quantile_rank(h->samples, q), seen = 0;

        for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
                seen += h->buckets[i];
                if (seen >= rank)
                        return bucket_middle_within(h, i);
        }
        return h->max_ns;
}

uint64_t histogram_count_up_to(const struct histogram *h, uint64_t ns) {
        uint64_t count = 0;

        for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
                if (h->buckets[i] == 0)
                        continue;
                if (bucket_middle_within(h, i) > ns)
                        break;
                count += h->buckets[i];
        }
        return count;
}

void histogram_summarize(const struct histogram *h, struct histogram_summary *ret) {
        *ret = (struct histogram_summary) {
                .samples = h->samples,
                .sum_ns = h->sum_ns,
                .min_ns = h->samples > 0 ? h->min_ns : HISTOGRAM_NONE,
                .mean_ns = h->samples > 0 ? h->sum_ns / h->samples : HISTOGRAM_NONE,
                .p50_ns = histogram_quantile_ns(h, 0.5),
                .p90_ns = histogram_quantile_ns(h, 0.9),
                .p99_ns = histogram_quantile_ns(h, 0.99),
                .p999_ns = histogram_quantile_ns(h, 0.999),
                .max_ns = h->samples > 0 ? h->max_ns : HISTOGRAM_NONE,
        };
}

bool histogram_is_consistent(const struct histogram *h) {
        uint64_t count = 0;
        size_t first = HISTOGRAM_BUCKETS, last = 0;

        for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
                if (h->buckets[i] == 0)
                        continue;
                if (h->buckets[i] > h->samples - count)
                        return false;
                count += h->buckets[i];
                if (first == HISTOGRAM_BUCKETS)
                        first = i;
                last = i;
        }
        if (count != h->samples)
                return false;
        if (count == 0)
                return h->sum_ns == 0 && h->max_ns == 0 && h->min_ns == HISTOGRAM_NONE;
        if (h->min_ns > h->max_ns || histogram_index(h->min_ns) != first || histogram_index(h->max_ns) != last)
                return false;

        uint64_t mean = h->sum_ns / count;

        return mean >= h->min_ns && mean <= h->max_ns;
}
