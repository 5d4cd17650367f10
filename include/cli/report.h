/*
 * report - what `syncprobe run` tells a person. Pure: results to text.
 *
 * The text is UTF-8 with its finer signs (µ, –, ×, blocks); screen.h writes it
 * plainly where the terminal does not know them. Numbers are locale-free.
 */
#ifndef SYNCPROBE_CLI_REPORT_H
#define SYNCPROBE_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/histogram.h"
#include "core/result.h"
#include "core/strbuf.h"

/* etcd's guide line for the p99 of its log's syncs: a commit that takes longer is called slow. */
#define REPORT_SLOW_P99_NS UINT64_C(10000000)

/* What one line of a report is about. */
struct report_item {
        const char *name;              /* of the test */
        const struct result *result;
        const struct histogram *sync;  /* of its syncs; NULL: no bars are drawn */
};

/* "/var/lib/vz (ext4 on sda)"; @stack NULL: not known. */
void report_add_header(struct strbuf *b, const char *path, const char *fstype, const struct stack *stack, bool bold);

/* Whether @first and @second belong into one block: the same stream, with zeros
 * and with random data. */
bool report_is_pair(const struct spec *first, const struct spec *second);

/* One test's block, or two streams' (report_is_pair()). */
void report_add_block(struct strbuf *b, const struct report_item *items, size_t n, bool bold);

/* One line, for runs of which there are many: "485 commits/s, sync p50 1.9 ms". */
void report_add_line(struct strbuf *b, const struct result *r);

/* "485", "29.3", "0.72": three digits, more before the point where it has them. */
void report_add_number(struct strbuf *b, double value);

/* "262 MB/s (250 MiB/s)" */
void report_add_rates(struct strbuf *b, double bytes_per_second);

/* For a terminal: control characters and what is no UTF-8 as \xNN. */
void report_add_printable(struct strbuf *b, const char *text);

#endif
