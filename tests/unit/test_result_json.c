/*
 * result_json: the object's shape, null for what is not known, UTF-8 whatever
 * comes in, and every allocation failing in turn.
 */
#include "testutil.h"

#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/result_json.h"
#include "failalloc.h"

static void make(struct result *ret, enum kind kind) {
        static struct histogram sync, write;
        char error[SPEC_ERROR_BYTES];
        union proto_message m;
        struct spec s;

        spec_init(&s, kind);
        assert_int_equal(spec_finish(&s, error), 0);
        proto_init(&m, PROTO_REPORT);
        m.report.started_realtime_ns = UINT64_C(1796076900123000000);
        m.report.elapsed_ns = 412000000;
        m.report.written_bytes = 819200;
        m.report.samples = 200;
        strcpy(m.report.fstype, "ext4");
        histogram_reset(&sync);
        histogram_reset(&write);
        for (unsigned i = 0; i < 200; i++) {
                histogram_add(&sync, 2000000);
                histogram_add(&write, 61434);
        }
        result_from_report(ret, &s, &m.report, &sync, &write);
}

static char *dump(const struct result *r, size_t flags) {
        json_t *json = result_to_json(r, "vz", spec_default_name(&r->spec));
        char *text;

        assert_non_null(json);
        text = json_dumps(json, flags);
        assert_non_null(text);
        json_decref(json);
        return text;
}

static void assert_dumped(const struct result *r, const char *expected) {
        char *text = dump(r, JSON_FLAGS_COMPACT);

        assert_string_equal(text, expected);
        free(text);
}

#define VERDICT                                                                                                  \
        "\"verdict\":\"unverified\",\"reached\":\"unknown\",\"basis\":\"none\",\"reasons\":[{\"code\":"          \
        "\"device-unseen\",\"text\":\"what lies under the path was not looked at, so whether the bytes reached a "   \
        "device is not known\",\"accepted\":false}],"
#define UNSEEN                                                                                                   \
        "\"device_written_bytes\":null,\"other_written_bytes\":null,\"distinct_bytes\":null,"                      \
        "\"allocated_bytes\":null,\"extent_bytes\":null,\"encoded_bytes\":null,\"delayed_bytes\":null,"              \
        "\"watched_seconds\":0.0,\"cpu_wait_seconds\":null,\"cpu_steal_seconds\":null"

static void test_commit(void **state) {
        struct result r;

        (void) state;
        make(&r, KIND_COMMIT);
        assert_dumped(&r,
                      "{\"target\":\"vz\",\"test\":\"commit\",\"kind\":\"commit\",\"outcome\":\"ok\",\"reason\":null,"
                      "\"phase\":null,\"error\":null,\"truncated\":false,\"started\":\"2026-11-30T22:15:00.123Z\","
                      "\"ended\":\"2026-11-30T22:15:00.535Z\",\"elapsed_seconds\":0.412,\"written_bytes\":819200,"
                      "\"laid_out_bytes\":0,\"samples\":200,\"sync_seconds\":{\"min\":0.002,\"mean\":0.002,"
                      "\"p50\":0.002,\"p90\":0.002,\"p99\":0.002,\"p999\":null,\"max\":0.002},\"write_seconds\":"
                      "{\"min\":6.1434e-5,\"mean\":6.1434e-5,\"p50\":6.1434e-5,\"p90\":6.1434e-5,"
                      "\"p99\":6.1434e-5,\"p999\":null,\"max\":6.1434e-5},\"syncs_per_second\":485.099207639,"
                      "\"stream_bytes_per_second\":null,\"parameters\":{\"size_bytes\":1048576,"
                      "\"block_bytes\":4096,\"count\":200,\"duration_seconds\":2.0,\"layout\":\"overwrite\","
                      "\"sync\":\"fdatasync\",\"direct\":false,\"data\":\"random\",\"max_duration_seconds\":null},"
                      VERDICT "\"evidence\":{\"fstype\":\"ext4\",\"source\":null,\"devices\":[]," UNSEEN "}}");
}

/* Every measured value of a failed run is null, whatever its counts say. */
static void test_failed(void **state) {
        static const char *const names[] = { "elapsed_seconds", "written_bytes", "laid_out_bytes", "samples",
                "sync_seconds", "write_seconds", "syncs_per_second", "stream_bytes_per_second",
                "write_elapsed_seconds", "sync_elapsed_seconds", "writeback_effect" };

        (void) state;
        for (unsigned kind = 0; kind < KIND_COUNT_; kind++) {
                struct result r;
                json_t *json;

                make(&r, (enum kind) kind);
                r.outcome = OUTCOME_FAILED;
                r.reason = REASON_IO;
                r.phase = PHASE_SYNC;
                r.error = 5;
                r.writeback = PROTO_EFFECT_SEEN;
                r.spec.sync = SYNC_FDATASYNC;
                json = result_to_json(&r, "vz", "x");
                assert_non_null(json);
                for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
                        if (i < 8 || kind == KIND_STREAM)
                                assert_true(json_is_null(json_object_get(json, names[i])));
                assert_string_equal(json_string_value(json_object_get(json, "outcome")), "failed");
                assert_string_equal(json_string_value(json_object_get(json, "reason")), "io");
                assert_string_equal(json_string_value(json_object_get(json, "phase")), "sync");
                assert_non_null(strstr(json_string_value(json_object_get(json, "error")), "EIO"));
                assert_string_equal(json_string_value(json_object_get(json, "verdict")), "unverified");
                json_decref(json);
        }
}

static void test_parameters(void **state) {
        static const char *const expected[KIND_COUNT_] = {
                [KIND_STREAM] = "{\"size_bytes\":1073741824,\"block_bytes\":65536,\"duration_seconds\":10.0,\"data\":"
                                "\"random\",\"writeback\":\"eager\",\"reuse\":false,\"max_rate_bytes_per_second\":null,"
                                "\"max_duration_seconds\":null}",
                [KIND_COMMIT] = "{\"size_bytes\":1048576,\"block_bytes\":4096,\"count\":200,\"duration_seconds\":2.0,"
                                "\"layout\":\"overwrite\",\"sync\":\"fdatasync\",\"direct\":false,\"data\":\"random\","
                                "\"max_duration_seconds\":null}",
                [KIND_CREATE] = "{\"block_bytes\":4001,\"count\":null,\"duration_seconds\":3.0,\"data\":\"random\","
                                "\"max_duration_seconds\":null,\"durable\":false}",
                [KIND_PULSE] = "{\"size_bytes\":4096,\"block_bytes\":4096,\"count\":null,\"duration_seconds\":null,"
                               "\"data\":\"random\",\"max_duration_seconds\":null,\"period_seconds\":10.0}",
        };

        (void) state;
        for (unsigned kind = 0; kind < KIND_COUNT_; kind++) {
                struct result r;
                json_t *json;
                char *text;

                make(&r, (enum kind) kind);
                json = result_to_json(&r, "vz", "x");
                text = json_dumps(json_object_get(json, "parameters"), JSON_FLAGS_COMPACT);
                assert_string_equal(text, expected[kind]);
                free(text);
                json_decref(json);
        }
}

static void test_stream(void **state) {
        struct result r;
        json_t *json;

        (void) state;
        make(&r, KIND_STREAM);
        r.writeback = PROTO_EFFECT_NONE;
        json = result_to_json(&r, "vz", "stream-zero");
        assert_string_equal(json_string_value(json_object_get(json, "writeback_effect")), "none");
        assert_true(json_is_null(json_object_get(json, "syncs_per_second")));
        assert_true(json_is_real(json_object_get(json, "stream_bytes_per_second")));
        assert_true(json_is_real(json_object_get(json, "write_elapsed_seconds")));
        json_decref(json);
        make(&r, KIND_COMMIT);
        json = result_to_json(&r, "vz", "commit");
        assert_null(json_object_get(json, "writeback_effect"));
        json_decref(json);
}

static void test_skipped(void **state) {
        struct result r;
        json_t *json;

        (void) state;
        make(&r, KIND_COMMIT);
        r.outcome = OUTCOME_SKIPPED;
        json = result_to_json(&r, "vz", "commit");
        assert_string_equal(json_string_value(json_object_get(json, "reason")), "lowspace");
        assert_true(json_is_null(json_object_get(json, "syncs_per_second")));
        json_decref(json);
}

static void assert_json_text(const char *text, const char *expected) {
        json_t *json = json_text(text);

        assert_non_null(json);
        assert_string_equal(json_string_value(json), expected);
        json_decref(json);
}

#define BAD "\xEF\xBF\xBD"

static void test_text(void **state) {
        (void) state;
        assert_true(json_is_null(json_text(NULL)));
        assert_json_text("", "");
        assert_json_text("/mnt/\"a\"\n", "/mnt/\"a\"\n");
        assert_json_text("gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F");
        assert_json_text("\xF0\x9F\x92\xBE", "\xF0\x9F\x92\xBE");
        assert_json_text("a\xFFz", "a" BAD "z");
        assert_json_text("\xC3", BAD);
        assert_json_text("\xE2\x82", BAD BAD);
        assert_json_text("\xC0\xAF", BAD BAD);          /* overlong */
        assert_json_text("\xE0\x80\xAF", BAD BAD BAD);
        assert_json_text("\xED\xA0\x80", BAD BAD BAD);  /* a surrogate */
        assert_json_text("\xF4\x90\x80\x80", BAD BAD BAD BAD);
        assert_json_text("\xF5\x80", BAD BAD);
        assert_json_text("\x80" "a", BAD "a");
}

/* jansson, which checks on its own, takes whatever comes out. */
static void test_random_text(void **state) {
        (void) state;
        for (unsigned round = 0; round < 50000; round++) {
                static const unsigned char edges[] = { 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2,
                        0xDF, 0xE0, 0xEC, 0xED, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5, 0xFF };
                char text[12];
                size_t n = testutil_random_below(sizeof text);
                json_t *json, *checked;

                for (size_t i = 0; i < n; i++)
                        text[i] = (char) (testutil_random_below(3) == 0
                                                  ? 1 + testutil_random_below(255)
                                                  : edges[testutil_random_below(sizeof edges)]);
                text[n] = '\0';
                json = json_text(text);
                checked = json_string(json_string_value(json));
                assert_non_null(checked);
                json_decref(checked);
                checked = json_string(text);
                if (checked)
                        assert_string_equal(json_string_value(json), text);
                json_decref(checked);
                json_decref(json);
        }
}

static void test_numbers(void **state) {
        json_t *json = json_real(485.1);
        char *text;

        (void) state;
        assert_true(json_is_null(json_number((double) NAN)));
        assert_true(json_is_null(json_number((double) INFINITY)));
        assert_true(json_is_null(json_number((double) -INFINITY)));
        assert_true(json_is_null(json_seconds(HISTOGRAM_NONE)));
        text = json_dumps(json, JSON_FLAGS_COMPACT | JSON_ENCODE_ANY);
        assert_string_equal(text, "485.1");
        free(text);
        json_decref(json);
}

static void test_locale(void **state) {
        struct result r;
        char *before, *after;
        bool installed;

        (void) state;
        make(&r, KIND_COMMIT);
        before = dump(&r, JSON_FLAGS_INDENTED);
        installed = setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
        after = dump(&r, JSON_FLAGS_INDENTED);
        setlocale(LC_NUMERIC, "C");
        assert_string_equal(before, after);
        free(before);
        free(after);
        if (!installed) {
                print_message("SKIP: de_DE.UTF-8 is not installed\n");
                skip();
        }
}

static void to_json(void *arg) {
        json_t *json = result_to_json(arg, "v\xFFz", "commit");

        if (failalloc_failed())
                assert_null(json);
        else
                assert_non_null(json);
        json_decref(json);
}

static void test_allocations_fail(void **state) {
        struct result r;

        (void) state;
        json_set_alloc_funcs(malloc, free);
        for (unsigned kind = 0; kind < KIND_COUNT_; kind++) {
                make(&r, (enum kind) kind);
                assert_true(failalloc_each(to_json, &r) > 50);
                r.outcome = OUTCOME_FAILED;
                r.reason = REASON_IO;
                r.phase = PHASE_SYNC;
                assert_true(failalloc_each(to_json, &r) > 50);
        }
}

static void add_document(void *arg) {
        const struct result_json_item items[] = { { arg, "/a", "commit" }, { arg, "/b", "commit" } };
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        result_json_add_document(&b, items, 2);
        assert_int_equal(strbuf_finish(&b, &text), failalloc_failed() ? -ENOMEM : 0);
        strbuf_done(&b);
}

static void test_document(void **state) {
        struct result r;
        struct strbuf b;
        const char *text;
        json_t *json, *results;

        (void) state;
        make(&r, KIND_COMMIT);
        strbuf_init(&b);
        result_json_add_document(
                &b, (const struct result_json_item[]) { { &r, "/a", "commit" }, { &r, "/b", "commit" } }, 2);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        json = json_loads(text, 0, NULL);
        results = json_object_get(json, "results");
        assert_int_equal(json_array_size(results), 2);
        assert_string_equal(json_string_value(json_object_get(json_array_get(results, 1), "target")), "/b");
        json_decref(json);
        strbuf_done(&b);
        json_set_alloc_funcs(malloc, free);
        assert_true(failalloc_each(add_document, &r) > 100);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_commit),
                cmocka_unit_test(test_failed),
                cmocka_unit_test(test_parameters),
                cmocka_unit_test(test_stream),
                cmocka_unit_test(test_skipped),
                cmocka_unit_test(test_text),
                cmocka_unit_test(test_random_text),
                cmocka_unit_test(test_numbers),
                cmocka_unit_test(test_locale),
                cmocka_unit_test(test_document),
                cmocka_unit_test(test_allocations_fail),
        };

        return testutil_run(tests);
}
