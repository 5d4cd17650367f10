/*
 * proto: good messages pass, and whatever a broken or hostile side sends does not.
 */
#include "testutil.h"

#include <errno.h>
#include <string.h>

#include "core/proto.h"

static void make(union proto_message *m, enum proto_type type) {
        char error[SPEC_ERROR_BYTES];

        proto_init(m, type);
        if (type == PROTO_SETUP)
                (void) strcpy(m->setup.path, "/mnt");
        if (type == PROTO_MAP)
                (void) strcpy(m->map.path, "/mnt");
        if (type == PROTO_STACK) {
                m->stack.stack.n_nodes = 2;
                m->stack.stack.nodes[0].parent = -1;
        }
        if (type == PROTO_RUN) {
                m->run.n_leaves = 2;
                (void) strcpy(m->run.leaves[0].name, "sda");
                (void) strcpy(m->run.leaves[1].name, "nvme0n1");
                spec_init(&m->run.spec, KIND_COMMIT);
                assert_int_equal(spec_finish(&m->run.spec, error), 0);
        }
}

static void test_good(void **state) {
        union proto_message m;

        (void) state;
        for (enum proto_type type = PROTO_SETUP; type <= PROTO_STACK; type++) {
                make(&m, type);
                assert_int_equal(proto_check(&m, proto_size(type)), type);
        }
        assert_int_equal(proto_size((enum proto_type) 0), 0);
        assert_int_equal(proto_size((enum proto_type) 7), 0);
}

static void test_sizes(void **state) {
        union proto_message m;

        (void) state;
        for (enum proto_type type = PROTO_SETUP; type <= PROTO_STACK; type++) {
                make(&m, type);
                for (size_t n = 0; n < sizeof m; n++)
                        if (n != proto_size(type))
                                assert_true(proto_check(&m, n) < 0);
                m.header.length--;
                assert_int_equal(proto_check(&m, proto_size(type)), -EBADMSG);
        }
}

static void test_another_build(void **state) {
        union proto_message m;

        (void) state;
        make(&m, PROTO_READY);
        m.header.version++;
        assert_int_equal(proto_check(&m, sizeof m.ready), -EPROTONOSUPPORT);
        make(&m, PROTO_READY);
        m.header.magic++;
        assert_int_equal(proto_check(&m, sizeof m.ready), -EBADMSG);
}

#define REJECTS(type_, size_, change) \
        do { \
                union proto_message m; \
                make(&m, type_); \
                change; \
                assert_int_equal(proto_check(&m, size_), -EBADMSG); \
        } while (0)

static void set_unsigned(void *field, unsigned value) {
        (void) memcpy(field, &value, sizeof value);
}

static void set_byte(void *field, unsigned char value) {
        (void) memcpy(field, &value, 1);
}

static void test_ranges(void **state) {
        const size_t setup = sizeof(struct proto_setup), ready = sizeof(struct proto_ready),
                     run = sizeof(struct proto_run), report = sizeof(struct proto_report);

        (void) state;
        REJECTS(PROTO_SETUP, setup, m.setup.path[0] = '\0');
        REJECTS(PROTO_SETUP, setup, memset(m.setup.path, 'a', sizeof m.setup.path));
        REJECTS(PROTO_SETUP, setup, memset(m.setup.machine, 'a', sizeof m.setup.machine));
        REJECTS(PROTO_SETUP, setup, m.setup.kept_count = PROTO_KEPT_MAX + 1);
        REJECTS(PROTO_SETUP, setup, set_byte(&m.setup.follow, 2));
        REJECTS(PROTO_READY, ready, set_unsigned(&m.ready.reason, REASON_COUNT_));
        REJECTS(PROTO_READY, ready, set_unsigned(&m.ready.phase, 77));
        REJECTS(PROTO_READY, ready, m.ready.error = -1);
        REJECTS(PROTO_READY, ready, memset(m.ready.fstype, 'a', sizeof m.ready.fstype));
        REJECTS(PROTO_RUN, run, m.run.flags = 1u << 31);
        REJECTS(PROTO_RUN, run, set_unsigned(&m.run.spec.kind, KIND_COUNT_));
        REJECTS(PROTO_RUN, run, set_unsigned(&m.run.spec.data, 99));
        REJECTS(PROTO_RUN, run, set_byte(&m.run.spec.direct, 7));
        REJECTS(PROTO_RUN, run, m.run.spec.block_bytes = 0);
        REJECTS(PROTO_RUN, run, m.run.spec.block_bytes = UINT64_MAX);
        REJECTS(PROTO_REPORT, report, set_unsigned(&m.report.outcome, OUTCOME_COUNT_));
        REJECTS(PROTO_REPORT, report, m.report.reason = REASON_IO);         /* ok, with a reason */
        REJECTS(PROTO_REPORT, report, m.report.outcome = OUTCOME_FAILED); /* failed, without */
        REJECTS(PROTO_REPORT, report, set_unsigned(&m.report.writeback, PROTO_EFFECT_COUNT_));
        REJECTS(PROTO_REPORT, report, set_byte(&m.report.truncated, 255));
        /* A leaf's name goes into a path. */
        REJECTS(PROTO_RUN, run, m.run.n_leaves = STACK_LEAVES_MAX + 1);
        REJECTS(PROTO_RUN, run, m.run.n_leaves = 3);
        REJECTS(PROTO_RUN, run, (void) strcpy(m.run.leaves[1].name, ".."));
        REJECTS(PROTO_RUN, run, (void) strcpy(m.run.leaves[1].name, "a/b"));
        REJECTS(PROTO_RUN, run, memset(m.run.leaves[1].name, 'a', sizeof m.run.leaves[1].name));
        REJECTS(PROTO_MAP, sizeof m.map, m.map.path[0] = '\0');
        REJECTS(PROTO_STACK, sizeof m.stack, m.stack.stack.n_nodes = STACK_NODES_MAX + 1);
        REJECTS(PROTO_STACK, sizeof m.stack, m.stack.stack.nodes[0].parent = 0);
        REJECTS(PROTO_STACK, sizeof m.stack, m.stack.stack.nodes[1].parent = 1); /* its own */
        REJECTS(PROTO_STACK, sizeof m.stack, m.stack.stack.nodes[1].layer = LAYER_COUNT_);
        REJECTS(PROTO_STACK, sizeof m.stack, m.stack.stack.nodes[1].role = ROLE_COUNT_);
        REJECTS(PROTO_STACK, sizeof m.stack, m.stack.stack.nodes[1].write_cache = WRITE_CACHE_COUNT_);
        REJECTS(PROTO_STACK, sizeof m.stack, m.stack.stack.nodes[1].rotational = 2);
        REJECTS(PROTO_STACK, sizeof m.stack, m.stack.stack.nodes[1].facts = UINT32_MAX);
        REJECTS(PROTO_STACK, sizeof m.stack, set_byte((void *) &m.stack.stack.incomplete, 2));
        REJECTS(PROTO_STACK, sizeof m.stack, memset(m.stack.stack.source, 'a', sizeof m.stack.stack.source));
}

/* Whatever comes: an answer, and under the sanitizers no complaint. */
static void test_noise(void **state) {
        union proto_message m;

        (void) state;
        for (unsigned round = 0; round < 20000; round++) {
                enum proto_type type = (enum proto_type) (1 + testutil_random_below(6));

                make(&m, type);
                for (uint64_t flips = testutil_random_below(8); flips > 0; flips--)
                        ((uint8_t *) &m)[sizeof m.header + testutil_random_below(proto_size(type) - sizeof m.header)] =
                                (uint8_t) testutil_random();
                (void) proto_check(&m, proto_size(type));
        }
        testutil_random_bytes(&m, sizeof m);
        assert_true(proto_check(&m, sizeof m) < 0);
}

static void test_call_word(void **state) {
        (void) state;
        for (unsigned round = 0; round < 1000; round++) {
                enum phase phase = (enum phase) testutil_random_below(PHASE_COUNT_);
                uint64_t since = testutil_random() >> 3;

                assert_int_equal(proto_call_phase(proto_call(phase, since)), phase);
                assert_int_equal(proto_call_since_ns(proto_call(phase, since)), since);
        }
        assert_int_equal(proto_call_phase(7), PHASE_NONE);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_good),   cmocka_unit_test(test_sizes), cmocka_unit_test(test_another_build),
                cmocka_unit_test(test_ranges), cmocka_unit_test(test_noise), cmocka_unit_test(test_call_word),
        };

        return testutil_run(tests);
}
