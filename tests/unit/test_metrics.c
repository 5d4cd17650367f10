/*
 * metrics: whole families, no value that was not measured, nothing that breaks a scrape.
 */
#include "testutil.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/utf8.h"
#include "evidence_fixture.h"
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

/* --- a small parser of both formats --- */

struct parser {
        const char *families[128]; /* by HELP */
        size_t n_families;
        const char *type;
        const char *series[1024]; /* each cut off behind its labels */
        size_t n_series;
};

/* What a sample's name may add to its family's. */
static void assert_suffix(const struct parser *p, const char *suffix, size_t n, bool openmetrics) {
        static const struct {
                const char *type, *suffixes;
        } allowed[] = {
                { "gauge", "||" },   { "histogram", "|_bucket|_sum|_count|" }, { "summary", "|_sum|_count|" },
                { "info", "|_info|" },
        };
        char wanted[64];

        (void) snprintf(wanted, sizeof wanted, "|%.*s|", (int) n, suffix);
        if (strcmp(p->type, "counter") == 0) {
                assert_string_equal(wanted, openmetrics ? "|_total|" : "||");
                return;
        }
        for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
                if (strcmp(p->type, allowed[i].type) == 0) {
                        assert_non_null(strstr(allowed[i].suffixes, wanted));
                        return;
                }
        fail_msg("no such type: %s", p->type);
}

/* From "{" to behind "}": names, and values whose every special character is escaped. */
static char *skip_labels(char *at) {
        assert_true(*at == '{');
        do {
                size_t n = strspn(++at, "abcdefghijklmnopqrstuvwxyz_");

                assert_true(n > 0);
                at += n;
                assert_memory_equal(at, "=\"", 2);
                for (at += 2; *at != '"'; at++) {
                        assert_true(*at != '\0');
                        if (*at == '\\')
                                assert_non_null(strchr("\\\"n", *++at));
                }
                at++;
        } while (*at == ',');
        assert_true(*at == '}');
        return at + 1;
}

static void parse_sample(struct parser *p, char *line, bool openmetrics) {
        const char *family = p->families[p->n_families - 1];
        size_t n = strlen(family), name = strcspn(line, "{ ");
        char *at = line + name, *end;

        assert_true(name >= n);
        assert_memory_equal(line, family, n);
        assert_suffix(p, line + n, name - n, openmetrics);
        if (*at == '{')
                at = skip_labels(at);
        assert_true(*at == ' ');
        *at++ = '\0';
        (void) strtod(at, &end);
        assert_true(end > at && *end == '\0'); /* a number and no time stamp */
        for (size_t i = 0; i < p->n_series; i++)
                assert_string_not_equal(p->series[i], line);
        assert_true(p->n_series < sizeof p->series / sizeof p->series[0]);
        p->series[p->n_series++] = line;
}

/* HELP, TYPE, then the family's samples, and never that family again. Cuts @text up. */
static void assert_well_formed(char *text, bool openmetrics) {
        struct parser p = { .n_families = 0 };
        char *rest;

        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                if (strncmp(line, "# HELP ", 7) == 0) {
                        char *name = line + 7, *help = strchr(name, ' ');

                        *help++ = '\0';
                        assert_true(strlen(help) > 10 && help[strlen(help) - 1] == '.');
                        for (size_t i = 0; i < p.n_families; i++)
                                assert_string_not_equal(p.families[i], name);
                        assert_true(p.n_families < sizeof p.families / sizeof p.families[0]);
                        p.families[p.n_families++] = name;
                        p.type = NULL;
                } else if (strncmp(line, "# TYPE ", 7) == 0) {
                        char *type = strchr(line + 7, ' ');

                        assert_null(p.type);
                        *type = '\0';
                        assert_string_equal(line + 7, p.families[p.n_families - 1]);
                        p.type = type + 1;
                } else if (line[0] == '#') {
                        assert_true(openmetrics);
                        assert_string_equal(line, "# EOF");
                        assert_int_equal(*rest, '\0');
                } else {
                        assert_non_null(p.type);
                        parse_sample(&p, line, openmetrics);
                }
        }
        assert_true(p.n_families > 20 && p.n_series > 20);
}

static void test_families(void **state) {
        struct snapshot *s = snapshot_fixture_new(3);

        (void) state;
        for (size_t i = 0; i < 3; i++)
                for (size_t k = 0; k < 3; k++)
                        snapshot_fixture_add_ok(&s->targets[i].tests[k], NOW);
        snapshot_fixture_add_failed(&s->targets[1].tests[1], NOW);
        s->targets[2].name = "a\"b\\c\nd<script>\xff";
        s->targets[2].source = "\\";
        for (int openmetrics = 0; openmetrics < 2; openmetrics++) {
                char *text = render(s, openmetrics);

                assert_true((strstr(text, "# EOF\n") != NULL) == openmetrics);
                assert_well_formed(text, openmetrics);
                free(text);
        }
        snapshot_fixture_free(s);
}

/* What lies under a target, and what became of its bytes: a suspect value is there all the same. */
static void test_devices_and_verdict(void **state) {
        struct snapshot *s = snapshot_fixture_new(2);
        static struct stack stack;
        struct fixture_run run;
        char *text;

        (void) state;
        fixture_stack(&stack, LAYER_FILESYSTEM, "zfs", "tank");
        stack.nodes[0].facts = FACT_COMPRESSION;
        fixture_node(&stack, 0, LAYER_PARTITION, "sda1", WRITE_CACHE_UNKNOWN, -1, 0);
        fixture_node(&stack, 1, LAYER_DISK, "sda", WRITE_CACHE_BACK, 1, 0);
        stack.nodes[fixture_node(&stack, 0, LAYER_DISK, "nvme0n1", WRITE_CACHE_BACK, 0, 0)].role = ROLE_LOG;
        s->targets[0].stack = &stack;
        fixture_run(&run, KIND_STREAM, DATA_ZERO, 1, UINT64_C(1) << 27, UINT64_C(1000000000));
        fixture_leaf(&run, 0, 4096, 1);
        fixture_leaf(&run, 1, 4096, 1);
        fixture_judge(&run, &stack, 0);
        snapshot_fixture_add(&s->targets[0].tests[2], &run.result);
        text = render(s, false);
        assert_true(has_line(text, "syncprobe_target_device_info{target=\"t0\",device=\"sda\",role=\"data\"} 1"));
        assert_true(has_line(text, "syncprobe_target_device_info{target=\"t0\",device=\"nvme0n1\",role=\"log\"} 1"));
        assert_null(strstr(text, "device=\"sda1\""));
        assert_null(strstr(text, "syncprobe_target_device_info{target=\"t1\""));
        assert_true(has_line(text, "syncprobe_verdict{target=\"t0\",test=\"stream\",verdict=\"suspect\"} 1"));
        assert_true(has_line(text, "syncprobe_verdict{target=\"t0\",test=\"stream\",verdict=\"credible\"} 0"));
        assert_true(has_line(text, "syncprobe_suspicion{target=\"t0\",test=\"stream\",code=\"compressed\"} 1"));
        assert_true(has_line(text, "syncprobe_suspicion{target=\"t0\",test=\"stream\",code=\"device-bytes-missing\"} 1"));
        assert_non_null(strstr(text, "syncprobe_last_run_stream_bytes_per_second{target=\"t0\",test=\"stream\"} "));
        free(text);
        result_done(&run.result);
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
        assert_null(strstr(text, "syncprobe_last_run_sync_seconds{target=\"t0\",test=\"stream\"")); /* of one sync */
        assert_true(has_line(text, "syncprobe_pulses_missed_total{target=\"t0\",test=\"pulse\"} 0"));
        assert_int_equal(count_of(text, "\nsyncprobe_pulses_missed_total{"), 1);
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

/* To the nanosecond, and as large as a counter gets; whatever the locale. */
static void test_numbers(void **state) {
        struct snapshot *s = snapshot_fixture_new(1);
        char *text;

        (void) state;
        s->targets[0].deadline_ns = 251;
        s->targets[0].inflight_ns = UINT64_C(1234567890000000001);
        s->targets[0].stall_total_ns = UINT64_C(10020000000);
        s->targets[0].tests[0].written_bytes = UINT64_MAX;
        s->targets[0].tests[0].writes = 10;
        s->targets[0].tests[0].syncs.sum_ns = 999999999;
        text = render(s, false);
        assert_true(has_line(text, "syncprobe_target_deadline_seconds{target=\"t0\"} 0.000000251"));
        assert_true(has_line(text, "syncprobe_inflight_seconds{target=\"t0\"} 1234567890.000000001"));
        assert_true(has_line(text, "syncprobe_stall_seconds_total{target=\"t0\"} 10.02"));
        assert_true(has_line(text, "syncprobe_written_bytes_total{target=\"t0\",test=\"pulse\"} 18446744073709551615"));
        assert_true(has_line(text, "syncprobe_write_duration_seconds_count{target=\"t0\",test=\"pulse\"} 10"));
        assert_true(has_line(text, "syncprobe_sync_duration_seconds_sum{target=\"t0\",test=\"pulse\"} 0.999999999"));
        free(text);
        snapshot_fixture_free(s);
}

/* A bare _sum and _count is a histogram in the one format; the other wants a last bucket too. */
static void test_a_stream_has_no_buckets(void **state) {
        struct snapshot *s = snapshot_fixture_new(1);
        char *text;

        (void) state;
        snapshot_fixture_add_ok(&s->targets[0].tests[2], NOW);
        text = render(s, false);
        assert_int_equal(count_of(text, "_bucket{target=\"t0\",test=\"stream\""), 0);
        free(text);
        text = render(s, true);
        assert_int_equal(count_of(text, "_bucket{target=\"t0\",test=\"stream\""), 1);
        assert_true(has_line(text, "syncprobe_sync_duration_seconds_bucket{target=\"t0\",test=\"stream\",le=\"+Inf\"} 1"));
        free(text);
        snapshot_fixture_free(s);
}

static void test_nothing_configured(void **state) {
        struct snapshot *s = snapshot_fixture_new(0);

        (void) state;
        for (int openmetrics = 0; openmetrics < 2; openmetrics++) {
                char *text = render(s, openmetrics);

                assert_null(strstr(text, "{target="));
                assert_true(has_line(text, "syncprobe_config_last_reload_successful 1"));
                free(text);
        }
        snapshot_fixture_free(s);
}

static void test_process(void **state) {
        struct snapshot *s = snapshot_fixture_new(0);
        struct procstat process = { .open_fds = 0 };
        const char *text;
        struct strbuf b;

        (void) state;
        while (clock() < CLOCKS_PER_SEC / 2) /* some time spent, in our own code */
                free(render(s, false));
        assert_int_equal(procstat_read(&process), 0);
        assert_in_range(process.open_fds, 3, process.max_fds);
        assert_in_range(process.resident_bytes, 1 << 16, process.virtual_bytes);
        /* Against the C library's own account, in whole clock ticks. */
        assert_true(fabs(process.cpu_seconds - (double) clock() / CLOCKS_PER_SEC) < 0.1);
        assert_true(process.start_time_seconds > 1e9);
        assert_true(process.start_time_seconds <= (double) time(NULL) + 1);
        process.cpu_seconds = 1.25;
        strbuf_init(&b);
        metrics_add(&b, s, &process, false);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_true(has_line(text, "process_cpu_seconds_total 1.25"));
        strbuf_done(&b);
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

/* Two histograms of 26, 14 words for state and status, 9 for verdicts, and some
 * 20 single ones a test: what is added must be worth its place. */
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
                cmocka_unit_test(test_devices_and_verdict),
                cmocka_unit_test(test_values),
                cmocka_unit_test(test_what_was_not_measured_is_not_there),
                cmocka_unit_test(test_a_hang),
                cmocka_unit_test(test_numbers),
                cmocka_unit_test(test_a_stream_has_no_buckets),
                cmocka_unit_test(test_nothing_configured),
                cmocka_unit_test(test_process),
                cmocka_unit_test(test_hostile_labels),
                cmocka_unit_test(test_counters_of_openmetrics),
                cmocka_unit_test(test_series_a_target),
                cmocka_unit_test(test_size_and_time),
                cmocka_unit_test(test_allocations),
        };

        return testutil_run(tests);
}
