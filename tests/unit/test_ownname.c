/*
 * ownname: what is ours to the letter, and nothing else: what it takes is deleted.
 */
#include "testutil.h"

#include <stdio.h>
#include <string.h>

#include "core/ownname.h"

static void test_formats(void **state) {
        char name[OWNNAME_BYTES];

        (void) state;
        ownname_format(name, &(struct ownname) { .machine = 0x1f, .uid = 0, .token = 0xabc });
        assert_string_equal(name, ".syncprobe-0000001f-0-0000000000000abc");
        ownname_format(name, &(struct ownname) { .machine = UINT32_MAX, .uid = UINT32_MAX, .token = UINT64_MAX });
        assert_string_equal(name, ".syncprobe-ffffffff-4294967295-ffffffffffffffff");
        ownname_format(name, &(struct ownname) { .machine = 1, .uid = 998, .kept = true, .token = 0xabc });
        assert_string_equal(name, ".syncprobe-00000001-998-kept000000000abc");
        ownname_format(name, &(struct ownname) { .kept = true, .uid = UINT32_MAX, .token = UINT64_MAX });
        assert_string_equal(name, ".syncprobe-00000000-4294967295-keptffffffffffff");
}

static void test_round_trip(void **state) {
        (void) state;
        for (unsigned round = 0; round < 100000; round++) {
                struct ownname n = { .machine = (uint32_t) testutil_random(),
                                     .uid = (uint32_t) (testutil_random() >> (32 + testutil_random_below(32))),
                                     .kept = testutil_random_below(2) == 1,
                                     .token = testutil_random() },
                               again = { 0 };
                char name[OWNNAME_BYTES];

                if (n.kept)
                        n.token >>= 16;
                ownname_format(name, &n);
                assert_true(strlen(name) + 1 < OWNNAME_BYTES);
                assert_true(ownname_parse(name, &again));
                assert_int_equal(again.machine, n.machine);
                assert_int_equal(again.uid, n.uid);
                assert_int_equal(again.kept, n.kept);
                assert_int_equal(again.token, n.token);
        }
}

/* One byte changed, dropped or added: either it is refused, or it is another
 * name that is formatted just so. */
static void test_to_the_letter(void **state) {
        (void) state;
        for (unsigned round = 0; round < 200000; round++) {
                struct ownname n = { .machine = (uint32_t) testutil_random(), .uid = (uint32_t) testutil_random_below(70000),
                                     .kept = testutil_random_below(2) == 1, .token = testutil_random() >> 16 };
                char name[OWNNAME_BYTES + 1], again[OWNNAME_BYTES];
                size_t length, at;

                ownname_format(name, &n);
                length = strlen(name);
                at = testutil_random_below(length + 1);
                switch (testutil_random_below(3)) {
                case 0:
                        name[at] = (char) testutil_random();
                        break;
                case 1:
                        memmove(name + at, name + at + (at < length ? 1 : 0), length - at + (at < length ? 0 : 1));
                        break;
                default:
                        memmove(name + at + 1, name + at, length - at + 1);
                        name[at] = "0aA-+ kept."[testutil_random_below(11)];
                        break;
                }
                name[OWNNAME_BYTES] = '\0';
                if (ownname_parse(name, &n)) {
                        ownname_format(again, &n);
                        assert_string_equal(name, again);
                }
        }
}

static void test_refused(void **state) {
        static const char *const names[] = {
                "", ".", "..", ".syncprobe", ".syncprobe-", "syncprobe-0000001f-0-0000000000000abc",
                ".syncprobe-0000001F-0-0000000000000abc", ".syncprobe-0000001f-00-0000000000000abc",
                ".syncprobe-0000001f--0000000000000abc", ".syncprobe-0000001f-4294967296-0000000000000abc",
                ".syncprobe-0000001f-99999999999999999999-0000000000000abc", ".syncprobe-0000001f-0-000000000000abc",
                ".syncprobe-0000001f-0-00000000000000abc", ".syncprobe-0000001f-0-0000000000000abc ",
                ".syncprobe-0000001f-0-kept0000000000abc", ".syncprobe-0000001f-0-kept00000000000abc",
                ".syncprobe-0000001f-0-KEPT000000000abc", ".syncprobe-0000001f-+0-0000000000000abc",
                ".syncprobe-1f-0-0000000000000abc", ".syncprobe-0000001f-0-0000000000000abc/x",
        };
        struct ownname n = { .machine = 77 };

        (void) state;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
                if (ownname_parse(names[i], &n))
                        fail_msg("\"%s\" was taken", names[i]);
        assert_int_equal(n.machine, 77);
}

static void test_hash(void **state) {
        (void) state;
        assert_true(ownname_hash("vz", "pulse") < UINT64_C(1) << 48);
        assert_true(ownname_hash("vz", "pulse") != ownname_hash("vz", "stream"));
        assert_int_equal(ownname_hash("vz", "pulse"), ownname_hash("vz", "pulse"));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_formats),
                cmocka_unit_test(test_round_trip),
                cmocka_unit_test(test_to_the_letter),
                cmocka_unit_test(test_refused),
                cmocka_unit_test(test_hash),
        };

        return testutil_run(tests);
}
