/*
 * A latency histogram in text; see cli/bars.h.
 */
#include "cli/bars.h"

#include "core/units.h"
#include "core/utf8.h"

/* Left-aligned blocks of one to eight eighths of a column. */
static const char *const eighths[] = { "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };

void bars_add_bar(struct strbuf *b, double share, unsigned columns) {
        unsigned filled = (unsigned) (share * columns * 8 + 0.5);

        if (share <= 0)
                return;
        if (filled == 0)
                filled = 1;
        strbuf_add_repeated(b, eighths[7], filled / 8);
        if (filled % 8 > 0)
                strbuf_add(b, eighths[filled % 8 - 1]);
}

static void add_right(struct strbuf *b, const char *text, size_t columns) {
        size_t width = utf8_columns(text);

        if (width < columns)
                strbuf_add_repeated(b, " ", columns - width);
        strbuf_add(b, text);
}

#define EDGE_COLUMNS 7 /* "12.3 ms" */

static void add_edge(struct strbuf *b, uint64_t ns) {
        struct strbuf edge;
        const char *text;

        strbuf_init(&edge);
        units_add_duration(&edge, ns);
        if (strbuf_finish(&edge, &text) == 0)
                add_right(b, text, EDGE_COLUMNS);
        else
                b->error = edge.error;
        strbuf_done(&edge);
}

struct rows {
        size_t first, width, count; /* in buckets */
        uint64_t samples[BARS_ROWS_MAX], most;
};

static void fill_rows(struct rows *rows, const struct histogram *h) {
        size_t first = histogram_index(h->min_ns), last = histogram_index(h->max_ns);

        *rows = (struct rows) { .width = 1 };
        while (last / rows->width - first / rows->width >= BARS_ROWS_MAX)
                rows->width *= 2;
        rows->first = first / rows->width;
        rows->count = last / rows->width - rows->first + 1;
        for (size_t i = first; i <= last; i++) {
                uint64_t *samples = &rows->samples[i / rows->width - rows->first];

                *samples += h->buckets[i];
                if (*samples > rows->most)
                        rows->most = *samples;
        }
}

void bars_add(struct strbuf *b, const struct histogram *h, const char *indent) {
        struct rows rows;

        if (h->samples == 0 || h->min_ns > h->max_ns)
                return;
        fill_rows(&rows, h);
        for (size_t i = 0; i < rows.count; i++) {
                size_t start = (rows.first + i) * rows.width, end = start + rows.width;
                uint64_t samples = rows.samples[i];
                double share = rows.most > 0 ? (double) samples / (double) rows.most : 0;

                strbuf_add(b, indent);
                add_edge(b, histogram_bucket_start_ns(start));
                strbuf_add(b, " – ");
                add_edge(b, histogram_bucket_start_ns(end));
                strbuf_add(b, " ");
                bars_add_bar(b, share, BARS_COLUMNS);
                if (samples > 0)
                        strbuf_printf(b, " %llu", (unsigned long long) samples);
                strbuf_add(b, "\n");
        }
}
