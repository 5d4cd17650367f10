/*
 * The fixed edges of the exported histogram; see core/buckets.h.
 */
#include "core/buckets.h"

#define US(n) ((uint64_t) (n) * 1000)
#define MS(n) US((n) * 1000)

static const struct {
        uint64_t ns;
        const char *text;
} edges[BUCKETS_EDGES] = {
        { US(25), "2.5e-05" }, { US(50), "5e-05" },    { US(100), "0.0001" },    { US(250), "0.00025" },
        { US(500), "0.0005" }, { MS(1), "0.001" },     { MS(2), "0.002" },       { MS(4), "0.004" },
        { MS(8), "0.008" },    { MS(10), "0.01" },     { MS(16), "0.016" },      { MS(32), "0.032" },
        { MS(64), "0.064" },   { MS(128), "0.128" },   { MS(256), "0.256" },     { MS(512), "0.512" },
        { MS(1024), "1.024" }, { MS(2048), "2.048" },  { MS(4096), "4.096" },    { MS(8192), "8.192" },
        { MS(16384), "16.384" }, { MS(32768), "32.768" }, { MS(65536), "65.536" },
};

uint64_t buckets_edge_ns(unsigned i) {
        return edges[i].ns;
}

const char *buckets_edge_text(unsigned i) {
        return edges[i].text;
}

void buckets_add(struct buckets *b, const struct histogram *h) {
        unsigned edge = 0;

        for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
                if (h->buckets[i] == 0)
                        continue;

                uint64_t middle = histogram_bucket_middle_ns(i);

                /* One sample alone is known exactly: nothing is lost to the midpoint. */
                if (middle < h->min_ns)
                        middle = h->min_ns;
                if (middle > h->max_ns)
                        middle = h->max_ns;
                while (edge < BUCKETS_EDGES && middle > edges[edge].ns)
                        edge++;
                b->counts[edge] += h->buckets[i];
        }
        b->samples += h->samples;
        b->sum_ns += h->sum_ns;
}
