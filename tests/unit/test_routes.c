/*
 * routes, and the documents behind them: the API's JSON and the page.
 */
#include "testutil.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "failalloc.h"
#include "http/api.h"
#include "http/routes.h"
#include "snapshot_fixture.h"

#define SECOND UINT64_C(1000000000)
#define NOW UINT64_C(1764540900000000000)

static struct routes_reply ask(const struct snapshot *s, const char *path) {
        const struct routes_request request = { .method = "GET", .path = path };
        struct routes_reply reply;

        routes_answer(&reply, &request, s);
        assert_int_equal(reply.body.error, 0);
        return reply;
}

/* The reply as JSON; the strictest parser there is decides. */
static json_t *ask_json(const struct snapshot *s, const struct routes_request *request, unsigned status) {
        struct routes_reply reply;
        json_error_t error;
        json_t *document;

        routes_answer(&reply, request, s);
        assert_int_equal(reply.status, status);
        assert_string_equal(reply.content_type, "application/json; charset=utf-8");
        document = json_loads(reply.body.text, JSON_REJECT_DUPLICATES, &error);
        if (!document)
                fail_msg("%s: %s", error.text, reply.body.text);
        strbuf_done(&reply.body);
        return document;
}

static json_t *get_json(const struct snapshot *s, const char *path, unsigned status) {
        const struct routes_request request = { .method = "GET", .path = path };

        return ask_json(s, &request, status);
}

static void test_paths(void **state) {
        static const struct {
                const char *path, *type;
        } good[] = {
                { "/", "text/html" }, { "/metrics", "text/plain; version=0.0.4" }, { "/-/healthy", "text/plain" },
                { "/-/ready", "text/plain" }, { "/api/v1/status", "application/json" },
                { "/api/v1/targets", "application/json" }, { "/api/v1/targets/t0", "application/json" },
                { "/api/v1/targets/t0/tests/commit/results", "application/json" },
        };
        static const char *const bad[] = {
                "/metrics/", "/nothing", "/api/v1/targets/", "/api/v1/targets/t9", "/api/v1/targets/t0/",
                "/api/v1/targets/t0/tests", "/api/v1/targets/t0/tests/none/results",
                "/api/v1/targets/t0/tests/commit", "/api/v1/targets/t0/tests/commit/results/", "/../etc/passwd",
                "/api/v1/targets/t0/../t0",
        };
        struct snapshot *s = snapshot_fixture_new(1);

        (void) state;
        for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
                struct routes_reply reply = ask(s, good[i].path);

                assert_int_equal(reply.status, 200);
                assert_memory_equal(reply.content_type, good[i].type, strlen(good[i].type));
                strbuf_done(&reply.body);
        }
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
                json_t *error = get_json(s, bad[i], 404);

                assert_true(json_is_string(json_object_get(error, "error")));
                json_decref(error);
        }
        s->ready = false;
        struct routes_reply reply = ask(s, "/-/ready");
        assert_int_equal(reply.status, 503);
        strbuf_done(&reply.body);
        snapshot_fixture_free(s);
}

static void test_methods(void **state) {
        static const char *const refused[] = { "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get" };
        struct snapshot *s = snapshot_fixture_new(1);

        (void) state;
        for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
                const struct routes_request request = { .method = refused[i], .path = "/metrics" };
                struct routes_reply reply;

                routes_answer(&reply, &request, s);
                assert_int_equal(reply.status, 405);
                assert_string_equal(reply.allow, "GET, HEAD");
                strbuf_done(&reply.body);
        }
        snapshot_fixture_free(s);
}

static void test_targets(void **state) {
        struct snapshot *s = snapshot_fixture_new(2);
        json_t *document, *t, *test;

        (void) state;
        s->targets[0].path = "/a\"b\\c\n<script>\xff";
        snapshot_fixture_add_ok(&s->targets[0].tests[1], NOW);
        snapshot_fixture_add_failed(&s->targets[0].tests[2], NOW);
        s->targets[0].tests[1].skips[SKIP_OVERLAP] = 2;
        document = get_json(s, "/api/v1/targets", 200);
        assert_int_equal(json_array_size(json_object_get(document, "targets")), 2);
        t = json_array_get(json_object_get(document, "targets"), 0);
        assert_string_equal(json_string_value(json_object_get(t, "path")), "/a\"b\\c\n<script>\xef\xbf\xbd");
        assert_true(json_is_null(json_object_get(t, "phase")));
        assert_true(json_number_value(json_object_get(t, "inflight_seconds")) == 0);
        test = json_array_get(json_object_get(t, "tests"), 1);
        assert_string_equal(json_string_value(json_object_get(test, "kind")), "commit");
        assert_int_equal(json_integer_value(json_object_get(test, "runs")), 1);
        assert_int_equal(json_integer_value(json_object_get(test, "skipped")), 2);
        assert_string_equal(json_string_value(json_object_get(json_object_get(test, "last"), "outcome")), "ok");
        test = json_array_get(json_object_get(t, "tests"), 2);
        assert_int_equal(json_integer_value(json_object_get(test, "failures")), 1);
        assert_true(json_is_null(json_object_get(json_object_get(test, "last"), "stream_bytes_per_second")));
        assert_true(json_is_null(json_object_get(test, "last_ok")));
        test = json_array_get(json_object_get(t, "tests"), 0);
        assert_true(json_is_null(json_object_get(test, "last")));
        json_decref(document);
        snapshot_fixture_free(s);
}

static void test_status(void **state) {
        struct snapshot *s = snapshot_fixture_new(3);
        json_t *document;

        (void) state;
        s->targets[0].status = STATUS_FINE;
        s->targets[1].status = STATUS_HUNG;
        document = get_json(s, "/api/v1/status", 200);
        assert_string_equal(json_string_value(json_object_get(document, "status")), "hung");
        assert_int_equal(json_integer_value(json_object_get(json_object_get(document, "targets"), "fine")), 1);
        assert_true(json_is_null(json_object_get(document, "started")));
        json_decref(document);
        snapshot_fixture_free(s);
}

static void test_result_pages(void **state) {
        struct snapshot *s = snapshot_fixture_new(1);
        struct routes_request request = { .method = "GET", .path = "/api/v1/targets/t0/tests/commit/results" };
        char until[64] = "";
        size_t seen = 0;

        (void) state;
        for (uint64_t i = 0; i < 10; i++)
                snapshot_fixture_add_ok(&s->targets[0].tests[1], NOW + i * 60 * SECOND + 123456789);
        request.limit = "3";
        for (;;) {
                json_t *document = ask_json(s, &request, 200), *next = json_object_get(document, "next");
                const char *at;

                seen += json_array_size(json_object_get(document, "results"));
                if (json_is_null(next)) {
                        json_decref(document);
                        break;
                }
                assert_memory_equal(json_string_value(next), "results?", 8); /* relative to where it was found */
                at = strstr(json_string_value(next), "until=") + 6;
                (void) strncpy(until, at, sizeof until - 1);
                *strchr(until, '&') = '\0';
                request.until = until;
                json_decref(document);
        }
        assert_int_equal(seen, 10);
        request = (struct routes_request) { .method = "GET", .path = request.path, .since = "2025-11-30T22:16:00Z",
                                            .until = "2025-11-30T23:17:00+01:00" };
        json_t *document = ask_json(s, &request, 200);
        assert_int_equal(json_array_size(json_object_get(document, "results")), 1);
        json_decref(document);
        snapshot_fixture_free(s);
}

static void test_bad_queries(void **state) {
        static const char *const limits[] = { "0", "-1", "1001", "x", "", "99999999999999999999" };
        static const char *const times[] = { "", "yesterday", "2025-13-01T00:00:00Z", "2025-01-01", "-5", "1e9",
                                             "2025-01-01T00:00:00", "2025-01-01T00:00:00+99:00", "12345678901" };
        struct snapshot *s = snapshot_fixture_new(1);
        struct routes_request request = { .method = "GET", .path = "/api/v1/targets/t0/tests/commit/results" };

        (void) state;
        for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
                request.limit = limits[i];
                json_decref(ask_json(s, &request, 400));
        }
        request.limit = NULL;
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
                request.since = times[i];
                json_decref(ask_json(s, &request, 400));
        }
        snapshot_fixture_free(s);
}

static void test_times(void **state) {
        uint64_t ns;

        (void) state;
        assert_int_equal(api_parse_time("1764540900", &ns), 0);
        assert_int_equal(ns, NOW);
        assert_int_equal(api_parse_time("1764540900.000000001", &ns), 0);
        assert_int_equal(ns, NOW + 1);
        assert_int_equal(api_parse_time("2025-11-30T22:15:00.123Z", &ns), 0);
        assert_int_equal(ns, NOW + 123000000);
        assert_int_equal(api_parse_time("2025-11-30T23:15:00 01:00", &ns), 0); /* an unescaped + */
        assert_int_equal(ns, NOW);
        assert_int_equal(api_parse_time("1969-12-31T23:00:00Z", &ns), -EINVAL);
}

static void test_page(void **state) {
        struct snapshot *s = snapshot_fixture_new(2);
        struct routes_reply reply;

        (void) state;
        s->targets[0].path = "/<script>alert('x')</script>&\"\xff";
        s->targets[0].status = STATUS_FINE;
        s->targets[1].status = STATUS_HUNG;
        s->targets[1].phase = PHASE_SYNC;
        s->targets[1].inflight_ns = 45 * SECOND;
        snapshot_fixture_add_ok(&s->targets[0].tests[1], s->now_realtime_ns - 5 * SECOND);
        snapshot_fixture_add_ok(&s->targets[0].tests[2], s->now_realtime_ns - 5 * SECOND);
        snapshot_fixture_add_failed(&s->targets[1].tests[1], s->now_realtime_ns);
        reply = ask(s, "/");
        assert_null(strstr(reply.body.text, "<script>"));
        assert_non_null(strstr(reply.body.text, "/&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;\xef\xbf\xbd"));
        assert_non_null(strstr(reply.body.text, "in sync for 45"));
        assert_non_null(strstr(reply.body.text, "134 MB/s"));
        assert_non_null(strstr(reply.body.text, "128 MiB/s"));
        /* The worst first; no link that leaves a path prefix. */
        assert_true(strstr(reply.body.text, ">t1</a>") < strstr(reply.body.text, ">t0</a>"));
        assert_null(strstr(reply.body.text, "href=\"/"));
        assert_null(strstr(reply.body.text, "http://"));
        strbuf_done(&reply.body);
        snapshot_fixture_free(s);
        s = snapshot_fixture_new(0);
        reply = ask(s, "/");
        assert_non_null(strstr(reply.body.text, "No target is configured yet"));
        strbuf_done(&reply.body);
        snapshot_fixture_free(s);
}

static void answer_each(void *arg) {
        static const char *const paths[] = { "/", "/api/v1/targets", "/api/v1/status", "/api/v1/targets/t0",
                                             "/api/v1/targets/t0/tests/commit/results", "/nothing" };

        for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
                const struct routes_request request = { .method = "GET", .path = paths[i], .limit = "1" };
                struct routes_reply reply;

                routes_answer(&reply, &request, arg);
                strbuf_done(&reply.body);
        }
}

static void test_allocations(void **state) {
        struct snapshot *s = snapshot_fixture_new(1);

        (void) state;
        snapshot_fixture_add_ok(&s->targets[0].tests[1], NOW);
        snapshot_fixture_add_ok(&s->targets[0].tests[1], NOW + SECOND);
        snapshot_fixture_add_failed(&s->targets[0].tests[2], NOW);
        json_set_alloc_funcs(malloc, free);
        assert_true(failalloc_each(answer_each, s) > 50);
        snapshot_fixture_free(s);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_paths),       cmocka_unit_test(test_methods), cmocka_unit_test(test_targets),
                cmocka_unit_test(test_status),      cmocka_unit_test(test_result_pages),
                cmocka_unit_test(test_bad_queries), cmocka_unit_test(test_times),   cmocka_unit_test(test_page),
                cmocka_unit_test(test_allocations),
        };

        return testutil_run(tests);
}
