/*
 * reason: the fixed names, what each errno means, and nothing out of range.
 */
#include "testutil.h"

#include <errno.h>
#include <string.h>

#include "core/reason.h"

static void test_names(void **state) {
        static const char *const reasons[] = { "none", "timeout", "nospace", "quota", "readonly", "notfound",
                "notmounted", "notprepared", "permission", "io", "stale", "interrupted", "internal" };
        static const char *const skips[] = { "inflight", "busy", "budget", "lowspace", "quiet", "overlap", "paused" };
        static const char *const phases[] = { "none", "lookup", "create", "write", "sync", "close", "unlink" };
        static const char *const outcomes[] = { "ok", "failed", "skipped" };

        (void) state;
        for (unsigned i = 0; i < REASON_COUNT_; i++)
                assert_string_equal(reason_name((enum reason) i), reasons[i]);
        for (unsigned i = 0; i < SKIP_COUNT_; i++)
                assert_string_equal(skip_name((enum skip) i), skips[i]);
        for (unsigned i = 0; i < PHASE_COUNT_; i++)
                assert_string_equal(phase_name((enum phase) i), phases[i]);
        for (unsigned i = 0; i < OUTCOME_COUNT_; i++)
                assert_string_equal(outcome_name((enum outcome) i), outcomes[i]);
}

static void test_out_of_range(void **state) {
        (void) state;
        for (unsigned round = 0; round < 1000; round++) {
                unsigned value = (unsigned) testutil_random() | 64;

                assert_string_equal(reason_name((enum reason) value), "unknown");
                assert_string_equal(reason_text((enum reason) value), "unknown");
                assert_string_equal(skip_name((enum skip) value), "unknown");
                assert_string_equal(skip_text((enum skip) value), "unknown");
                assert_string_equal(phase_name((enum phase) value), "unknown");
                assert_string_equal(outcome_name((enum outcome) value), "unknown");
        }
}

static void test_every_text(void **state) {
        (void) state;
        for (unsigned i = 0; i < REASON_COUNT_; i++)
                assert_true(strlen(reason_text((enum reason) i)) > 3);
        for (unsigned i = 0; i < SKIP_COUNT_; i++)
                assert_true(strlen(skip_text((enum skip) i)) > 3);
}

static void test_errnos(void **state) {
        static const struct {
                int error;
                enum reason reason;
        } meanings[] = {
                { ENOSPC, REASON_NOSPACE }, { EFBIG, REASON_NOSPACE }, { EDQUOT, REASON_QUOTA },
                { EROFS, REASON_READONLY }, { ENOENT, REASON_NOTFOUND }, { ENOTDIR, REASON_NOTFOUND },
                { ENOTCONN, REASON_NOTMOUNTED }, { ESTALE, REASON_STALE }, { EACCES, REASON_PERMISSION },
                { EPERM, REASON_PERMISSION }, { EIO, REASON_IO }, { ENODEV, REASON_IO }, { ENXIO, REASON_IO },
                { EREMOTEIO, REASON_IO }, { ENODATA, REASON_IO }, { EUCLEAN, REASON_IO },
                { ECONNABORTED, REASON_IO }, { EHOSTUNREACH, REASON_IO }, { EINTR, REASON_INTERRUPTED }, { ECANCELED, REASON_INTERRUPTED },
                { ETIMEDOUT, REASON_TIMEOUT }, { ELOOP, REASON_NOTPREPARED }, { EKEYREJECTED, REASON_NOTPREPARED },
                { EINVAL, REASON_INTERNAL },
                { ENOMEM, REASON_INTERNAL }, { 0, REASON_INTERNAL }, { 99999, REASON_INTERNAL },
        };

        (void) state;
        for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
                assert_int_equal(reason_from_errno(meanings[i].error), meanings[i].reason);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_names),
                cmocka_unit_test(test_out_of_range),
                cmocka_unit_test(test_every_text),
                cmocka_unit_test(test_errnos),
        };

        return testutil_run(tests);
}
