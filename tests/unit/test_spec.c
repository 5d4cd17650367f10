/*
 * spec: the keys of each kind, the defaults, what is refused and in what words.
 */
#include "testutil.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/spec.h"
#include "failalloc.h"

#define SECOND UINT64_C(1000000000)
#define MIB (UINT64_C(1) << 20)

/* "size=1M count=5": what a user gives. Returns what spec_set() or spec_finish() said. */
static int make(struct spec *s, enum kind kind, const char *settings, char *error) {
        char copy[200], *at = copy, *word;
        int r = 0;

        snprintf(copy, sizeof copy, "%s", settings);
        spec_init(s, kind);
        error[0] = '\0';
        while (r == 0 && (word = strsep(&at, " "))) {
                char *value = strchr(word, '=');
                enum spec_key key;

                if (*word == '\0')
                        continue;
                assert_non_null(value);
                *value++ = '\0';
                assert_int_equal(spec_key_parse(word, &key), 0);
                r = spec_set(s, key, value, error);
        }
        if (r == 0)
                r = spec_finish(s, error);
        return r;
}

static void made(struct spec *s, enum kind kind, const char *settings) {
        char error[SPEC_ERROR_BYTES];

        if (make(s, kind, settings, error) < 0)
                fail_msg("%s %s: %s", kind_name(kind), settings, error);
        assert_true(spec_is_valid(s));
}

static void refused(enum kind kind, const char *settings, const char *words) {
        char error[SPEC_ERROR_BYTES];
        struct spec s;
        int r = make(&s, kind, settings, error);

        if (r == 0)
                fail_msg("%s %s: taken", kind_name(kind), settings);
        assert_true(r == -EINVAL || r == -ERANGE);
        if (!strstr(error, words))
                fail_msg("%s %s: \"%s\" does not say \"%s\"", kind_name(kind), settings, error, words);
}

static void test_stream_defaults(void **state) {
        struct spec s;

        (void) state;
        made(&s, KIND_STREAM, "");
        assert_int_equal(s.size_bytes, 1024 * MIB);
        assert_int_equal(s.duration_ns, 10 * SECOND);
        assert_int_equal(s.block_bytes, 65536);
        assert_int_equal(s.writeback, WRITEBACK_EAGER);
        assert_int_equal(s.data, DATA_RANDOM);
        made(&s, KIND_STREAM, "size=5MB");
        assert_int_equal(s.size_bytes, 5000000);
        assert_int_equal(s.duration_ns, 0);
        made(&s, KIND_STREAM, "duration=3");
        assert_int_equal(s.size_bytes, 0);
        assert_int_equal(s.duration_ns, 3 * SECOND);
        made(&s, KIND_STREAM, "duration=3 size=1G max-rate=100MB writeback=lazy reuse=yes max_duration=1m");
        assert_int_equal(s.size_bytes, 1024 * MIB);
        assert_int_equal(s.duration_ns, 3 * SECOND);
        assert_int_equal(s.max_rate_bytes, 100000000);
        assert_int_equal(s.max_duration_ns, 60 * SECOND);
        assert_int_equal(s.writeback, WRITEBACK_LAZY);
        assert_true(s.reuse);
        made(&s, KIND_STREAM, "duration=3 reuse=yes");
        assert_int_equal(s.size_bytes, 1024 * MIB);
}

static void test_commit_defaults(void **state) {
        struct spec s;

        (void) state;
        made(&s, KIND_COMMIT, "");
        assert_int_equal(s.size_bytes, MIB);
        assert_int_equal(s.block_bytes, 4096);
        assert_int_equal(s.count, 200);
        assert_int_equal(s.duration_ns, 2 * SECOND);
        assert_int_equal(s.layout, LAYOUT_OVERWRITE);
        assert_int_equal(s.sync, SYNC_FDATASYNC);
        made(&s, KIND_COMMIT, "count=50");
        assert_int_equal(s.count, 50);
        assert_int_equal(s.duration_ns, 0);
        made(&s, KIND_COMMIT, "duration=5s");
        assert_int_equal(s.count, 0);
        assert_int_equal(s.duration_ns, 5 * SECOND);
        made(&s, KIND_COMMIT, "block=4M");
        assert_int_equal(s.size_bytes, 4 * MIB);
        made(&s, KIND_COMMIT, "layout=append");
        assert_int_equal(s.size_bytes, 0);
        made(&s, KIND_COMMIT, "sync=dsync direct=true block=512");
        assert_true(s.direct);
        refused(KIND_COMMIT, "size=1k", "does not hold one block of 4096");
        refused(KIND_COMMIT, "layout=append size=1M", "size is not for layout append");
        refused(KIND_COMMIT, "direct=true block=2300", "multiple of 512");
}

static void test_prealloc(void **state) {
        struct spec s;

        (void) state;
        made(&s, KIND_COMMIT, "layout=prealloc");
        assert_int_equal(s.size_bytes, 200 * 4096);
        made(&s, KIND_COMMIT, "layout=prealloc duration=1");
        assert_int_equal(s.size_bytes, 64 * MIB);
        assert_int_equal(s.count, 0);
        made(&s, KIND_COMMIT, "layout=prealloc block=2300 size=22MiB"); /* etcd's */
        assert_int_equal(s.count, 10029);
        assert_int_equal(s.duration_ns, 0);
        made(&s, KIND_COMMIT, "layout=prealloc block=2300 size=22MiB count=10029");
        assert_int_equal(s.size_bytes, 22 * MIB);
        made(&s, KIND_COMMIT, "layout=prealloc block=2300 size=22MiB duration=5");
        assert_int_equal(s.count, 0);
        refused(KIND_COMMIT, "layout=prealloc block=2300 size=22MiB count=10030", "lower count to 10029");
        refused(KIND_COMMIT, "layout=prealloc block=2300 size=22MiB count=10030", "raise size to 23069000");
        refused(KIND_COMMIT, "layout=prealloc block=64M count=1e9", "lower count");
        refused(KIND_COMMIT, "layout=prealloc size=1", "does not hold one block");
}

static void test_create_and_pulse_defaults(void **state) {
        struct spec s;

        (void) state;
        made(&s, KIND_CREATE, "");
        assert_int_equal(s.block_bytes, 4001);
        assert_int_equal(s.duration_ns, 3 * SECOND);
        assert_int_equal(s.count, 0);
        assert_string_equal(spec_default_name(&s), "create");
        made(&s, KIND_CREATE, "durable=on count=10 data=zero");
        assert_int_equal(s.count, 10);
        assert_string_equal(spec_default_name(&s), "create-durable");
        made(&s, KIND_PULSE, "");
        assert_int_equal(s.block_bytes, 4096);
        assert_int_equal(s.size_bytes, 4096);
        assert_int_equal(s.period_ns, 10 * SECOND);
        assert_int_equal(s.count, 0);
        made(&s, KIND_PULSE, "block=512 period=100ms count=3");
        assert_int_equal(s.size_bytes, 512);
        refused(KIND_PULSE, "block=8k size=4k", "does not hold");
}

static void test_keys_of_other_kinds(void **state) {
        (void) state;
        refused(KIND_COMMIT, "period=1s", "period is for pulse, not for commit");
        refused(KIND_STREAM, "count=5", "count is for commit and create and pulse, not for stream");
        refused(KIND_CREATE, "block=4k", "block is for stream and commit and pulse, not for create");
        refused(KIND_CREATE, "size=4k", "not for create");
        refused(KIND_PULSE, "sync=fsync", "sync is for commit, not for pulse");
        refused(KIND_PULSE, "direct=yes", "not for pulse");
        refused(KIND_STREAM, "layout=append", "not for stream");
        refused(KIND_COMMIT, "reuse=yes", "reuse is for stream");
        refused(KIND_COMMIT, "max-rate=1M", "max_rate is for stream");
        refused(KIND_COMMIT, "writeback=lazy", "writeback is for stream");
        refused(KIND_PULSE, "durable=yes", "durable is for create");
}

static void test_values_refused(void **state) {
        (void) state;
        refused(KIND_STREAM, "size=0", "above zero");
        refused(KIND_STREAM, "size=0.1", "above zero");
        refused(KIND_STREAM, "size=-5M", "above zero");
        refused(KIND_STREAM, "size=4x", "\"4x\" is not a size");
        refused(KIND_STREAM, "size=10m", "is not a size");
        refused(KIND_STREAM, "size=99999999T", "too large for size: at most 8192TiB");
        refused(KIND_STREAM, "size=9007199254740993", "too large");
        refused(KIND_STREAM, "block=65M", "at most 64MiB");
        refused(KIND_STREAM, "duration=0", "above zero");
        refused(KIND_STREAM, "duration=5M", "is not a duration");
        refused(KIND_STREAM, "duration=367d", "at most 366d");
        refused(KIND_STREAM, "reuse=maybe", "neither true nor false");
        refused(KIND_STREAM, "writeback=late", "eager (start write-back early) or lazy");
        refused(KIND_STREAM, "data=ones", "random, zero or compressible:PERCENT");
        refused(KIND_STREAM, "data=compressible", "compressible:PERCENT");
        refused(KIND_STREAM, "data=compressible:0", "compressible:1 to compressible:99");
        refused(KIND_STREAM, "data=compressible:100", "compressible:99");
        refused(KIND_STREAM, "data=compressible:", "compressible:99");
        refused(KIND_COMMIT, "count=0", "above zero");
        refused(KIND_COMMIT, "count=-1", "above zero");
        refused(KIND_COMMIT, "count=1.5", "is not a whole number");
        refused(KIND_COMMIT, "count=1000000001", "at most 1000000000");
        refused(KIND_COMMIT, "layout=sparse", "overwrite, prealloc or append");
        refused(KIND_COMMIT, "sync=osync", "fdatasync, fsync or dsync");
        refused(KIND_PULSE, "period=0s", "above zero");
}

static void test_a_refused_value_changes_nothing(void **state) {
        char error[SPEC_ERROR_BYTES];
        struct spec s, before;

        (void) state;
        for (unsigned kind = 0; kind < KIND_COUNT_; kind++)
                for (unsigned key = 0; key < SPEC_KEY_COUNT_; key++) {
                        spec_init(&s, (enum kind) kind);
                        before = s;
                        assert_true(spec_set(&s, (enum spec_key) key, "?", error) < 0);
                        assert_memory_equal(&s, &before, sizeof s);
                }
}

static void test_data(void **state) {
        struct spec s;
        struct strbuf b;
        const char *text;

        (void) state;
        made(&s, KIND_COMMIT, "data=compressible:50");
        assert_int_equal(s.data, DATA_COMPRESSIBLE);
        assert_int_equal(s.compressible_percent, 50);
        strbuf_init(&b);
        spec_add_data(&b, &s);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_string_equal(text, "compressible:50");
        strbuf_done(&b);
        made(&s, KIND_COMMIT, "data=compressible:50 data=zero");
        assert_int_equal(s.data, DATA_ZERO);
        assert_int_equal(s.compressible_percent, 0);
}

static void test_names(void **state) {
        enum spec_key key;
        enum kind kind;

        (void) state;
        for (unsigned i = 0; i < SPEC_KEY_COUNT_; i++) {
                assert_int_equal(spec_key_parse(spec_key_name((enum spec_key) i), &key), 0);
                assert_int_equal(key, i);
                assert_true(spec_key_help(key)[0] != '\0');
        }
        assert_int_equal(spec_key_parse("max-duration", &key), 0);
        assert_int_equal(key, SPEC_MAX_DURATION);
        assert_int_equal(spec_key_parse("max", &key), -ENOENT);
        assert_int_equal(spec_key_parse("max_durations", &key), -ENOENT);
        assert_int_equal(spec_key_parse("", &key), -ENOENT);
        assert_true(spec_key_is_flag(SPEC_DURABLE));
        assert_false(spec_key_is_flag(SPEC_SYNC));
        for (unsigned i = 0; i < KIND_COUNT_; i++) {
                assert_int_equal(kind_parse(kind_name((enum kind) i), &kind), 0);
                assert_int_equal(kind, i);
        }
        assert_int_equal(kind_parse("Stream", &kind), -EINVAL);
        assert_string_equal(kind_name((enum kind) 99), "unknown");
        assert_string_equal(layout_name((enum layout) 99), "unknown");
        assert_string_equal(spec_key_name((enum spec_key) 99), "unknown");
}

static void described(enum kind kind, const char *settings, const char *expected) {
        struct spec s;
        struct strbuf b;
        const char *text;

        made(&s, kind, settings);
        strbuf_init(&b);
        spec_add_description(&b, &s);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_string_equal(text, expected);
        strbuf_done(&b);
}

static void test_descriptions(void **state) {
        (void) state;
        described(KIND_COMMIT, "", "4 KiB overwrite in 1 MiB + fdatasync, 200 times or 2 s, random data");
        described(KIND_COMMIT, "count=7 direct=1 sync=dsync", "4 KiB overwrite in 1 MiB + O_DSYNC, O_DIRECT, 7 times, random data");
        described(KIND_COMMIT, "count=100 layout=prealloc", "4 KiB prealloc in 400 KiB + fdatasync, 100 times, random data");
        described(KIND_COMMIT, "layout=append", "4 KiB append + fdatasync, 200 times or 2 s, random data");
        described(KIND_STREAM, "",
                  "1 GiB or 10 s in blocks of 64 KiB + one fdatasync, eager write-back, random data");
        described(KIND_STREAM, "size=1M reuse=1 max_rate=100MB data=zero",
                  "1 MiB in blocks of 64 KiB + one fdatasync, eager write-back, in place, at most 100 MB/s, zero data");
        described(KIND_CREATE, "",
                  "4001 bytes into 300 files in turn, fsync before the write, as pveperf, 3 s, random data");
        described(KIND_PULSE, "count=3", "4 KiB overwrite + fdatasync every 10 s, 3 times, random data");
}

static void test_file_bytes(void **state) {
        struct spec s;

        (void) state;
        made(&s, KIND_STREAM, "");
        assert_int_equal(spec_file_bytes(&s), 1024 * MIB);
        made(&s, KIND_STREAM, "duration=1");
        assert_int_equal(spec_file_bytes(&s), 0);
        made(&s, KIND_COMMIT, "");
        assert_int_equal(spec_file_bytes(&s), MIB);
        made(&s, KIND_COMMIT, "layout=append count=10");
        assert_int_equal(spec_file_bytes(&s), 40960);
        made(&s, KIND_COMMIT, "layout=append duration=10");
        assert_int_equal(spec_file_bytes(&s), 0);
        made(&s, KIND_CREATE, "");
        assert_int_equal(spec_file_bytes(&s), 300 * 4096);
        made(&s, KIND_CREATE, "count=2");
        assert_int_equal(spec_file_bytes(&s), 2 * 4096);
        made(&s, KIND_PULSE, "");
        assert_int_equal(spec_file_bytes(&s), 4096);
}

/* Random settings: whatever is granted is also valid for the wire. */
static void test_granted_is_valid(void **state) {
        static const char *const values[] = {
                "1", "512", "4k", "4KiB", "1M", "64MiB", "1G", "200", "1e9", "10s", "2m", "366d", "true", "false",
                "overwrite", "prealloc", "append", "fdatasync", "fsync", "dsync", "random", "zero", "compressible:7",
                "eager", "lazy", "0", "-1", "", "x", "8192TiB",
        };
        unsigned granted = 0;

        (void) state;
        for (unsigned round = 0; round < 200000; round++) {
                char error[SPEC_ERROR_BYTES];
                struct spec s;

                spec_init(&s, (enum kind) testutil_random_below(KIND_COUNT_));
                for (uint64_t n = testutil_random_below(12); n > 0; n--)
                        spec_set(&s, (enum spec_key) testutil_random_below(SPEC_KEY_COUNT_),
                                 values[testutil_random_below(sizeof values / sizeof values[0])], error);
                if (spec_finish(&s, error) < 0)
                        continue;
                granted++;
                if (!spec_is_valid(&s)) {
                        struct strbuf b;
                        const char *text = "";

                        strbuf_init(&b);
                        spec_add_description(&b, &s);
                        strbuf_finish(&b, &text);
                        fail_msg("granted, but not valid: %s", text);
                }
                assert_true(spec_file_bytes(&s) <= SPEC_SIZE_MAX_BYTES * 8);
        }
        assert_true(granted > 10000);
}

static void test_wire(void **state) {
        struct spec s, t;

        (void) state;
        made(&s, KIND_COMMIT, "");
#define BROKEN(change) (t = s, change, assert_false(spec_is_valid(&t)))
        BROKEN(t.kind = (enum kind) 4);
        BROKEN(t.layout = LAYOUT_COUNT_);
        BROKEN(t.sync = (enum sync_mode) - 1);
        BROKEN(t.data = (enum data) 77);
        BROKEN(t.block_bytes = 0);
        BROKEN(t.block_bytes = SPEC_BLOCK_MAX_BYTES + 1);
        BROKEN(t.size_bytes = 4095);
        BROKEN(t.size_bytes = UINT64_MAX);
        BROKEN(t.count = SPEC_COUNT_MAX + 1);
        BROKEN(t.duration_ns = UINT64_MAX);
        BROKEN((t.count = 0, t.duration_ns = 0));
        BROKEN(t.reuse = true);
        BROKEN(t.durable = true);
        BROKEN(t.period_ns = 1);
        BROKEN(t.max_rate_bytes = 1);
        BROKEN(t.compressible_percent = 50);
        BROKEN(t.data = DATA_COMPRESSIBLE);
        BROKEN((t.direct = true, t.block_bytes = 2300));
        BROKEN(t.layout = LAYOUT_APPEND);
        made(&s, KIND_STREAM, "");
        BROKEN((t.size_bytes = 0, t.duration_ns = 0));
        BROKEN((t.size_bytes = 0, t.reuse = true));
        BROKEN(t.count = 1);
        made(&s, KIND_CREATE, "");
        BROKEN(t.block_bytes = 4096);
        BROKEN(t.duration_ns = 0);
        made(&s, KIND_PULSE, "");
        BROKEN(t.period_ns = 0);
        BROKEN(t.size_bytes = 1);
        made(&s, KIND_COMMIT, "layout=prealloc");
        BROKEN(t.count = 201);
}

/* A message that could not name the limit is still a message. */
static void set_too_large(void *arg) {
        char error[SPEC_ERROR_BYTES] = "";
        struct spec s;

        spec_init(&s, KIND_STREAM);
        assert_int_equal(spec_set(&s, SPEC_SIZE, arg, error), -ERANGE);
        assert_non_null(strstr(error, "too large for size"));
}

static void test_allocations_fail(void **state) {
        char value[] = "9000TiB";

        (void) state;
        assert_true(failalloc_each(set_too_large, value) > 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_stream_defaults),
                cmocka_unit_test(test_commit_defaults),
                cmocka_unit_test(test_prealloc),
                cmocka_unit_test(test_create_and_pulse_defaults),
                cmocka_unit_test(test_keys_of_other_kinds),
                cmocka_unit_test(test_values_refused),
                cmocka_unit_test(test_a_refused_value_changes_nothing),
                cmocka_unit_test(test_data),
                cmocka_unit_test(test_names),
                cmocka_unit_test(test_descriptions),
                cmocka_unit_test(test_file_bytes),
                cmocka_unit_test(test_granted_is_valid),
                cmocka_unit_test(test_wire),
                cmocka_unit_test(test_allocations_fail),
        };

        return testutil_run(tests);
}
