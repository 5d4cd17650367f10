/*
 * defaults: the tests by what lies under a target.
 */
#include "testutil.h"

#include "core/defaults.h"
#include "evidence_fixture.h"

#define SECOND UINT64_C(1000000000)
#define MINUTE (60 * SECOND)

static struct stack s;

static void assert_defaults(const struct stack *stack, uint64_t period_s, uint64_t commit_m, bool streams, bool reuse) {
        struct default_test t[DEFAULTS_MAX];

        assert_int_equal(defaults_for(stack, t), streams ? 3 : 2);
        assert_int_equal(t[0].spec.kind, KIND_PULSE);
        assert_int_equal(t[0].spec.period_ns, period_s * SECOND);
        assert_int_equal(t[0].interval_ns, MINUTE);
        assert_int_equal(t[1].spec.kind, KIND_COMMIT);
        assert_int_equal(t[1].spec.count, 200);
        assert_int_equal(t[1].interval_ns, commit_m * MINUTE);
        if (!streams)
                return;
        assert_int_equal(t[2].spec.kind, KIND_STREAM);
        assert_int_equal(t[2].spec.reuse, reuse);
        assert_int_equal(t[2].spec.size_bytes, UINT64_C(1) << 30);
        assert_int_equal(t[2].interval_ns, 24 * 60 * MINUTE);
}

static void on(enum layer layer, int rotational) {
        fixture_stack(&s, LAYER_FILESYSTEM, "ext4", "x");
        fixture_node(&s, 0, layer, "x", WRITE_CACHE_BACK, rotational, 0);
}

static void test_by_medium(void **state) {
        (void) state;
        assert_defaults(NULL, 10, 15, true, false);
        on(LAYER_DISK, 0);
        assert_defaults(&s, 10, 15, true, false);
        on(LAYER_DISK, 1);
        assert_defaults(&s, 30, 30, true, false);
        on(LAYER_CONTROLLER, 1);
        assert_defaults(&s, 10, 15, true, false);
        on(LAYER_RBD, 0);
        assert_defaults(&s, 15, 30, false, false);
        fixture_stack(&s, LAYER_NETWORK_FILESYSTEM, "nfs4", "nas:/x");
        assert_defaults(&s, 15, 30, false, false);
}

/* What is thin below would grow with each new file. */
static void test_in_place(void **state) {
        static const enum layer thin[] = { LAYER_THIN, LAYER_VDO, LAYER_LOOP };

        (void) state;
        for (size_t i = 0; i < sizeof thin / sizeof thin[0]; i++) {
                on(thin[i], -1);
                assert_true(defaults_reuse(&s));
                fixture_node(&s, 1, LAYER_DISK, "sda", WRITE_CACHE_BACK, 1, 0);
                assert_defaults(&s, 30, 30, true, true);
        }
        on(LAYER_VIRTUAL, 1);
        assert_defaults(&s, 10, 15, true, true);
        on(LAYER_FABRIC, 0);
        assert_true(defaults_reuse(&s));
        on(LAYER_LVM, 0);
        assert_false(defaults_reuse(&s));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_by_medium),
                cmocka_unit_test(test_in_place),
        };

        return testutil_run(tests);
}
