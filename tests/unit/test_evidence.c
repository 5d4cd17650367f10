/*
 * evidence: what is kept of a run's readings, sums over the leaves, and all of it as JSON.
 */
#include "testutil.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/evidence.h"
#include "core/evidence_json.h"
#include "evidence_fixture.h"
#include "failalloc.h"

#define MIB UINT64_C(1048576)
#define MS UINT64_C(1000000)

static struct stack stack;
static struct proto_evidence seen;

/* Two disks, and a log device before them. */
static void mirror_with_log(void) {
        fixture_stack(&stack, LAYER_FILESYSTEM, "zfs", "tank");
        fixture_node(&stack, 0, LAYER_DISK, "sda", WRITE_CACHE_BACK, 1, 0);
        fixture_node(&stack, 0, LAYER_DISK, "sdb", WRITE_CACHE_BACK, 1, 0);
        stack.nodes[fixture_node(&stack, 0, LAYER_DISK, "nvme0n1", WRITE_CACHE_BACK, 0, 0)].role = ROLE_LOG;
        proto_evidence_init(&seen);
        for (size_t i = 0; i < 3; i++)
                seen.leaves[i] = (struct proto_counters) { (i + 1) * MIB, i + 10 };
}

static struct evidence *make(void) {
        struct stack *copy;
        struct evidence *e;

        assert_int_equal(stack_new(&copy, &stack), 0);
        assert_int_equal(evidence_new(&e, copy, &seen), 0);
        stack_unref(copy);
        return e;
}

static void test_sums(void **state) {
        struct evidence_flushes f;
        struct evidence *e;

        (void) state;
        mirror_with_log();
        e = make();
        assert_int_equal(e->n_leaves, 3);
        assert_int_equal(evidence_device_bytes(e), 6 * MIB);
        evidence_flushes(e, &f);
        assert_int_equal(f.leaves, 1); /* the log takes the syncs */
        assert_int_equal(f.flushes, 12);
        evidence_unref(e);

        stack.nodes[0].facts |= FACT_THROUGHPUT; /* and then it does not */
        e = make();
        evidence_flushes(e, &f);
        assert_int_equal(f.leaves, 3);
        assert_int_equal(f.volatile_, 3);
        assert_int_equal(f.flushes, 10 + 11 + 12);
        evidence_unref(e);

        stack.nodes[1].write_cache = WRITE_CACHE_THROUGH;
        stack.nodes[2].write_cache = WRITE_CACHE_UNKNOWN;
        e = make();
        evidence_flushes(e, &f);
        assert_int_equal(f.volatile_, 1);
        assert_int_equal(f.unknown, 1);
        assert_int_equal(f.flushes, 12);
        evidence_unref(e);

        seen.leaves[1].written_bytes = PROTO_UNKNOWN; /* one that is not known makes the sum unknown */
        seen.leaves[2].flushes = PROTO_UNKNOWN;
        e = make();
        assert_int_equal(evidence_device_bytes(e), PROTO_UNKNOWN);
        evidence_flushes(e, &f);
        assert_int_equal(f.flushes, PROTO_UNKNOWN);
        evidence_unref(e);
}

static void test_others(void **state) {
        struct evidence *e;

        (void) state;
        mirror_with_log();
        e = make();
        assert_int_equal(evidence_other_bytes(e), PROTO_UNKNOWN); /* nobody looked */
        evidence_unref(e);
        seen.other_bytes = MIB;
        seen.other_ns = 100 * MS;
        seen.watched_ns = 1000 * MS;
        e = make();
        assert_int_equal(evidence_other_bytes(e), 10 * MIB);
        evidence_unref(e);
        seen.other_bytes = UINT64_MAX - 1; /* what no device does, a worker may still say */
        seen.other_ns = 1;
        e = make();
        assert_true(evidence_other_bytes(e) < PROTO_UNKNOWN);
        evidence_unref(e);
}

static void test_nothing_mapped(void **state) {
        struct evidence *e;

        (void) state;
        proto_evidence_init(&seen);
        assert_int_equal(evidence_new(&e, NULL, &seen), 0);
        assert_int_equal(e->n_leaves, 0);
        assert_int_equal(evidence_device_bytes(e), PROTO_UNKNOWN);
        assert_ptr_equal(evidence_ref(e), e);
        assert_null(evidence_unref(e));
        assert_null(evidence_unref(e));
        assert_null(evidence_ref(NULL));
        assert_null(evidence_unref(NULL));
}

/* A pulse is watched sample by sample. */
static void test_samples(void **state) {
        struct proto_evidence total, one;

        (void) state;
        proto_evidence_init(&total);
        proto_evidence_init(&one);
        one.watched_ns = 5 * MS;
        one.waited_ns = MS;
        one.stolen_ns = PROTO_UNKNOWN;
        one.leaves[0] = (struct proto_counters) { 4096, 1 };
        evidence_add_sample(&total, &one);
        evidence_add_sample(&total, &one);
        assert_int_equal(total.watched_ns, 10 * MS);
        assert_int_equal(total.waited_ns, 2 * MS);
        assert_int_equal(total.stolen_ns, PROTO_UNKNOWN);
        assert_int_equal(total.leaves[0].written_bytes, 8192);
        assert_int_equal(total.leaves[0].flushes, 2);
        one.leaves[0].flushes = PROTO_UNKNOWN;
        evidence_add_sample(&total, &one);
        assert_int_equal(total.leaves[0].written_bytes, 12288);
        assert_int_equal(total.leaves[0].flushes, PROTO_UNKNOWN);
        one.leaves[0].flushes = 1; /* it stays unknown */
        evidence_add_sample(&total, &one);
        assert_int_equal(total.leaves[0].flushes, PROTO_UNKNOWN);
}

static void test_order(void **state) {
        struct proto_run order = { .n_leaves = 7 };

        (void) state;
        evidence_fill_order(&order, NULL);
        assert_int_equal(order.n_leaves, 0);
        mirror_with_log();
        stack.nodes[2].diskseq = 42;
        evidence_fill_order(&order, &stack);
        assert_int_equal(order.n_leaves, 3);
        assert_string_equal(order.leaves[1].name, "sdb");
        assert_int_equal(order.leaves[1].diskseq, 42);
        assert_string_equal(order.leaves[2].name, "nvme0n1");
}

/* --- JSON ------------------------------------------------------------------- */

static void assert_json(json_t *json, const char *expected) {
        char *text;

        assert_non_null(json);
        text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
        assert_non_null(text);
        assert_string_equal(text, expected);
        free(text);
        json_decref(json);
}

static void test_stack_to_json(void **state) {
        (void) state;
        assert_json(stack_to_json(NULL), "null");
        fixture_stack(&stack, LAYER_FILESYSTEM, "ext4", "/dev/s\xff" "a");
        strcpy(stack.mount_point, "/srv");
        strcpy(stack.options, "rw,nobarrier");
        stack.nodes[0].facts = FACT_NO_BARRIER;
        fixture_node(&stack, 0, LAYER_DISK, "sda", WRITE_CACHE_BACK, 1, FACT_ATTACHED | FACT_FUA);
        strcpy(stack.nodes[1].transport, "sas");
        assert_json(stack_to_json(&stack),
                    "{\"fstype\":\"ext4\",\"source\":\"/dev/s\xef\xbf\xbd" "a\",\"mount_point\":\"/srv\","
                    "\"options\":\"rw,nobarrier\",\"medium\":\"rotating\",\"complete\":true,\"remark\":null,"
                    "\"nodes\":[{\"name\":\"ext4\",\"layer\":\"filesystem\",\"parent\":null,\"role\":\"data\","
                    "\"detail\":\"/dev/s\xef\xbf\xbd" "a\",\"transport\":null,\"rotational\":null,\"write_cache\":null,"
                    "\"facts\":[\"nobarrier\"]},{\"name\":\"sda\",\"layer\":\"disk\",\"parent\":0,\"role\":\"data\","
                    "\"detail\":null,\"transport\":\"sas\",\"rotational\":true,\"write_cache\":\"write back\","
                    "\"facts\":[\"fua\",\"attached\"]}]}");
}

/* Each fact has a name. */
static void test_facts(void **state) {
        json_t *json, *facts;

        (void) state;
        fixture_stack(&stack, LAYER_FILESYSTEM, "ext4", "x");
        for (unsigned bit = 0; (FACT_MASK_ >> bit) != 0; bit++) {
                stack.nodes[0].facts = UINT32_C(1) << bit;
                json = stack_to_json(&stack);
                facts = json_object_get(json_array_get(json_object_get(json, "nodes"), 0), "facts");
                assert_int_equal(json_array_size(facts), 1);
                json_decref(json);
        }
}

static void test_evidence_to_json(void **state) {
        struct fixture_run run;

        (void) state;
        mirror_with_log();
        fixture_run(&run, KIND_STREAM, DATA_RANDOM, 1, 6 * MIB, 1000 * MS);
        fixture_file(&run, 6 * MIB);
        for (size_t i = 0; i < 3; i++)
                run.seen.leaves[i] = seen.leaves[i];
        run.seen.leaves[2].flushes = PROTO_UNKNOWN;
        fixture_judge(&run, &stack, 0);
        assert_json(evidence_to_json(&run.result),
                    "{\"fstype\":\"zfs\",\"source\":\"tank\",\"devices\":["
                    "{\"name\":\"sda\",\"layer\":\"disk\",\"role\":\"data\",\"rotational\":true,\"write_cache\":\"write back\","
                    "\"written_bytes\":1048576,\"flushes\":10},"
                    "{\"name\":\"sdb\",\"layer\":\"disk\",\"role\":\"data\",\"rotational\":true,\"write_cache\":\"write back\","
                    "\"written_bytes\":2097152,\"flushes\":11},"
                    "{\"name\":\"nvme0n1\",\"layer\":\"disk\",\"role\":\"log\",\"rotational\":false,\"write_cache\":\"write back\","
                    "\"written_bytes\":3145728,\"flushes\":null}],"
                    "\"device_written_bytes\":6291456,\"other_written_bytes\":null,\"distinct_bytes\":6291456,"
                    "\"allocated_bytes\":6291456,\"extent_bytes\":6291456,\"encoded_bytes\":0,\"delayed_bytes\":0,"
                    "\"watched_seconds\":1.0,\"cpu_wait_seconds\":null,\"cpu_steal_seconds\":null}");
        result_done(&run.result);
}

static void test_reasons(void **state) {
        struct fixture_run run;

        (void) state;
        fixture_stack(&stack, LAYER_NETWORK_FILESYSTEM, "nfs4", "nas:/x");
        fixture_run(&run, KIND_COMMIT, DATA_RANDOM, 200, 200 * 4096, MS);
        fixture_judge(&run, &stack, CODE_BIT(CODE_DEVICE_UNSEEN));
        assert_json(reasons_to_json(&run.result),
                    "[{\"code\":\"device-unseen\",\"text\":\"nfs4 is a network file system (nas:/x): what its server did with "
                    "the bytes is out of sight\",\"accepted\":true}]");
        result_done(&run.result);
}

static void write_document(void *arg) {
        struct stack_json_item items[] = { { .path = "/srv", .stack = arg }, { .path = "/x" } };
        const char *text;
        struct strbuf b;
        int r;

        strbuf_init(&b);
        stack_json_add_document(&b, items, 2);
        r = strbuf_finish(&b, &text);
        assert_int_equal(r, failalloc_failed() ? -ENOMEM : 0);
        if (r == 0) {
                assert_non_null(strstr(text, "\"path\": \"/srv\""));
                assert_non_null(strstr(text, "\"stack\": null"));
                assert_non_null(strstr(text, "\"default_tests\": ["));
                assert_int_equal(text[strlen(text) - 1], '\n');
        }
        strbuf_done(&b);
}

static void write_evidence(void *arg) {
        json_t *evidence = evidence_to_json(arg), *reasons = reasons_to_json(arg);

        if (!failalloc_failed())
                assert_true(evidence && reasons);
        else
                assert_false(evidence && reasons);
        json_decref(evidence);
        json_decref(reasons);
}

static void copy(void *arg) {
        struct evidence *e = NULL;
        int r = evidence_new(&e, arg, &seen);

        assert_int_equal(r, failalloc_failed() ? -ENOMEM : 0);
        assert_true(r == 0 || !e);
        evidence_unref(e);
}

static void test_allocations(void **state) {
        struct fixture_run run;

        (void) state;
        json_set_alloc_funcs(malloc, free);
        mirror_with_log();
        fixture_run(&run, KIND_COMMIT, DATA_RANDOM, 200, 200 * 4096, MS);
        fixture_judge(&run, &stack, 0);
        assert_true(failalloc_each(copy, run.result.evidence->stack) == 1);
        assert_true(failalloc_each(write_document, run.result.evidence->stack) > 20);
        assert_true(failalloc_each(write_evidence, &run.result) > 10);
        assert_int_equal(run.result.evidence->stack->references, 1);
        result_done(&run.result);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_sums),          cmocka_unit_test(test_others),
                cmocka_unit_test(test_nothing_mapped), cmocka_unit_test(test_samples),
                cmocka_unit_test(test_order),         cmocka_unit_test(test_stack_to_json),
                cmocka_unit_test(test_facts),         cmocka_unit_test(test_evidence_to_json),
                cmocka_unit_test(test_reasons),       cmocka_unit_test(test_allocations),
        };

        return testutil_run(tests);
}
