/*
 * judged: the verdict, its reasons and the advice at a report's head.
 */
#include "testutil.h"

#include <string.h>

#include "cli/judged.h"
#include "core/utf8.h"
#include "evidence_fixture.h"
#include "failalloc.h"

#define MS UINT64_C(1000000)
#define MIB UINT64_C(1048576)

static struct stack stack;
static struct fixture_run runs[4];
static struct report_item items[4];
static size_t n_items;

static struct fixture_run *add(const char *name, enum kind kind, enum data data, unsigned samples, uint64_t bytes, uint64_t ns) {
        struct fixture_run *run = &runs[n_items];

        fixture_run(run, kind, data, samples, bytes, ns);
        fixture_file(run, bytes);
        items[n_items++] = (struct report_item) { .name = name, .result = &run->result };
        return run;
}

/* After each test, also one that failed. */
static int drop_items(void **state) {
        (void) state;
        while (n_items > 0)
                result_done(&runs[--n_items].result);
        return 0;
}

static void assert_head(const char *expected) {
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        judged_add(&b, items, n_items, false);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_string_equal(text, expected);
        strbuf_done(&b);
}

/* A stripe of two virtual disks under ZFS that compresses. */
static void tank(void) {
        fixture_stack(&stack, LAYER_FILESYSTEM, "zfs", "tank");
        stack.nodes[0].facts = FACT_COMPRESSION | FACT_LATE_BLOCKS;
        fixture_node(&stack, 0, LAYER_VIRTUAL, "vda", WRITE_CACHE_BACK, 1, 0);
        fixture_node(&stack, 0, LAYER_VIRTUAL, "vdb", WRITE_CACHE_BACK, 1, 0);
}

static void leaves(struct fixture_run *run, uint64_t bytes, uint64_t flushes) {
        fixture_leaf(run, 0, bytes, flushes);
        fixture_leaf(run, 1, bytes, flushes);
        fixture_judge(run, &stack, 0);
}

static void question(void) {
        struct fixture_run *zero;

        tank();
        leaves(add("commit", KIND_COMMIT, DATA_RANDOM, 200, 200 * 4096, 5 * MS), MIB, 101);
        zero = add("stream-zero", KIND_STREAM, DATA_ZERO, 1, 128 * MIB, 1000 * MS);
        zero->seen.allocated_bytes = 512;
        leaves(zero, 100000, 1);
        leaves(add("stream-random", KIND_STREAM, DATA_RANDOM, 1, 128 * MIB, 5000 * MS), 64 * MIB, 1);
}

static void test_the_question(void **state) {
        (void) state;
        question();
        assert_head("Verdict: suspect (stream-zero); unverified (commit, stream-random)\n"
                    "  stream-zero: not-allocated: 134 MB of data in the file, 512 B allocated for them: the zeros were\n"
                    "    compressed away or detected\n"
                    "  stream-zero: compressed: 134 MB written, 200 kB reached vda and vdb: the data were compressed\n"
                    "  stream-zero: device-bytes-missing: 134 MB written, 200 kB reached vda and vdb: the zeros were\n"
                    "    compressed away or detected\n"
                    "  all tests: host-cache-unseen: vda, vdb are virtual disks: whether the host passes flushes on to a\n"
                    "    disk (cache=none, directsync, writethrough, writeback) or drops them (cache=unsafe) is out of\n"
                    "    sight\n"
                    "Next: take the rate of stream-random: the zeros of stream-zero hardly reached a disk\n");
}

/* With nothing better beside it. */
static void test_zeros_alone(void **state) {
        (void) state;
        struct fixture_run *zero;

        tank();
        zero = add("stream", KIND_STREAM, DATA_ZERO, 1, 128 * MIB, 1000 * MS);
        zero->seen.allocated_bytes = 512;
        leaves(zero, 100000, 1);
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        judged_add(&b, items, n_items, true);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_ptr_equal(strstr(text, "\033[1mVerdict: suspect\033[0m\n"), text);
        assert_non_null(strstr(text, "Next:\033[0m use --data random"));
        strbuf_done(&b);
}

static void test_nothing_to_say(void **state) {
        fixture_stack(&stack, LAYER_FILESYSTEM, "ext4", "/dev/sda3");
        fixture_node(&stack, 0, LAYER_DISK, "sda", WRITE_CACHE_BACK, 0, FACT_ATTACHED);
        for (unsigned i = 0; i < 2; i++) {
                struct fixture_run *run = add(i == 0 ? "a" : "b", KIND_COMMIT, DATA_RANDOM, 200, 200 * 4096, 2 * MS);

                fixture_leaf(run, 0, MIB, 201);
                fixture_judge(run, &stack, 0);
        }
        assert_head("Verdict: credible\n");
        (void) drop_items(state);
        assert_head("");
}

/* What failed says so in its own block, and has no verdict. */
static void test_failed(void **state) {
        (void) state;
        struct spec spec;
        struct fixture_run *run;

        fixture_stack(&stack, LAYER_MEMORY_FILESYSTEM, "tmpfs", "tmpfs");
        run = add("commit", KIND_COMMIT, DATA_RANDOM, 200, 200 * 4096, 1000);
        fixture_judge(run, &stack, 0);
        run = add("stream", KIND_STREAM, DATA_RANDOM, 1, MIB, MS);
        spec = run->result.spec;
        result_done(&run->result);
        result_from_failure(&run->result, &spec, REASON_TIMEOUT, PHASE_SYNC, 0, 1, 2);
        assert_head("Verdict: suspect\n"
                    "  commit: memory-backed: 819 kB written, and all of it went to RAM: tmpfs keeps its files in memory\n"
                    "Next: test a directory on a disk: this one tells the speed of memory\n");
        items[0] = items[1];
        n_items = 1;
        assert_head("");
        n_items = 2;
}

static void test_accepted(void **state) {
        (void) state;
        struct fixture_run *run;

        fixture_stack(&stack, LAYER_NETWORK_FILESYSTEM, "nfs4", "nas:/export/\x1b[2J" "a");
        run = add("commit", KIND_COMMIT, DATA_RANDOM, 200, 200 * 4096, MS);
        fixture_judge(run, &stack, CODE_BIT(CODE_DEVICE_UNSEEN));
        assert_head("Verdict: credible\n"
                    "  commit: device-unseen (accepted): nfs4 is a network file system (nas:/export/\\x1b[2Ja): what its\n"
                    "    server did with the bytes is out of sight\n");
}

/* Believed, and bad all the same: a fast stream makes up for no latency. */
static void test_a_fast_stream_with_slow_syncs(void **state) {
        (void) state;
        fixture_stack(&stack, LAYER_FILESYSTEM, "ext4", "/dev/sda3");
        fixture_node(&stack, 0, LAYER_DISK, "sda", WRITE_CACHE_BACK, 1, FACT_ATTACHED);
        fixture_leaf(add("commit", KIND_COMMIT, DATA_RANDOM, 200, 200 * 4096, 1018 * MS), 0, MIB, 201);
        fixture_judge(&runs[0], &stack, 0);
        fixture_leaf(add("stream", KIND_STREAM, DATA_RANDOM, 1, 200 * MIB, 1100 * MS), 0, 200 * MIB, 1);
        fixture_judge(&runs[1], &stack, 0);
        fixture_leaf(add("create", KIND_CREATE, DATA_RANDOM, 200, 200 * 4001, 50 * MS), 0, 2 * MIB, 201); /* which does more */
        fixture_judge(&runs[2], &stack, 0);
        assert_head("Verdict: credible\n"
                    "Slow: commit's syncs have a p99 of 1.02 s, and etcd wants it under 10 ms: guests and databases wait\n"
                    "      for each of them, however fast a stream is\n");
        (void) drop_items(state);
        fixture_leaf(add("commit", KIND_COMMIT, DATA_RANDOM, 200, 200 * 4096, 9 * MS), 0, MIB, 201);
        fixture_judge(&runs[0], &stack, 0);
        assert_head("Verdict: credible\n");
        (void) drop_items(state);
        fixture_leaf(add("commit", KIND_COMMIT, DATA_RANDOM, 60, 60 * 4096, 1018 * MS), 0, MIB, 61); /* has no p99 */
        fixture_judge(&runs[0], &stack, 0);
        assert_head("Verdict: credible\n");
}

static void test_lines_are_not_too_long(void **state) {
        (void) state;
        struct strbuf b;
        const char *text;

        question();
        strbuf_init(&b);
        judged_add(&b, items, n_items, false);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
                assert_in_range(strcspn(line, "\n"), 1, 110);
        strbuf_done(&b);
}

static void write_head(void *arg) {
        struct strbuf b;
        const char *text;
        int r;

        (void) arg;
        strbuf_init(&b);
        judged_add(&b, items, n_items, false);
        r = strbuf_finish(&b, &text);
        /* Whether a reason was said before may be forgotten, and it is said again, when memory is short. */
        if (!failalloc_failed())
                assert_int_equal(r, 0);
        strbuf_done(&b);
}

static void test_allocations(void **state) {
        (void) state;
        question();
        assert_true(failalloc_each(write_head, NULL) > 5);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_teardown(test_the_question, drop_items),
                cmocka_unit_test_teardown(test_zeros_alone, drop_items),
                cmocka_unit_test_teardown(test_nothing_to_say, drop_items),
                cmocka_unit_test_teardown(test_failed, drop_items),
                cmocka_unit_test_teardown(test_accepted, drop_items),
                cmocka_unit_test_teardown(test_a_fast_stream_with_slow_syncs, drop_items),
                cmocka_unit_test_teardown(test_lines_are_not_too_long, drop_items),
                cmocka_unit_test_teardown(test_allocations, drop_items),
        };

        return testutil_run(tests);
}
