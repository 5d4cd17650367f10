/*
 * bars - a latency histogram drawn in text. Pure.
 */
#ifndef SYNCPROBE_CLI_BARS_H
#define SYNCPROBE_CLI_BARS_H

#include "core/histogram.h"
#include "core/strbuf.h"

#define BARS_ROWS_MAX 12
#define BARS_COLUMNS 40

/*
 * At most BARS_ROWS_MAX lines, each with @indent before it, its range of
 * latencies, a bar, and its count. The ranges grow by equal steps of the
 * histogram's own logarithmic scale, as fine as the room allows. Nothing for an empty histogram.
 */
void bars_add(struct strbuf *b, const struct histogram *h, const char *indent);

/* One bar of @share (0 to 1) of @columns columns; anything above 0 shows. */
void bars_add_bar(struct strbuf *b, double share, unsigned columns);

#endif
