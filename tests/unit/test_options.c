/*
 * options: what the command line asks for, and what it is refused with.
 */
#include "testutil.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "failalloc.h"

#define WORDS_MAX 16

/* "run --size 1M /x" as argv; a word "''" is the empty one. */
static int parse(struct options *o, const char *line, char *error) {
        static char copy[400];
        static char *argv[WORDS_MAX + 1];
        char *at = copy, *word;
        int argc = 0;

        snprintf(copy, sizeof copy, "%s", line);
        while ((word = strsep(&at, " ")) && argc < WORDS_MAX)
                argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
        argv[argc] = NULL;
        error[0] = '\0';
        return options_parse(o, argc, argv, error);
}

static void planned(struct plan *p, const char *line) {
        char error[OPTIONS_ERROR_BYTES];
        struct options o;

        if (parse(&o, line, error) < 0 || plan_make(p, &o, error) < 0)
                fail_msg("%s: %s", line, error);
        for (size_t i = 0; i < p->count; i++)
                assert_true(spec_is_valid(&p->tests[i].spec));
}

static void refused(const char *line, const char *words) {
        char error[OPTIONS_ERROR_BYTES];
        struct options o;
        struct plan p = { .count = 0 };
        int r = parse(&o, line, error);

        if (r == 0)
                r = plan_make(&p, &o, error);
        if (r == 0)
                fail_msg("%s: taken", line);
        assert_int_equal(r, -EINVAL);
        if (!strstr(error, words))
                fail_msg("%s: \"%s\" does not say \"%s\"", line, error, words);
}

static void assert_names(const struct plan *p, const char *expected) {
        char names[200] = "";

        for (size_t i = 0; i < p->count; i++)
                snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? " " : "",
                         p->tests[i].name);
        assert_string_equal(names, expected);
}

static void test_accept(void **state) {
        char error[OPTIONS_ERROR_BYTES];
        struct options o;

        (void) state;
        assert_int_equal(parse(&o, "run --accept host-cache-unseen --accept=no-flush /a", error), 0);
        assert_int_equal(o.accepted, CODE_BIT(CODE_HOST_CACHE_UNSEEN) | CODE_BIT(CODE_NO_FLUSH));
        refused("run --accept compressed /a", "--accept takes controller-cache-unseen, host-cache-unseen");
        refused("run --accept device-busy /a", "--accept takes");
        refused("run --accept nonsense /a", "--accept takes");
        refused("run --accept= /a", "--accept takes");
}

static void test_defaults(void **state) {
        char error[OPTIONS_ERROR_BYTES];
        struct options o;
        struct plan p = { .count = 0 };

        (void) state;
        assert_int_equal(parse(&o, "run /a /b", error), 0);
        assert_int_equal(o.path_count, 2);
        assert_string_equal(o.paths[1], "/b");
        assert_int_equal(o.repeat, 1);
        assert_int_equal(o.output, OUTPUT_REPORT);
        assert_true(o.progress);
        assert_int_equal(o.min_free_bytes, 0);
        planned(&p, "run /a");
        assert_names(&p, "commit stream-zero stream-random create");
        assert_int_equal(p.tests[1].spec.data, DATA_ZERO);
        assert_int_equal(p.tests[2].spec.data, DATA_RANDOM);
        assert_int_equal(p.tests[2].spec.writeback, WRITEBACK_EAGER);
}

static void test_kinds(void **state) {
        struct plan p = { .count = 0 };

        (void) state;
        planned(&p, "run --kind stream /a");
        assert_names(&p, "stream-zero stream-random");
        planned(&p, "run --kind stream --data zero /a");
        assert_names(&p, "stream");
        planned(&p, "run --kind=create --durable /a");
        assert_names(&p, "create-durable");
        planned(&p, "run --kind=create --durable=false /a");
        assert_names(&p, "create");
        planned(&p, "run --kind pulse /a");
        assert_int_equal(p.tests[0].spec.count, 10);
        assert_int_equal(p.tests[0].spec.period_ns, 1000000000);
        planned(&p, "run --kind pulse --duration 3s /a");
        assert_int_equal(p.tests[0].spec.count, 0);
        planned(&p, "run /a --kind commit --max-duration=5s --block 512 --direct");
        assert_int_equal(p.tests[0].spec.max_duration_ns, UINT64_C(5000000000));
        assert_true(p.tests[0].spec.direct);
        refused("run --kind commit --period 1s /a", "period is for pulse, not for commit");
        refused("run --kind streams /a", "not \"streams\"");
}

static void test_keys_without_a_kind(void **state) {
        struct plan p = { .count = 0 };

        (void) state;
        planned(&p, "run --count 7 /a");
        assert_int_equal(p.tests[0].spec.count, 7);
        assert_int_equal(p.tests[1].spec.count, 0);
        assert_int_equal(p.tests[3].spec.count, 7);
        planned(&p, "run --data compressible:30 /a");
        assert_names(&p, "commit stream create");
        assert_int_equal(p.tests[1].spec.compressible_percent, 30);
        planned(&p, "run --max-rate 10MB /a");
        assert_int_equal(p.tests[2].spec.max_rate_bytes, 10000000);
        refused("run --period 1s /a", "add --kind pulse");
        refused("run --size 1k /a", "commit: a size of 1024 bytes does not hold");
}

static void test_dd(void **state) {
        struct plan p = { .count = 0 };

        (void) state;
        planned(&p, "run --dd /a");
        assert_names(&p, "stream");
        assert_int_equal(p.tests[0].spec.data, DATA_ZERO);
        assert_int_equal(p.tests[0].spec.writeback, WRITEBACK_LAZY);
        assert_int_equal(p.tests[0].spec.size_bytes, 1073741824);
        assert_int_equal(p.tests[0].spec.duration_ns, 0);
        planned(&p, "run --dd --kind stream --data random --writeback eager --size 5 /a");
        assert_int_equal(p.tests[0].spec.data, DATA_RANDOM);
        assert_int_equal(p.tests[0].spec.writeback, WRITEBACK_EAGER);
        assert_int_equal(p.tests[0].spec.size_bytes, 5);
        refused("run --dd --kind commit /a", "for the kind stream");
        refused("run --dd /a /b", "one path");
        refused("run --dd --json /a", "exclude each other");
        refused("run --dd --repeat 2 /a", "exclude each other");
        refused("run --dd --count 2 /a", "not for stream");
}

static void test_refused(void **state) {
        (void) state;
        refused("run", "which path");
        refused("run --json", "which path");
        refused("run ''", "an empty path");
        refused("run /a ''", "an empty path");
        refused("run --size /a", "which path");
        refused("run /a --size", "--size needs a value");
        refused("run --size 0 /a", "size must be above zero");
        refused("run --json=1 /a", "--json takes no value");
        refused("run --frob /a", "--frob");
        refused("run -x /a", "-x");
        refused("run --repeat 0 /a", "1 to 10000");
        refused("run --repeat 10001 /a", "1 to 10000");
        refused("run --repeat many /a", "not \"many\"");
        refused("run --min-free 0 /a", "above zero");
        refused("run --min-free 5% /a", "not \"5%\"");
        refused("run --direct=maybe --kind commit /a", "neither true nor false");
}

static void test_others(void **state) {
        char error[OPTIONS_ERROR_BYTES];
        struct options o;

        (void) state;
        assert_int_equal(parse(&o, "run --json --json --repeat 3 --min-free 1G --no-progress -- --odd", error), 0);
        assert_int_equal(o.output, OUTPUT_JSON);
        assert_int_equal(o.repeat, 3);
        assert_int_equal(o.min_free_bytes, 1073741824);
        assert_false(o.progress);
        assert_string_equal(o.paths[0], "--odd");
        assert_int_equal(parse(&o, "run --help --frob", error), 0);
        assert_true(o.help);
}

static void add_help(void *arg) {
        struct strbuf b;
        const char *text;

        (void) arg;
        strbuf_init(&b);
        options_add_help(&b);
        assert_int_equal(strbuf_finish(&b, &text), failalloc_failed() ? -ENOMEM : 0);
        strbuf_done(&b);
}

/* Every key is there. */
static void test_help(void **state) {
        struct strbuf b;
        const char *text;

        (void) state;
        strbuf_init(&b);
        options_add_help(&b);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        for (unsigned i = 0; i < SPEC_KEY_COUNT_; i++)
                assert_non_null(strstr(text, spec_key_help((enum spec_key) i)));
        assert_non_null(strstr(text, "--max-rate=VALUE"));
        assert_non_null(strstr(text, "[commit create pulse]"));
        strbuf_done(&b);
        assert_true(failalloc_each(add_help, NULL) > 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_accept), cmocka_unit_test(test_defaults),
                cmocka_unit_test(test_kinds),
                cmocka_unit_test(test_keys_without_a_kind),
                cmocka_unit_test(test_dd),
                cmocka_unit_test(test_refused),
                cmocka_unit_test(test_others),
                cmocka_unit_test(test_help),
        };

        return testutil_run(tests);
}
