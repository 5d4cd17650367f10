/*
 * report, bars, table, compare and the progress line: results to text.
 */
#include "testutil.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bars.h"
#include "cli/compare.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/screen.h"
#include "cli/table.h"
#include "core/utf8.h"
#include "failalloc.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

static struct histogram sync_times, write_times;

static void make(struct result *ret, enum kind kind, enum data data, unsigned samples, uint64_t sync_ns,
                 uint64_t elapsed_ns, uint64_t bytes) {
        char error[SPEC_ERROR_BYTES];
        union proto_message m;
        struct spec s;

        spec_init(&s, kind);
        s.data = data;
        assert_int_equal(spec_finish(&s, error), 0);
        proto_init(&m, PROTO_REPORT);
        m.report.elapsed_ns = elapsed_ns;
        m.report.written_bytes = bytes;
        m.report.samples = samples;
        histogram_reset(&sync_times);
        histogram_reset(&write_times);
        for (unsigned i = 0; i < samples; i++) {
                histogram_add(&sync_times, sync_ns + i * 1000);
                histogram_add(&write_times, 10000);
        }
        result_from_report(ret, &s, &m.report, &sync_times, &write_times);
}

static void make_stream(struct result *ret, enum data data, double seconds) {
        make(ret, KIND_STREAM, data, 1, 100 * MS, (uint64_t) (seconds * 1e9), UINT64_C(1) << 30);
}

static char text_of[16384];

/* What @b holds, in a buffer that stays. */
static const char *take(struct strbuf *b) {
        const char *text;

        assert_int_equal(strbuf_finish(b, &text), 0);
        assert_true(strlen(text) < sizeof text_of);
        strcpy(text_of, text);
        strbuf_done(b);
        return text_of;
}

static const char *block_of(const struct report_item *items, size_t n) {
        struct strbuf b;

        strbuf_init(&b);
        report_add_block(&b, items, n, false);
        return take(&b);
}

static void assert_has(const char *text, const char *part) {
        if (!strstr(text, part))
                fail_msg("no \"%s\" in:\n%s", part, text);
}

static void assert_has_not(const char *text, const char *part) {
        if (strstr(text, part))
                fail_msg("\"%s\" in:\n%s", part, text);
}

/* --- report ------------------------------------------------------------------ */

static void test_commit(void **state) {
        struct result r;
        const char *text;

        (void) state;
        make(&r, KIND_COMMIT, DATA_RANDOM, 200, 2 * MS, 500 * MS, 819200);
        text = block_of(&(struct report_item) { "commit", &r, &sync_times }, 1);
        assert_has(text, "\ncommit: 4 KiB overwrite in 1 MiB + fdatasync, 200 times or 2 s, random data\n");
        assert_has(text, "  474 commits/s   (200 samples in 500 ms)\n");
        assert_has(text, "  fdatasync   p50 2.11 ms   p90 2.18 ms   p99 2.2 ms   p99.9 – (needs 1000 samples)   max 2.2 ms\n");
        assert_has(text, "  write       p50 10 µs ");
        assert_has(text, "█");
        assert_has(text, "  etcd's guide line for its log is a p99 under 10 ms; here it is 2.2 ms\n");
        make(&r, KIND_COMMIT, DATA_RANDOM, 200, 20 * MS, 500 * MS, 819200);
        assert_has(block_of(&(struct report_item) { "commit", &r, NULL }, 1), "20.2 ms, above it\n");
        make(&r, KIND_COMMIT, DATA_RANDOM, 5, 2 * MS, 500 * MS, 819200);
        text = block_of(&(struct report_item) { "commit", &r, &sync_times }, 1);
        assert_has(text, "p90 – (needs 10 samples)   p99 – (needs 100 samples)");
        assert_has_not(text, "etcd");
}

/* Faster than flash can be: said, though a cache that is protected is as good as a disk. */
static void test_a_cache_answered(void **state) {
        struct result r;
        const struct report_item item = { "commit", &r, NULL };

        (void) state;
        make(&r, KIND_COMMIT, DATA_RANDOM, 3, 40000, 500 * MS, 819200);
        assert_has(block_of(&item, 1), "  Half of the syncs took under 50 µs: a cache answered");
        r.judgement.verdict = VERDICT_SUSPECT; /* which says worse */
        assert_has_not(block_of(&item, 1), "a cache answered");
        make(&r, KIND_COMMIT, DATA_RANDOM, 3, 60000, 500 * MS, 819200);
        assert_has_not(block_of(&item, 1), "a cache answered");
        make(&r, KIND_COMMIT, DATA_RANDOM, 1, 40000, 500 * MS, 819200); /* one sample has no median */
        assert_has_not(block_of(&item, 1), "a cache answered");
}

static void test_pair_of_streams(void **state) {
        struct result zero, random;
        const struct report_item items[] = { { "stream-zero", &zero, NULL }, { "stream-random", &random, NULL } };
        const char *text;

        (void) state;
        make_stream(&zero, DATA_ZERO, 0.48);
        make_stream(&random, DATA_RANDOM, 4.1);
        assert_true(report_is_pair(&zero.spec, &random.spec));
        assert_false(report_is_pair(&random.spec, &zero.spec));
        assert_false(report_is_pair(&zero.spec, &zero.spec));
        text = block_of(items, 2);
        assert_has(text, "\nstream: 1 GiB or 10 s in blocks of 64 KiB + one fdatasync, eager write-back\n");
        assert_has(text, "  zeros    1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.48 s, 2.2 GB/s\n");
        assert_has(text, "  random   1073741824 bytes (1.1 GB, 1.0 GiB) copied, 4.1 s, 262 MB/s\n");
        assert_has(text, "  262 MB/s (250 MiB/s): in write 10 µs, in fdatasync 100 ms, waiting for write-back and "
                         "making data 4 s\n");
        assert_has(text, "  Zeros went 8.54 times as fast as random data: the storage treats zeros differently");
        assert_has(text, "says nothing");
}

/* Near each other; apart only by what making random data may cost; the other way round. */
static void test_when_zeros_are_not_told_of(void **state) {
        struct result zero, random;
        const struct report_item items[] = { { "stream-zero", &zero, NULL }, { "stream-random", &random, NULL } };

        (void) state;
        make_stream(&zero, DATA_ZERO, 1);
        make_stream(&random, DATA_RANDOM, 1.49);
        assert_has_not(block_of(items, 2), "times as fast");
        make_stream(&random, DATA_RANDOM, 1.51);
        assert_has(block_of(items, 2), "Zeros went 1.51 times");
        make_stream(&zero, DATA_ZERO, 0.2);
        make_stream(&random, DATA_RANDOM, 0.4);
        assert_has_not(block_of(items, 2), "times as fast");
        make_stream(&zero, DATA_ZERO, 4);
        assert_has(block_of(items, 2), "Random data went 10 times as fast as zeros");
        zero.outcome = OUTCOME_FAILED;
        zero.reason = REASON_NOSPACE;
        zero.phase = PHASE_WRITE;
        assert_has(block_of(items, 2), "  zeros  failed: write: no space left on the file system\n");
        assert_has_not(block_of(items, 2), "times as fast");
}

static void test_single_stream(void **state) {
        struct result r;
        const char *text;

        (void) state;
        make_stream(&r, DATA_ZERO, 2);
        r.spec.writeback = WRITEBACK_LAZY;
        text = block_of(&(struct report_item) { "stream", &r, NULL }, 1);
        assert_has(text, "lazy write-back, zero data\n");
        assert_has(text, ", making data 1.9 s\n");
        r.spec.writeback = WRITEBACK_EAGER;
        r.writeback = PROTO_EFFECT_NONE;
        r.truncated = true;
        text = block_of(&(struct report_item) { "stream", &r, NULL }, 1);
        assert_has(text, "had no effect here");
        assert_has(text, "cut short by max-duration");
}

static void test_create(void **state) {
        struct result r;

        (void) state;
        make(&r, KIND_CREATE, DATA_RANDOM, 3704, MS, 3 * SECOND, 3704 * 4001);
        assert_has(block_of(&(struct report_item) { "create", &r, NULL }, 1),
                   "  FSYNCS/SECOND: 1234.67   (as pveperf counts; over 200 is wanted)\n  fsync       p50");
        r.spec.durable = true;
        assert_has(block_of(&(struct report_item) { "create-durable", &r, NULL }, 1), "durable order");
}

static void test_failed(void **state) {
        struct result r;
        const char *text;

        (void) state;
        make(&r, KIND_COMMIT, DATA_RANDOM, 200, MS, SECOND, 819200);
        r.outcome = OUTCOME_FAILED;
        r.reason = REASON_IO;
        r.phase = PHASE_SYNC;
        r.error = EIO;
        text = block_of(&(struct report_item) { "commit", &r, &sync_times }, 1);
        assert_has(text, "  failed: fdatasync: the storage reported an error (EIO)\n");
        assert_has_not(text, "p50");
        assert_has_not(text, "█");
}

static void test_small_parts(void **state) {
        struct strbuf b;

        (void) state;
        strbuf_init(&b);
        report_add_header(&b, "/mnt/a\033[2J\n\xFF\xC2\x9B\xC3\xBC", "ext4", NULL, false);
        assert_string_equal(take(&b), "/mnt/a\\x1b[2J\\x0a\\xff\\xc2\\x9b\xC3\xBC (ext4)\n");
        report_add_header(&b, "/a", "", NULL, true);
        assert_string_equal(take(&b), "\033[1m/a\033[0m\n");
        report_add_rates(&b, 136e6);
        assert_string_equal(take(&b), "136 MB/s (130 MiB/s)");
        report_add_rates(&b, 720e3);
        assert_string_equal(take(&b), "0.72 MB/s (0.687 MiB/s)");
        report_add_number(&b, 99.94);
        strbuf_add(&b, " ");
        report_add_number(&b, 99.96);
        strbuf_add(&b, " ");
        report_add_number(&b, 1234567.8);
        strbuf_add(&b, " ");
        report_add_number(&b, 0);
        assert_string_equal(take(&b), "99.9 100 1234568 0");
}

/* --- bars and tables ----------------------------------------------------------- */

static unsigned count_lines(const char *text) {
        unsigned n = 0;

        for (; *text != '\0'; text++)
                n += *text == '\n';
        return n;
}

static void test_bar(void **state) {
        struct strbuf b;

        (void) state;
        strbuf_init(&b);
        bars_add_bar(&b, 0, 10);
        assert_string_equal(take(&b), "");
        bars_add_bar(&b, 1e-9, 10);
        assert_string_equal(take(&b), "▏");
        bars_add_bar(&b, 0.55, 10);
        assert_string_equal(take(&b), "█████▌");
        bars_add_bar(&b, 1, 3);
        assert_string_equal(take(&b), "███");
}

/* Any histogram: not too many rows, none wider than it may be, every sample in one. */
static void test_bars(void **state) {
        struct strbuf b;

        (void) state;
        strbuf_init(&b);
        histogram_reset(&sync_times);
        bars_add(&b, &sync_times, "  ");
        assert_string_equal(take(&b), "");
        histogram_add(&sync_times, 1000);
        bars_add(&b, &sync_times, "  ");
        assert_int_equal(count_lines(take(&b)), 1);
        for (unsigned round = 0; round < 2000; round++) {
                unsigned n = 1 + (unsigned) testutil_random_below(300);
                unsigned shift = (unsigned) testutil_random_below(60), total = 0;
                const char *text;

                histogram_reset(&sync_times);
                for (unsigned i = 0; i < n; i++)
                        histogram_add(&sync_times, testutil_random() >> (4 + testutil_random_below(shift + 1)));
                bars_add(&b, &sync_times, "  ");
                text = take(&b);
                assert_in_range(count_lines(text), 1, BARS_ROWS_MAX);
                while (*text != '\0') {
                        const char *end = strchr(text, '\n');
                        const char *number = end;

                        while (number[-1] >= '0' && number[-1] <= '9')
                                number--;
                        if (number < end && number[-1] == ' ')
                                total += (unsigned) strtoul(number, NULL, 10);
                        text = end + 1;
                }
                assert_int_equal(total, n);
        }
}

static void test_table(void **state) {
        struct table *t;
        struct strbuf b;

        (void) state;
        assert_int_equal(table_new(&t, 3), 0);
        table_add_text(t, "");
        table_add_text(t, "A");
        table_add_text(t, "");
        table_add_text(t, "sync");
        table_add_text(t, "80 µs");
        table_add_text(t, "×1");
        table_add_text(t, "commits");
        table_add_text(t, "–");
        strbuf_init(&b);
        table_write(t, &b, 1, "> ");
        assert_string_equal(take(&b), ">              A\n> sync     80 µs  ×1\n> commits      –\n");
        table_free(t);
        assert_null(table_free(NULL));
}

/* --- compare --------------------------------------------------------------------- */

static void test_summaries(void **state) {
        struct compare_summary s;
        double odd[] = { 5, 1, 3 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 }, none[] = { 0, 0 };

        (void) state;
        compare_summarize(odd, 3, &s);
        assert_true(s.median == 3 && s.min == 1 && s.max == 5 && fabs(s.spread - 4.0 / 3) < 1e-9);
        compare_summarize(even, 4, &s);
        assert_true(s.median == 2.5 && s.min == 1 && s.max == 4);
        compare_summarize(one, 1, &s);
        assert_true(s.median == 7 && s.spread == 0);
        compare_summarize(none, 2, &s);
        assert_true(s.median == 0 && s.spread == 0);
}

static struct compare_run runs[8];
static const char *const paths[] = { "/mnt/a", "/mnt/b" }, *const fstypes[] = { "ext4", "" },
                         *const tests_of[] = { "commit", "stream-zero" };

static void make_compare(struct compare *ret, size_t path_count, unsigned rounds) {
        size_t n = 0;

        for (unsigned round = 0; round < rounds; round++)
                for (size_t path = 0; path < path_count; path++) {
                        runs[n] = (struct compare_run) { .path = path, .test = 0 };
                        make(&runs[n++].result, KIND_COMMIT, DATA_RANDOM, 200, (path + 1) * (round + 1) * MS, SECOND,
                             819200);
                        runs[n] = (struct compare_run) { .path = path, .test = 1 };
                        make_stream(&runs[n++].result, DATA_ZERO, 1.0 + (double) round + (double) path);
                }
        *ret = (struct compare) {
                .paths = paths, .fstypes = fstypes, .path_count = path_count, .tests = tests_of, .test_count = 2,
                .runs = runs, .run_count = n, .rounds = rounds,
        };
}

static void test_spread(void **state) {
        struct compare c;
        struct strbuf b;
        const char *text;

        (void) state;
        make_compare(&c, 1, 3);
        strbuf_init(&b);
        compare_add(&b, &c);
        text = take(&b);
        assert_has(text, "\nMedians of 3 rounds\n");
        assert_has(text, "                           median      min      max  spread\n");
        assert_has(text, "  commit       commits/s      474      322      901   122 %\n");
        assert_has(text, "               sync p50   2.11 ms  1.11 ms   3.1 ms  94.2 %\n");
        assert_has(text, "  stream-zero  MB/s           537      358     1074   133 %\n");
}

static void test_ratios(void **state) {
        struct compare c;
        struct strbuf b;
        const char *text;

        (void) state;
        make_compare(&c, 2, 1);
        strbuf_init(&b);
        compare_add(&b, &c);
        text = take(&b);
        assert_has(text, "\nCompared\n  A  /mnt/a (ext4)\n  B  /mnt/b\n\n");
        assert_has(text, "  commit       commits/s      901      474  ×0.526\n");
        assert_has(text, "  stream-zero  MB/s          1074      537    ×0.5\n");
        assert_has_not(text, "spread");
        make_compare(&c, 2, 2);
        compare_add(&b, &c);
        assert_has(take(&b), "  B ");
}

static void test_left_out(void **state) {
        struct compare c;
        struct strbuf b;
        const char *text;

        (void) state;
        make_compare(&c, 2, 1);
        runs[0].result.outcome = OUTCOME_FAILED; /* the first path's commit: no ratio to it */
        strbuf_init(&b);
        compare_add(&b, &c);
        text = take(&b);
        assert_has(text, "  commit       commits/s     –      474\n");
        assert_has(text, "  1 of 4 runs measured nothing, and are left out\n");
        c.run_count = 0;
        compare_add(&b, &c);
        assert_string_equal(take(&b), "");
}

/* --- progress and screen ------------------------------------------------------------ */

static void test_progress(void **state) {
        struct progress_state s = { .path = "/mnt/a", .test = "commit", .now_ns = 2 * SECOND, .started_ns = SECOND };
        struct spec spec;
        struct strbuf b;
        char error[SPEC_ERROR_BYTES];
        const char *text;

        (void) state;
        spec_init(&spec, KIND_COMMIT);
        assert_int_equal(spec_finish(&spec, error), 0);
        s.spec = &spec;
        s.worker = (struct workerlink_progress) { .phase = PHASE_SYNC, .since_ns = 2 * SECOND - MS, .samples = 150,
                                                  .total = 200 };
        strbuf_init(&b);
        progress_add_line(&b, &s, 79);
        assert_string_equal(take(&b), "commit ███████████████░░░░░  75 %  150/s  sync  /mnt/a");
        progress_add_line(&b, &s, 40);
        assert_string_equal(take(&b), "commit  75 %  150/s  sync  /mnt/a");
        progress_add_line(&b, &s, 10);
        assert_string_equal(take(&b), "commit  75");
        s.now_ns = 14 * SECOND; /* hung, and past its time */
        progress_add_line(&b, &s, 79);
        text = take(&b);
        assert_has(text, "100 %");
        assert_has(text, "in sync for 12 s");
        spec.kind = KIND_STREAM;
        spec.duration_ns = 0;
        s.now_ns = 3 * SECOND;
        s.worker = (struct workerlink_progress) { .written_bytes = 500000000, .total = 1000000000 };
        progress_add_line(&b, &s, 79);
        assert_has(take(&b), "50 %  250 MB/s");
        for (unsigned width = 0; width < 100; width++) {
                progress_add_line(&b, &s, width);
                assert_true(utf8_columns(take(&b)) <= width);
        }
}

static void test_ascii(void **state) {
        struct strbuf b;

        (void) state;
        strbuf_init(&b);
        screen_add_ascii(&b, "80 µs – ██▌▏ ×2 gr\xC3\xBC\xC3\x9F \xFF");
        assert_string_equal(take(&b), "80 us - ##=. x2 gr?? ?");
}

/* --- memory ------------------------------------------------------------------------- */

static void add_everything(void *arg) {
        const struct report_item items[] = { { "commit", &runs[0].result, &sync_times } };
        const struct report_item pair[] = { { "stream-zero", &runs[1].result, NULL },
                                            { "stream-random", &runs[1].result, NULL } };
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        report_add_block(&b, items, 1, true);
        report_add_block(&b, pair, 2, true);
        compare_add(&b, arg);
        assert_int_equal(strbuf_finish(&b, &text), failalloc_failed() ? -ENOMEM : 0);
        strbuf_done(&b);
}

static void test_allocations_fail(void **state) {
        struct compare c;

        (void) state;
        make_compare(&c, 2, 2);
        assert_true(failalloc_each(add_everything, &c) > 100);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_commit),
                cmocka_unit_test(test_a_cache_answered),
                cmocka_unit_test(test_pair_of_streams),
                cmocka_unit_test(test_when_zeros_are_not_told_of),
                cmocka_unit_test(test_single_stream),
                cmocka_unit_test(test_create),
                cmocka_unit_test(test_failed),
                cmocka_unit_test(test_small_parts),
                cmocka_unit_test(test_bar),
                cmocka_unit_test(test_bars),
                cmocka_unit_test(test_table),
                cmocka_unit_test(test_summaries),
                cmocka_unit_test(test_spread),
                cmocka_unit_test(test_ratios),
                cmocka_unit_test(test_left_out),
                cmocka_unit_test(test_progress),
                cmocka_unit_test(test_ascii),
                cmocka_unit_test(test_allocations_fail),
        };

        return testutil_run(tests);
}
