/*
 * verdict: the names that others rely on, and what each code makes of a verdict.
 */
#include "testutil.h"

#include <string.h>

#include "core/verdict.h"

static const struct {
        const char *name;
        enum code code;
        enum verdict verdict;
        bool can_be_accepted;
} contract[] = {
        { "memory-backed", CODE_MEMORY_BACKED, VERDICT_SUSPECT, false },
        { "not-allocated", CODE_NOT_ALLOCATED, VERDICT_SUSPECT, false },
        { "compressed", CODE_COMPRESSED, VERDICT_SUSPECT, false },
        { "device-bytes-missing", CODE_DEVICE_BYTES_MISSING, VERDICT_SUSPECT, false },
        { "no-flush", CODE_NO_FLUSH, VERDICT_SUSPECT, true },
        { "sync-disabled", CODE_SYNC_DISABLED, VERDICT_SUSPECT, false },
        { "faster-than-medium", CODE_FASTER_THAN_MEDIUM, VERDICT_UNVERIFIED, true },
        { "host-cache-unseen", CODE_HOST_CACHE_UNSEEN, VERDICT_UNVERIFIED, true },
        { "controller-cache-unseen", CODE_CONTROLLER_CACHE_UNSEEN, VERDICT_UNVERIFIED, true },
        { "device-unseen", CODE_DEVICE_UNSEEN, VERDICT_UNVERIFIED, true },
        { "cpu-starved", CODE_CPU_STARVED, VERDICT_UNVERIFIED, false },
        { "device-busy", CODE_DEVICE_BUSY, VERDICT_CREDIBLE, false },
        { "burst-rate", CODE_BURST_RATE, VERDICT_CREDIBLE, false },
};

static void test_codes(void **state) {
        (void) state;
        assert_int_equal(sizeof contract / sizeof contract[0], CODE_COUNT_);
        for (size_t i = 0; i < CODE_COUNT_; i++) {
                enum code code = CODE_COUNT_;

                assert_string_equal(code_name(contract[i].code), contract[i].name);
                assert_int_equal(code_parse(contract[i].name, &code), 0);
                assert_int_equal(code, contract[i].code);
                assert_int_equal(code_verdict(code), contract[i].verdict);
                assert_int_equal(code_can_be_accepted(code), contract[i].can_be_accepted);
        }
}

/* A bit number is how grave it is: advice is given for the lowest. */
static void test_order(void **state) {
        (void) state;
        for (unsigned i = 1; i < CODE_COUNT_; i++)
                assert_true(code_verdict((enum code) i) <= code_verdict((enum code) (i - 1)));
}

static void test_names(void **state) {
        enum code code = CODE_COUNT_;

        (void) state;
        assert_string_equal(verdict_name(VERDICT_CREDIBLE), "credible");
        assert_string_equal(verdict_name(VERDICT_UNVERIFIED), "unverified");
        assert_string_equal(verdict_name(VERDICT_SUSPECT), "suspect");
        assert_string_equal(reached_name(REACHED_UNKNOWN), "unknown");
        assert_string_equal(reached_name(REACHED_RAM), "ram");
        assert_string_equal(reached_name(REACHED_FILESYSTEM), "filesystem");
        assert_string_equal(reached_name(REACHED_VIRTUAL_DISK), "virtual-disk");
        assert_string_equal(reached_name(REACHED_CONTROLLER), "controller");
        assert_string_equal(reached_name(REACHED_DEVICE), "device");
        assert_string_equal(basis_name(BASIS_NONE), "none");
        assert_string_equal(basis_name(BASIS_FLUSHES_COUNTED), "flushes-counted");
        assert_string_equal(basis_name(BASIS_NO_VOLATILE_CACHE_CLAIMED), "no-volatile-cache-claimed");
        assert_true(code_parse("no-such-code", &code) < 0);
        assert_true(code_parse("", &code) < 0);
        assert_int_equal(code, CODE_COUNT_);
        for (unsigned round = 0; round < 100; round++) {
                unsigned value = (unsigned) testutil_random() | 64;

                assert_string_equal(verdict_name((enum verdict) value), "unknown");
                assert_string_equal(reached_name((enum reached) value), "unknown");
                assert_string_equal(basis_name((enum basis) value), "unknown");
                assert_string_equal(code_name((enum code) value), "unknown");
                assert_false(code_can_be_accepted((enum code) value));
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_codes),
                cmocka_unit_test(test_order),
                cmocka_unit_test(test_names),
        };

        return testutil_run(tests);
}
