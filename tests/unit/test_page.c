/*
 * page: what people see of each state, and nothing that a name or a path could break.
 */
#include "testutil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/units.h"
#include "core/utf8.h"
#include "failalloc.h"
#include "http/page.h"
#include "snapshot_fixture.h"

#define SECOND UNITS_NS_PER_SECOND

static char *render(const struct snapshot *s) {
        struct strbuf b;
        char *text;

        strbuf_init(&b);
        page_add(&b, s);
        assert_int_equal(strbuf_steal(&b, &text), 0);
        return text;
}

static void assert_shows(const struct snapshot *s, const char *what) {
        char *text = render(s);

        if (!strstr(text, what))
                fail_msg("no \"%s\" in %s", what, text);
        free(text);
}

static size_t count_of(const char *text, const char *what) {
        size_t n = 0;

        while ((text = strstr(text, what))) {
                n++;
                text += strlen(what);
        }
        return n;
}

/* Every < begins a tag of ours, no tag holds another, and all is UTF-8. */
static void assert_only_our_tags(const char *text) {
        static const char *const tags[] = {
                "!DOCTYPE", "html", "head", "meta", "title", "style", "body", "h1", "p", "span", "div", "table", "thead",
                "tbody", "tr", "th", "td", "small", "a", "pre", "code", "footer",
        };

        for (const char *at = text; *at != '\0'; at += utf8_length(at))
                assert_true(utf8_length(at) > 0);
        for (const char *at = strchr(text, '<'); at; at = strchr(at, '<')) {
                size_t n, i;

                at++;
                if (*at == '/')
                        at++;
                n = strcspn(at, " >");
                for (i = 0; i < sizeof tags / sizeof tags[0]; i++)
                        if (strlen(tags[i]) == n && memcmp(at, tags[i], n) == 0)
                                break;
                if (i == sizeof tags / sizeof tags[0])
                        fail_msg("a tag that is none of ours: %.20s", at);
                assert_int_equal(at[strcspn(at, "<>")], '>');
        }
}

/* Below any prefix: no link begins at the root or at another host; nothing is fetched. */
static void assert_links_are_relative(const char *text) {
        assert_null(strstr(text, "src="));
        assert_null(strstr(text, "url("));
        assert_null(strstr(text, "<script"));
        for (const char *at = strstr(text, "href=\""); at; at = strstr(at, "href=\"")) {
                at += strlen("href=\"");
                assert_true(*at != '/' && *at != '"');
                assert_true(strcspn(at, ":\"") == strcspn(at, "\""));
        }
}

/* A row and a word of the summary for each status, the worst first. */
static void assert_statuses(const char *text) {
        const char *behind = text;

        for (unsigned i = 0; i < STATUS_COUNT_; i++) {
                char words[64];

                (void) snprintf(words, sizeof words, ">1 %s</span>", status_name((enum status) i));
                assert_int_equal(count_of(text, words), 1);
                (void) snprintf(words, sizeof words, "\">%s</span>", status_name((enum status) i));
                assert_int_equal(count_of(text, words), 1);
                behind = strstr(behind, words);
                assert_non_null(behind);
        }
}

static void test_rows(void **state) {
        struct snapshot *s = snapshot_fixture_new(STATUS_COUNT_);
        char *text;

        (void) state;
        for (size_t i = 0; i < STATUS_COUNT_; i++) {
                s->targets[i].status = (enum status) (STATUS_COUNT_ - 1 - i);
                snapshot_fixture_add_ok(&s->targets[i].tests[1], s->now_realtime_ns - 5 * SECOND);
        }
        text = render(s);
        assert_int_equal(count_of(text, "<td"), 7 * STATUS_COUNT_);
        assert_only_our_tags(text);
        assert_links_are_relative(text);
        assert_statuses(text);
        free(text);
        snapshot_fixture_free(s);
}

static void test_numbers(void **state) {
        struct snapshot *s = snapshot_fixture_new(1);
        struct snapshot_target *t = &s->targets[0];
        struct result r;

        (void) state;
        assert_shows(s, ">never</td>");
        snapshot_fixture_add_ok(&t->tests[1], s->now_realtime_ns - 5 * SECOND);
        snapshot_fixture_add_ok(&t->tests[2], s->now_realtime_ns - 3600 * SECOND);
        assert_shows(s, ">1 ms<small>p99 1 ms, max 1 ms</small>");
        assert_shows(s, ">995/s<");
        assert_shows(s, "134 MB/s<small>128 MiB/s</small><small>1h ago</small>");
        assert_shows(s, ">unverified</span>");
        assert_shows(s, ">5 s ago</td>");
        assert_shows(s, "/mnt/some where (ext4)");

        /* MB are 10^6 and MiB 2^20. */
        r = *t->tests[2].last_ok;
        r.stream_bytes_per_second = 1048576;
        t->tests[2].last_ok = &r;
        assert_shows(s, "1.05 MB/s<small>1.0 MiB/s</small>");

        s->now_realtime_ns = t->tests[1].last_ok->ended_realtime_ns + SECOND - 1;
        assert_shows(s, "\">just now</td>");
        s->now_realtime_ns++;
        assert_shows(s, "\">1 s ago</td>");

        /* A clock set back makes no negative age. */
        s->now_realtime_ns -= 60 * SECOND;
        assert_shows(s, "\">just now</td>");
        snapshot_fixture_free(s);
}

static void test_a_pulse_alone(void **state) {
        struct snapshot *s = snapshot_fixture_new(1);
        struct result r;

        (void) state;
        snapshot_fixture_add_ok(&s->targets[0].tests[0], s->now_realtime_ns);
        assert_shows(s, ">1 ms<small>p99 1 ms, max 1 ms</small>");
        assert_shows(s, "data-l=commits>–</td>"); /* a pulse's are no commits in a row */

        /* Once there is one, a commit's many samples say more. */
        snapshot_fixture_add_ok(&s->targets[0].tests[1], s->now_realtime_ns);
        r = *s->targets[0].tests[0].last_ok;
        r.sync.p50_ns = 7 * UNITS_NS_PER_MS;
        s->targets[0].tests[0].last_ok = &r;
        assert_shows(s, ">1 ms<small>p99 1 ms, max 1 ms</small>");
        snapshot_fixture_free(s);
}

static void test_trouble(void **state) {
        struct snapshot *s = snapshot_fixture_new(1);
        struct snapshot_target *t = &s->targets[0];

        (void) state;
        t->state = STATE_OVERDUE;
        t->status = STATUS_HUNG;
        t->phase = PHASE_SYNC;
        t->inflight_ns = 312 * SECOND;
        assert_shows(s, ">hung</span><small>in sync for 5m 12s</small>");
        t->state = STATE_IDLE;
        t->status = STATUS_FAILING;
        snapshot_fixture_add_ok(&t->tests[1], s->now_realtime_ns - 60 * SECOND);
        assert_shows(s, ">1m ago</td>");
        snapshot_fixture_add_failed(&t->tests[1], s->now_realtime_ns);
        t->tests[1].last_ok = results_get(t->tests[1].results, 1);
        assert_shows(s, "commit: fdatasync: ");
        assert_shows(s, "(EIO)");
        assert_shows(s, ">1m ago</td>"); /* a failure makes the values no younger */
        assert_shows(s, "<tr class=old>");
        snapshot_fixture_free(s);
}

static void test_hostile_texts(void **state) {
        static const char *const texts[] = { "<script>alert(1)</script>", "\"onmouseover=\"x", "'", "&amp;", "a\nb\tc",
                                             "\xff\xc3", "</td></table>", "a/../b?c#d", "gr\xc3\xbc\xc3\x9f", "" };

        (void) state;
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
                struct snapshot *s = snapshot_fixture_new(1);
                char *text;

                s->version = s->targets[0].name = s->targets[0].path = s->targets[0].fstype = texts[i];
                s->targets[0].tests[1].name = texts[i];
                snapshot_fixture_add_failed(&s->targets[0].tests[1], s->now_realtime_ns);
                text = render(s);
                assert_only_our_tags(text);
                assert_links_are_relative(text);
                free(text);
                snapshot_fixture_free(s);
        }
}

static void test_escapes(void **state) {
        struct snapshot *s = snapshot_fixture_new(1);

        (void) state;
        s->targets[0].path = "/<a href='x'>&\"\xff";
        assert_shows(s, "/&lt;a href=&#39;x&#39;&gt;&amp;&quot;\xef\xbf\xbd");
        s->targets[0].name = "a:b/c?d\"\xc3\xbc+";
        assert_shows(s, "href=\"api/v1/targets/a%3Ab%2Fc%3Fd%22%C3%BC%2B\"");
        snapshot_fixture_free(s);
}

static void test_nothing_configured(void **state) {
        struct snapshot *s = snapshot_fixture_new(0);
        char *text = render(s);

        (void) state;
        assert_non_null(strstr(text, "No target is configured yet"));
        assert_non_null(strstr(text, "configuration file and restart"));
        assert_null(strstr(text, "<table"));
        assert_only_our_tags(text);
        assert_links_are_relative(text);
        free(text);
        snapshot_fixture_free(s);
}

static void test_many(void **state) {
        struct snapshot *s = snapshot_fixture_new(200);
        struct timespec from, to;
        char *text;

        (void) state;
        for (size_t i = 0; i < 200; i++)
                for (size_t k = 0; k < 3; k++)
                        snapshot_fixture_add_ok(&s->targets[i].tests[k], s->now_realtime_ns);
        clock_gettime(CLOCK_MONOTONIC, &from);
        text = render(s);
        clock_gettime(CLOCK_MONOTONIC, &to);
        print_message("200 targets: %zu bytes in %lld us\n", strlen(text),
                      ((long long) to.tv_sec - from.tv_sec) * 1000000 + (to.tv_nsec - from.tv_nsec) / 1000);
        assert_int_equal(count_of(text, "<tr>"), 201);
        free(text);
        snapshot_fixture_free(s);
}

static void render_once(void *arg) {
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        page_add(&b, arg);
        /* Only a trouble's words may be missing from a page that is whole. */
        if (strbuf_finish(&b, &text) == 0)
                assert_non_null(strstr(text, "</html>"));
        else
                assert_true(failalloc_failed());
        strbuf_done(&b);
}

static void test_allocations(void **state) {
        struct snapshot *s = snapshot_fixture_new(2);

        (void) state;
        snapshot_fixture_add_failed(&s->targets[0].tests[1], s->now_realtime_ns);
        assert_true(failalloc_each(render_once, s) > 2);
        snapshot_fixture_free(s);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_rows),
                cmocka_unit_test(test_numbers),
                cmocka_unit_test(test_a_pulse_alone),
                cmocka_unit_test(test_trouble),
                cmocka_unit_test(test_hostile_texts),
                cmocka_unit_test(test_escapes),
                cmocka_unit_test(test_nothing_configured),
                cmocka_unit_test(test_many),
                cmocka_unit_test(test_allocations),
        };

        return testutil_run(tests);
}
