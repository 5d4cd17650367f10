/*
 * config: what is right is read, what is wrong is refused with its line.
 */
#include "testutil.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/units.h"
#include "core/verdict.h"
#include "failalloc.h"
#include "main/config.h"
#include "main/effective.h"

#define SECOND UNITS_NS_PER_SECOND

static char directory[] = "/tmp/test_config.XXXXXX";
static char path[sizeof directory + 16];

static int make_directory(void **state) {
        (void) state;
        if (!mkdtemp(directory))
                return -1;
        (void) snprintf(path, sizeof path, "%s/a.conf", directory);
        return 0;
}

static int remove_directory(void **state) {
        (void) state;
        (void) unlink(path);
        return rmdir(directory);
}

static void write_file(const char *text) {
        FILE *f = fopen(path, "we");

        assert_non_null(f);
        assert_true(fputs(text, f) >= 0);
        assert_int_equal(fclose(f), 0);
}

static struct config *load(const char *text) {
        struct config *c = NULL;
        char *error = NULL;

        write_file(text);
        if (config_load(path, &c, &error) < 0)
                fail_msg("%s", error);
        assert_null(error);
        return c;
}

static void test_whole(void **state) {
        struct config *c = load("listen = [ \"127.0.0.1:10075\", \"/run/syncprobe/api.sock\" ];\n"
                                "targets = (\n"
                                "  { name = \"vz\"; path = \"/var/lib/vz\"; labels = { storage = \"local\"; };\n"
                                "    deadline = 10; kill_after = \"2m\"; min_free = [ \"5%\", \"10GiB\" ];\n"
                                "    tests = (\n"
                                "      { kind = \"pulse\";  period = \"5s\"; interval = \"1m\"; },\n"
                                "      { kind = \"commit\"; interval = \"5m\"; block = \"4KiB\"; count = 200; },\n"
                                "      { kind = \"stream\"; interval = \"6h\"; size = \"1GiB\"; block = \"64KiB\"; } ); } );\n");
        const struct config_target *t = &c->targets[0];

        (void) state;
        assert_int_equal(c->n_listen, 2);
        assert_string_equal(c->listen[1], "/run/syncprobe/api.sock");
        assert_int_equal(c->n_targets, 1);
        assert_string_equal(t->name, "vz");
        assert_int_equal(t->deadline_ns, 10 * SECOND);
        assert_int_equal(t->kill_after_ns, 120 * SECOND);
        assert_int_equal(t->min_free_percent, 5);
        assert_int_equal(t->min_free_bytes, UINT64_C(10) << 30);
        assert_true(t->owner_check);
        assert_string_equal(t->labels[0].value, "local");
        assert_int_equal(t->n_tests, 3);
        assert_string_equal(t->tests[0].name, "pulse");
        assert_int_equal(t->tests[0].spec.period_ns, 5 * SECOND);
        assert_int_equal(t->tests[1].spec.count, 200);
        assert_int_equal(t->tests[1].spec.max_duration_ns, 150 * SECOND);
        assert_int_equal(t->tests[2].interval_ns, 6 * 3600 * SECOND);
        assert_int_equal(t->tests[2].spec.size_bytes, 1 << 30);
        assert_int_equal(t->tests[2].spec.max_duration_ns, 60 * SECOND);
        config_free(c);
}

static void test_defaults(void **state) {
        struct config *c = load("targets = ( { name = \"a\"; path = \"/a\"; } );");

        (void) state;
        assert_int_equal(c->n_listen, 1);
        assert_string_equal(c->listen[0], "127.0.0.1:10075");
        assert_int_equal(c->targets[0].deadline_ns, 30 * SECOND);
        assert_int_equal(c->targets[0].kill_after_ns, 300 * SECOND);
        assert_int_equal(c->targets[0].n_tests, 3);
        config_free(c);
        c = load("");
        assert_int_equal(c->n_targets, 0);
        config_free(c);
        c = load("listen = \"[::1]:1\";");
        assert_string_equal(c->listen[0], "[::1]:1");
        config_free(c);
}

/* Every number may be an integer, a float or a string with a unit. */
static void test_numbers(void **state) {
        static const char *const five_seconds[] = { "5", "5.0", "5e0", "\"5s\"", "\"5\"", "\"5000ms\"", "5L" };

        (void) state;
        for (size_t i = 0; i < sizeof five_seconds / sizeof five_seconds[0]; i++) {
                char text[256];
                struct config *c;

                (void) snprintf(text, sizeof text,
                                "targets = ( { name = \"a\"; path = \"/a\"; tests = ( { kind = \"commit\"; interval = %s; "
                                "size = \"1.5M\"; block = 4096.0; } ); } );",
                                five_seconds[i]);
                c = load(text);
                assert_int_equal(c->targets[0].tests[0].interval_ns, 5 * SECOND);
                assert_int_equal(c->targets[0].tests[0].spec.block_bytes, 4096);
                assert_int_equal(c->targets[0].tests[0].spec.size_bytes, 3 << 19);
                config_free(c);
        }
}

#define TEST(keys) "targets = ( { name = \"a\"; path = \"/a\"; tests = (\n{ " keys " } ); } );"
#define TARGET(keys) "targets = (\n{ " keys " } );"

static void test_wrong(void **state) {
        static const struct {
                const char *text;
                unsigned line;
                const char *says; /* a part of it */
        } cases[] = {
                { "\n\nfoo = 1;", 3, "foo" },
                { "listen = { a = 1; };", 1, "listen" },
                { "targets = 5;", 1, "targets" },
                { "targets = (\n 5 );", 2, "group" },
                { "targets = (\n", 2, "syntax error" },
                { TARGET("path = \"/a\";"), 2, "needs a name" },
                { TARGET("name = \"a\";"), 2, "needs a path" },
                { TARGET("name = \"a\"; path = \"a\";"), 2, "absolute" },
                { TARGET("name = \"a\"; path = \"\";"), 2, "absolute" },
                { TARGET("name = \"\"; path = \"/a\";"), 2, "name" },
                { TARGET("name = \"a\\\"b\"; path = \"/a\";"), 2, "letters" },
                { TARGET("name = \"<script>\"; path = \"/a\";"), 2, "letters" },
                { TARGET("name = 5; path = \"/a\";"), 2, "string" },
                { TARGET("name = \"a\"; path = \"/a\\nb\";"), 2, "control" },
                { TARGET("name = \"a\"; path = \"/a\"; frob = 1;"), 2, "frob" },
                { TARGET("name = \"a\"; path = \"/a\"; deadline = 0;"), 2, "deadline" },
                { TARGET("name = \"a\"; path = \"/a\"; deadline = -5;"), 2, "deadline" },
                { TARGET("name = \"a\"; path = \"/a\"; deadline = \"5M\";"), 2, "deadline" },
                { TARGET("name = \"a\"; path = \"/a\"; deadline = true;"), 2, "deadline" },
                { TARGET("name = \"a\"; path = \"/a\"; deadline = [ 1 ];"), 2, "deadline" },
                { TARGET("name = \"a\"; path = \"/a\"; deadline = \"1h\";"), 2, "kill_after" },
                { TARGET("name = \"a\"; path = \"/a\"; owner_check = 1;"), 2, "owner_check" },
                { TARGET("name = \"a\"; path = \"/a\"; accept = \"memory-backed\";"), 2, "accept takes" },
                { TARGET("name = \"a\"; path = \"/a\"; accept = [ \"no-flush\", \"\" ];"), 2, "accept takes" },
                { TARGET("name = \"a\"; path = \"/a\"; accept = { x = 1; };"), 2, "accept takes one reason or a list" },
                { TARGET("name = \"a\"; path = \"/a\"; min_free = \"0%\";"), 2, "min_free" },
                { TARGET("name = \"a\"; path = \"/a\"; min_free = \"9E\";"), 2, "min_free" },
                { TARGET("name = \"a\"; path = \"/a\"; labels = { target = \"x\"; };"), 2, "target" },
                { TARGET("name = \"a\"; path = \"/a\"; tests = ( );"), 2, "tests" },
                { "targets = ( { name = \"a\"; path = \"/a\"; },\n{ name = \"a\"; path = \"/b\"; } );", 2, "two targets" },
                { TEST("interval = 5;"), 2, "kind" },
                { TEST("kind = \"frob\";"), 2, "frob" },
                { TEST("kind = \"commit\"; frob = 5;"), 2, "frob" },
                { TEST("kind = \"commit\"; max-rate = 5;"), 2, "max-rate" },
                { TEST("kind = \"commit\"; period = \"5s\";"), 2, "period" },
                { TEST("kind = \"commit\"; size = 0;"), 2, "size" },
                { TEST("kind = \"commit\"; size = -1;"), 2, "size" },
                { TEST("kind = \"commit\"; size = \"99999999T\";"), 2, "size" },
                { TEST("kind = \"commit\"; size = \"abc\";"), 2, "size" },
                { TEST("kind = \"commit\"; size = true;"), 2, "size" },
                { TEST("kind = \"commit\"; size = [ 4096 ];"), 2, "size" },
                { TEST("kind = \"commit\"; direct = 1;"), 2, "direct" },
                { TEST("kind = \"commit\"; direct = true; block = 1000;"), 2, "512" },
                { TEST("kind = \"commit\"; data = \"compressible:100\";"), 2, "compressible" },
                { TEST("kind = \"commit\"; interval = \"900ms\";"), 2, "interval" },
                { TEST("kind = \"pulse\"; interval = \"5s\"; period = \"6s\";"), 2, "period" },
                { TEST("kind = \"commit\"; }, { kind = \"commit\";"), 2, "two tests" },
                { TEST("kind = \"commit\"; kind = \"pulse\";"), 2, "duplicate" },
        };

        (void) state;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                struct config *c = NULL;
                char *error = NULL, place[sizeof path + 16];

                write_file(cases[i].text);
                assert_int_equal(config_load(path, &c, &error), -EINVAL);
                assert_non_null(error);
                (void) snprintf(place, sizeof place, "%s:%u: ", path, cases[i].line);
                if (strncmp(error, place, strlen(place)) != 0 || !strstr(error, cases[i].says))
                        fail_msg("%s\nexpected at %s about \"%s\", got: %s", cases[i].text, place, cases[i].says, error);
                free(error);
        }
}

static void test_missing_file(void **state) {
        struct config *c;
        char *error;

        (void) state;
        assert_int_equal(config_load("/nonexistent/x.conf", &c, &error), -ENOENT);
        assert_string_equal(error, "/nonexistent/x.conf: cannot be read: No such file or directory");
        free(error);
}

/* What --check prints is a configuration, and the same one. */
static void test_accept(void **state) {
        struct config *c = load("targets = ( { name = \"a\"; path = \"/a\"; accept = \"device-unseen\"; },\n"
                                "{ name = \"b\"; path = \"/b\"; accept = [ \"no-flush\", \"faster-than-medium\" ]; },\n"
                                "{ name = \"c\"; path = \"/c\"; accept = [ ]; } );");

        (void) state;
        assert_int_equal(c->targets[0].accepted, CODE_BIT(CODE_DEVICE_UNSEEN));
        assert_int_equal(c->targets[1].accepted, CODE_BIT(CODE_NO_FLUSH) | CODE_BIT(CODE_FASTER_THAN_MEDIUM));
        assert_int_equal(c->targets[2].accepted, 0);
        config_free(c);
}

static void test_effective_is_read_back(void **state) {
        struct config *c = load("targets = ( { name = \"a\"; path = \"/a \\\"b\\\\\"; group = \"g\"; accept = [ \"no-flush\", "
                                "\"host-cache-unseen\" ]; labels = { x = \"1\"; }; "
                                "tests = ( { kind = \"pulse\"; }, { kind = \"create\"; durable = true; }, { kind = \"commit\"; "
                                "layout = \"append\"; }, { kind = \"commit\"; name = \"c2\"; sync = \"dsync\"; data = "
                                "\"compressible:50\"; }, { kind = \"stream\"; max_rate = \"100MB\"; } ); }, { name = \"b\"; path = \"/b\"; } );");
        struct config *again;
        struct strbuf b, b2;
        const char *text, *text2;

        (void) state;
        strbuf_init(&b);
        effective_add(&b, c);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        again = load(text);
        strbuf_init(&b2);
        effective_add(&b2, again);
        assert_int_equal(strbuf_finish(&b2, &text2), 0);
        assert_string_equal(text, text2);
        assert_int_equal(again->n_targets, 2);
        assert_string_equal(again->targets[0].path, "/a \"b\\");
        assert_int_equal(again->targets[0].accepted, CODE_BIT(CODE_NO_FLUSH) | CODE_BIT(CODE_HOST_CACHE_UNSEEN));
        assert_true(again->targets[0].tests[1].spec.durable);
        assert_string_equal(again->targets[0].tests[1].name, "create-durable");
        strbuf_done(&b);
        strbuf_done(&b2);
        config_free(c);
        config_free(again);
}

static void load_again(void *arg) {
        struct config *c = NULL;
        char *error = NULL;
        int r = config_load(path, &c, &error);

        (void) arg;
        assert_int_equal(r, failalloc_failed() ? -ENOMEM : 0);
        assert_null(error);
        config_free(c);
}

static void test_allocations(void **state) {
        (void) state;
        write_file("listen = [ \"a:1\", \"b:2\" ]; targets = ( { name = \"a\"; path = \"/a\"; group = \"g\"; "
                   "labels = { x = \"1\"; }; min_free = \"5%\"; tests = ( { kind = \"commit\"; size = 1.5e6; }, "
                   "{ kind = \"pulse\"; name = \"p\"; } ); }, { name = \"b\"; path = \"/b\"; } );");
        assert_true(failalloc_each(load_again, NULL) > 10);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_whole),        cmocka_unit_test(test_defaults),
                cmocka_unit_test(test_numbers),      cmocka_unit_test(test_wrong),
                cmocka_unit_test(test_missing_file), cmocka_unit_test(test_effective_is_read_back), cmocka_unit_test(test_accept),
                cmocka_unit_test(test_allocations),
        };

        testutil_seed_init();
        return cmocka_run_group_tests_name(__FILE__, tests, make_directory, remove_directory);
}
