/*
 * verdict: names, and the honest judgement without evidence.
 */
#include "testutil.h"

#include <string.h>

#include "core/verdict.h"

static void test_names(void **state) {
        (void) state;
        assert_string_equal(verdict_name(VERDICT_CREDIBLE), "credible");
        assert_string_equal(verdict_name(VERDICT_UNVERIFIED), "unverified");
        assert_string_equal(verdict_name(VERDICT_SUSPECT), "suspect");
        assert_string_equal(reached_name(REACHED_UNKNOWN), "unknown");
        assert_string_equal(basis_name(BASIS_NONE), "none");
        assert_string_equal(code_name(CODE_DEVICE_UNSEEN), "device-unseen");
        assert_non_null(strstr(code_text(CODE_DEVICE_UNSEEN), "does not watch the devices"));
        for (unsigned round = 0; round < 100; round++) {
                unsigned value = (unsigned) testutil_random() | 64;

                assert_string_equal(verdict_name((enum verdict) value), "unknown");
                assert_string_equal(reached_name((enum reached) value), "unknown");
                assert_string_equal(basis_name((enum basis) value), "unknown");
                assert_string_equal(code_name((enum code) value), "unknown");
                assert_string_equal(code_text((enum code) value), "unknown");
        }
}

static void test_without_evidence(void **state) {
        struct judgement j;

        (void) state;
        memset(&j, 0xff, sizeof j);
        judgement_without_evidence(&j);
        assert_int_equal(j.verdict, VERDICT_UNVERIFIED);
        assert_int_equal(j.reached, REACHED_UNKNOWN);
        assert_int_equal(j.basis, BASIS_NONE);
        assert_int_equal(j.codes, 1u << CODE_DEVICE_UNSEEN);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_names),
                cmocka_unit_test(test_without_evidence),
        };

        return testutil_run(tests);
}
