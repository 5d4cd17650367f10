/*
 * guard: what request smuggling is made of does not pass, what browsers send does.
 */
#include "testutil.h"

#include "http/guard.h"

#define COMPLAINT(method, url, ...) \
        guard_complaint(method, url, (const struct guard_header[]) { __VA_ARGS__ }, \
                        sizeof((const struct guard_header[]) { __VA_ARGS__ }) / sizeof(struct guard_header))

static void test_good(void **state) {
        (void) state;
        assert_null(guard_complaint("GET", "/", NULL, 0)); /* HTTP/1.0 */
        assert_null(COMPLAINT("GET", "/metrics", { "Host", "h:1" }, { "Accept", "*/*" }, { "User-Agent", "x" }));
        assert_null(COMPLAINT("POST", "/", { "Host", "h" }, { "Content-Length", "5" }));
        assert_null(COMPLAINT("GET", "/", { "Host", "h" }, { "Content-Length", "0" }));
        assert_null(COMPLAINT("GET", "/", { "X-Empty", NULL }));
        assert_null(COMPLAINT("GET", "/", { "X-Text", "a\tb \xc3\xbc" }, { "X-Host", "h" }, { "Hos", "h" }));
}

static void test_bad(void **state) {
        (void) state;
        assert_non_null(COMPLAINT("GET", "*", { "Host", "h" }));
        assert_non_null(COMPLAINT("GET", "http://other/", { "Host", "h" }));
        assert_non_null(COMPLAINT("GET", "/", { "Host", "a" }, { "host", "b" }));
        assert_non_null(COMPLAINT("POST", "/", { "Transfer-Encoding", "chunked" }));
        assert_non_null(COMPLAINT("POST", "/", { "transfer-encoding", "identity" }, { "Content-Length", "5" }));
        assert_non_null(COMPLAINT("POST", "/", { "Content-Length", "5" }, { "Content-Length", "5" }));
        assert_non_null(COMPLAINT("POST", "/", { "Content-Length", "5" }, { "content-length", "6" }));
        assert_non_null(COMPLAINT("POST", "/", { "Content-Length ", "5" }));
        assert_non_null(COMPLAINT("POST", "/", { "Content-Length\t", "5" }));
        assert_non_null(COMPLAINT("POST", "/", { "Content\x01Length", "5" }));
        assert_non_null(COMPLAINT("POST", "/", { "", "5" }));
        assert_non_null(COMPLAINT("POST", "/", { "Content-Length", "+5" }));
        assert_non_null(COMPLAINT("POST", "/", { "Content-Length", "-5" }));
        assert_non_null(COMPLAINT("POST", "/", { "Content-Length", "5, 5" }));
        assert_non_null(COMPLAINT("POST", "/", { "Content-Length", "0x5" }));
        assert_non_null(COMPLAINT("POST", "/", { "Content-Length", "" }));
        assert_non_null(COMPLAINT("POST", "/", { "Content-Length", NULL }));
        assert_non_null(COMPLAINT("GET", "/", { "Content-Length", "5" }));
        assert_non_null(COMPLAINT("GET", "/", { "X", "a\rHost: b" }));
        assert_non_null(COMPLAINT("GET", "/", { "X", "a\x7f" }));
        /* What libmicrohttpd makes of folded lines. */
        assert_non_null(COMPLAINT("GET", "/", { "Content-Length5", "" }));
        assert_non_null(COMPLAINT("GET", "/", { "content-length5", "0" }));
        assert_non_null(COMPLAINT("GET", "/", { "Transfer-Encodingchunked", "" }));
        assert_non_null(COMPLAINT("GET", "/", { "Host", "a" }, { "Hostb", "" }));
        assert_non_null(COMPLAINT("HEAD", "/", { "Content-Length", "1" }));
}

int main(void) {
        const struct CMUnitTest tests[] = { cmocka_unit_test(test_good), cmocka_unit_test(test_bad) };

        return testutil_run(tests);
}
