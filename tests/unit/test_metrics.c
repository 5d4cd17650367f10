/*
 * metrics: whole families, no value that was not measured, nothing that breaks a scrape.
 */
#include "testutil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/utf8.h"
#include "failalloc.h"
#include "http/metrics.h"
#include "snapshot_fixture.h"

#define NOW UINT64_C(1764540900000000000)

static char *render(const struct snapshot *s, bool openmetrics) {
        struct strbuf b;
        char *text;

        strbuf_init(&b);
        metrics_add(&b, s, NULL, openmetrics);
        assert_int_equal(strbuf_steal(&b, &text), 0);
        return text;
}

static size_t count_of(const char *text, const char *what) {
        size_t n = 0;

        while ((text = strstr(text, what))) {
                n++;
                text++;
        }
        return n;
}

static bool has_line(const char *text, const char *line) {
        size_t length = strlen(line);

        /* Each line begins behind a newline, but for the very first. */
        for (size_t at = 0; text[at] != '\0';) {
                size_t n = strcspn(text + at, "\n");

                if (n == length && memcmp(text + at, line, n) == 0)
                        return true;
                at += n + (text[at + n] == '\n');
        }
        return false;
}

/* HELP, TYPE, then its samples, and never that family again. */
static void assert_contiguous(char *text) {
        char *families[128], *rest;
        size_t n = 0;

        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                if (strncmp(line, "# HELP ", 7) == 0) {
                        char *name = line + 7;

                        *strchr(name, ' ') = '\0';
                        for (size_t i = 0; i < n; i++)
                                assert_string_not_equal(families[i], name);
                        assert_true(n < 128);
                        families[n++] = name;
                } else if (strncmp(line, "# TYPE ", 7) == 0) {
                        assert_memory_equal(line + 7, families[n - 1], strlen(families[n - 1]));
                } else if (line[0] != '#') {
                        assert_true(n > 0);
                        assert_memory_equal(line, families[n - 1], strlen(families[n - 1]));
                }
        }
        assert_true(n > 10);
}

static void test_families(void **state) {
        struct snapshot *s = snapshot_fixture_new(3);

        (void) state;
        for (size_t i = 0; i < 3; i++)
                snapshot_fixture_add_ok(&s->targets[i].tests[1], NOW);
        for (int openmetrics = 0; openmetrics < 2; openmetrics++) {
                char *text = render(s, openmetrics);

                assert_true((strstr(text, "# EOF\n") != NULL) == openmetrics);
                assert_contiguous(text);
                free(text);
        }
        snapshot_fixture_free(s);
}

static void test_values(void **state) {
        struct snapshot *s = snapshot_fixture_new(1);
        char *text;

        (void) state;
        snapshot_fixture_add_ok(&s->targets[0].tests[1], NOW);
        snapshot_fixture_add_ok(&s->targets[0].tests[2], NOW);
        text = render(s, false);
        assert_true(has_line(text, "syncprobe_build_info{version=\"1.2\"} 1"));
        assert_true(has_line(text, "syncprobe_target_info{target=\"t0\",path=\"/mnt/some where\",fstype=\"ext4\",source=\"\"} 1"));
        assert_true(has_line(text, "syncprobe_runs_total{target=\"t0\",test=\"commit\",outcome=\"ok\"} 1"));
        assert_true(has_line(text, "syncprobe_runs_total{target=\"t0\",test=\"commit\",outcome=\"failed\"} 0"));
        assert_true(has_line(text, "syncprobe_sync_duration_seconds_bucket{target=\"t0\",test=\"commit\",le=\"0.0005\"} 0"));
        assert_true(has_line(text, "syncprobe_sync_duration_seconds_bucket{target=\"t0\",test=\"commit\",le=\"0.001\"} 200"));
        assert_true(has_line(text, "syncprobe_sync_duration_seconds_bucket{target=\"t0\",test=\"commit\",le=\"+Inf\"} 200"));
        assert_true(has_line(text, "syncprobe_sync_duration_seconds_sum{target=\"t0\",test=\"commit\"} 0.2"));
        assert_true(has_line(text, "syncprobe_sync_duration_seconds_count{target=\"t0\",test=\"commit\"} 200"));
        assert_true(has_line(text, "syncprobe_last_run_sync_seconds{target=\"t0\",test=\"commit\",stat=\"p99\"} 0.001"));
        assert_null(strstr(text, "stat=\"p999\"")); /* of 200 samples there is none */
        assert_true(has_line(text, "syncprobe_last_run_stream_bytes_per_second{target=\"t0\",test=\"stream\"} 134217728"));
        assert_true(has_line(text, "syncprobe_sync_duration_seconds_count{target=\"t0\",test=\"stream\"} 1"));
        assert_null(strstr(text, "_bucket{target=\"t0\",test=\"stream\""));
        assert_true(has_line(text, "syncprobe_verdict{target=\"t0\",test=\"commit\",verdict=\"unverified\"} 1"));
        assert_true(has_line(text, "syncprobe_suspicion{target=\"t0\",test=\"commit\",code=\"device-unseen\"} 1"));
        assert_true(has_line(text, "syncprobe_written_bytes_total{target=\"t0\",test=\"stream\"} 1073741824"));
        assert_true(has_line(text, "syncprobe_last_run_timestamp_seconds{target=\"t0\",test=\"commit\"} 1764540900"));
        free(text);
        snapshot_fixture_free(s);
}

static void test_what_was_not_measured_is_not_there(void **state) {
        static const char *const measured[] = {
                "syncprobe_last_run_sync_seconds{", "syncprobe_last_run_syncs_per_second{",
                "syncprobe_last_run_stream_bytes_per_second{", "syncprobe_verdict{", "syncprobe_suspicion{",
        };
        struct snapshot *s = snapshot_fixture_new(1);
        char *text = render(s, false);

        (void) state;
        for (size_t i = 0; i < 5; i++)
                assert_null(strstr(text, measured[i]));
        assert_null(strstr(text, "syncprobe_last_run_success{"));
        assert_null(strstr(text, "syncprobe_run_failures_total{"));
        assert_int_equal(count_of(text, "syncprobe_runs_total{"), 6); /* from 0 */
        free(text);

        /* A failure withdraws the values, and does not refresh the age of the good one. */
        snapshot_fixture_add_ok(&s->targets[0].tests[1], NOW);
        snapshot_fixture_add_failed(&s->targets[0].tests[1], NOW + UINT64_C(60000000000));
        s->targets[0].tests[1].last_ok = results_get(s->targets[0].tests[1].results, 1);
        text = render(s, false);
        for (size_t i = 0; i < 5; i++)
                assert_null(strstr(text, measured[i]));
        assert_true(has_line(text, "syncprobe_last_run_success{target=\"t0\",test=\"commit\"} 0"));
        assert_true(has_line(text, "syncprobe_last_run_timestamp_seconds{target=\"t0\",test=\"commit\"} 1764540960"));
        assert_true(has_line(text, "syncprobe_last_success_timestamp_seconds{target=\"t0\",test=\"commit\"} 1764540900"));
        assert_true(has_line(text, "syncprobe_run_failures_total{target=\"t0\",test=\"commit\",reason=\"io\"} 1"));
        assert_int_equal(count_of(text, "syncprobe_run_failures_total{"), 1);
        free(text);
        snapshot_fixture_free(s);
}

static void test_a_hang(void **state) {
        struct snapshot *s = snapshot_fixture_new(2);
        char *text;

        (void) state;
        s->targets[1].state = STATE_OVERDUE;
        s->targets[1].status = STATUS_HUNG;
        s->targets[1].inflight_ns = UINT64_C(45500000000);
        s->targets[1].stall_total_ns = UINT64_C(45500000000);
        text = render(s, false);
        assert_true(has_line(text, "syncprobe_inflight_seconds{target=\"t0\"} 0"));
        assert_true(has_line(text, "syncprobe_inflight_seconds{target=\"t1\"} 45.5"));
        assert_true(has_line(text, "syncprobe_target_status{target=\"t1\",status=\"hung\"} 1"));
        assert_true(has_line(text, "syncprobe_target_status{target=\"t1\",status=\"fine\"} 0"));
        assert_true(has_line(text, "syncprobe_stall_seconds_total{target=\"t1\"} 45.5"));
        free(text);
        snapshot_fixture_free(s);
}

static void test_hostile_labels(void **state) {
        const struct snapshot_label label = { .name = "site", .value = "a\xff" "b" };
        struct snapshot *s = snapshot_fixture_new(1);
        char *text;

        (void) state;
        s->targets[0].path = "/a\"b\\c\nd<script>\xff\xc3\xa4";
        s->targets[0].labels = &label;
        s->targets[0].n_labels = 1;
        text = render(s, false);
        assert_non_null(strstr(text, "path=\"/a\\\"b\\\\c\\nd<script>\xef\xbf\xbd\xc3\xa4\""));
        assert_non_null(strstr(text, "site=\"a\xef\xbf\xbd" "b\""));
        for (const char *at = text; *at != '\0'; at += utf8_length(at))
                assert_true(utf8_length(at) > 0);
        free(text);
        snapshot_fixture_free(s);
}

static void test_counters_of_openmetrics(void **state) {
        struct snapshot *s = snapshot_fixture_new(1);
        char *text = render(s, true);

        (void) state;
        assert_non_null(strstr(text, "# TYPE syncprobe_runs counter\n"));
        assert_non_null(strstr(text, "# TYPE syncprobe_target info\n"));
        assert_non_null(strstr(text, "\nsyncprobe_target_info{"));
        assert_null(strstr(text, "_created"));
        free(text);
        text = render(s, false);
        assert_non_null(strstr(text, "# TYPE syncprobe_runs_total counter\n"));
        assert_non_null(strstr(text, "# TYPE syncprobe_target_info gauge\n"));
        free(text);
        snapshot_fixture_free(s);
}

static void test_series_a_target(void **state) {
        struct snapshot *s = snapshot_fixture_new(1);
        char *text;
        size_t series = 0;

        (void) state;
        for (size_t k = 0; k < 3; k++)
                snapshot_fixture_add_ok(&s->targets[0].tests[k], NOW);
        text = render(s, false);
        series = count_of(text, "{target=\"t0\"");
        print_message("%zu series a target on the default tests\n", series);
        assert_in_range(series, 50, 136);
        free(text);
        snapshot_fixture_free(s);
}

static uint64_t now_ns(void) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec;
}

/* The best time of some, since the machine may be busy. */
static void test_size_and_time(void **state) {
        struct snapshot *s = snapshot_fixture_new(200);
        uint64_t best_ns = UINT64_MAX;
        size_t length = 0;

        (void) state;
        for (size_t i = 0; i < 200; i++)
                for (size_t k = 0; k < 3; k++)
                        snapshot_fixture_add_ok(&s->targets[i].tests[k], NOW);
        for (unsigned i = 0; i < 10; i++) {
                uint64_t from_ns = now_ns(), took_ns;
                char *text = render(s, false);

                took_ns = now_ns() - from_ns;
                best_ns = took_ns < best_ns ? took_ns : best_ns;
                length = strlen(text);
                free(text);
        }
        print_message("200 targets: %zu bytes in %llu us\n", length, (unsigned long long) best_ns / 1000);
        assert_in_range(length, 200 * 1000, 200 * 12000);
        snapshot_fixture_free(s);
}

static void render_once(void *arg) {
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        metrics_add(&b, arg, NULL, false);
        assert_int_equal(strbuf_finish(&b, &text) < 0, failalloc_failed());
        strbuf_done(&b);
}

static void test_allocations(void **state) {
        struct snapshot *s = snapshot_fixture_new(2);

        (void) state;
        assert_true(failalloc_each(render_once, s) > 1);
        snapshot_fixture_free(s);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_families),
                cmocka_unit_test(test_values),
                cmocka_unit_test(test_what_was_not_measured_is_not_there),
                cmocka_unit_test(test_a_hang),
                cmocka_unit_test(test_hostile_labels),
                cmocka_unit_test(test_counters_of_openmetrics),
                cmocka_unit_test(test_series_a_target),
                cmocka_unit_test(test_size_and_time),
                cmocka_unit_test(test_allocations),
        };

        return testutil_run(tests);
}
