/*
 * zpool: what the tools of ZFS print.
 */
#include "testutil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/zpool.h"

#define HEAD "  pool: tank\n state: ONLINE\n  scan: none requested\nconfig:\n\n"
#define COLUMNS "\tNAME           STATE     READ WRITE CKSUM\n"
#define TAIL "\nerrors: No known data errors\n"

static struct zpool_vdev vdevs[8];

static size_t parse(const char *text) {
        return zpool_parse_status(text, vdevs, sizeof vdevs / sizeof vdevs[0]);
}

static void assert_vdev(size_t i, const char *path, enum role role) {
        assert_string_equal(vdevs[i].path, path);
        assert_int_equal(vdevs[i].role, role);
}

static void test_one_disk(void **state) {
        (void) state;
        assert_int_equal(parse(HEAD COLUMNS "\ttank           ONLINE       0     0     0\n"
                                            "\t  /dev/sda1    ONLINE       0     0     0\n" TAIL), 1);
        assert_vdev(0, "/dev/sda1", ROLE_DATA);
}

static void test_groups(void **state) {
        (void) state;
        assert_int_equal(parse(HEAD COLUMNS "\ttank           ONLINE       0     0     0\n"
                                            "\t  raidz1-0     ONLINE       0     0     0\n"
                                            "\t    /dev/sda1  ONLINE       0     0     0\n"
                                            "\t    /dev/sdb1  ONLINE       0     0     0\n"
                                            "\tdedup\t\n"
                                            "\t  /dev/sdc1    ONLINE       0     0     0\n"
                                            "\tspecial\t\n"
                                            "\t  mirror-2     ONLINE       0     0     0\n"
                                            "\t    /dev/sdd1  ONLINE       0     0     0\n"
                                            "\tlogs\t\n"
                                            "\t  /dev/sde1    ONLINE       0     0     0\n"
                                            "\tcache\n"
                                            "\t  /dev/sdf1    ONLINE       0     0     0\n"
                                            "\tspares\n"
                                            "\t  /dev/sdg1    AVAIL   \n" TAIL), 6);
        assert_vdev(0, "/dev/sda1", ROLE_DATA);
        assert_vdev(1, "/dev/sdb1", ROLE_DATA);
        assert_vdev(2, "/dev/sdc1", ROLE_SPECIAL);
        assert_vdev(3, "/dev/sdd1", ROLE_SPECIAL);
        assert_vdev(4, "/dev/sde1", ROLE_LOG);
        assert_vdev(5, "/dev/sdf1", ROLE_CACHE);
}

/* With a missing disk, a replacement under way and a spare in use. */
static void test_degraded(void **state) {
        (void) state;
        assert_int_equal(parse("  pool: tank\n state: DEGRADED\n"
                               "status: One or more devices could not be used because the label is missing or\n"
                               "\tinvalid.  Sufficient replicas exist for the pool to continue\n"
                               "\tfunctioning in a degraded state.\n"
                               "action: Replace the device using 'zpool replace'.\n"
                               "   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-4J\n"
                               "  scan: resilvered 75K in 00:00:01 with 0 errors on Sun Oct 13 00:36:22 2024\n"
                               "config:\n\n"
                               "\tNAME                       STATE     READ WRITE CKSUM\n"
                               "\ttank                       DEGRADED     0     0     0\n"
                               "\t  mirror-0                 DEGRADED     0     0     0\n"
                               "\t    /dev/sda1              ONLINE       0     0     0\n"
                               "\t    10436218394384218927   UNAVAIL      0     0     0  was /dev/sdb1\n"
                               "\t  mirror-1                 DEGRADED     0     0     0\n"
                               "\t    replacing-0            ONLINE       0     0     0\n"
                               "\t      /dev/sdc1            ONLINE       0     0     0\n"
                               "\t      /dev/sdd1            ONLINE       0     0     0  (resilvering)\n"
                               "\t    spare-1                DEGRADED     0     0     0\n"
                               "\t      /dev/sde1            FAULTED      0     0     0  too many errors\n"
                               "\t      /dev/sdf1            ONLINE       0     0     0\n"
                               "\tspares\n"
                               "\t  /dev/sdf1                INUSE     currently in use\n"
                               "\nerrors: No known data errors\n"), 5);
        assert_vdev(0, "/dev/sda1", ROLE_DATA);
        assert_vdev(1, "/dev/sdc1", ROLE_DATA);
        assert_vdev(4, "/dev/sdf1", ROLE_DATA);
}

/* Below the errors there may be paths again: of files. */
static void test_errors(void **state) {
        (void) state;
        assert_int_equal(parse(HEAD COLUMNS "\ttank  ONLINE  0 0 0\n\t  /dev/sda1  ONLINE  0 0 2\n\n"
                                            "errors: Permanent errors have been detected in the following files:\n\n"
                                            "        /tank/file\n\t/tank/other\n"), 1);
}

/* A pool may be called like a group: only "log", "mirror", "raidz", "draid" and "spare" are refused. */
static void test_pool_named_like_a_group(void **state) {
        static const char *const names[] = { "cache", "special", "logs", "spares", "dedup" };

        (void) state;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
                char text[512];

                (void) snprintf(text, sizeof text,
                                "  pool: %s\n state: ONLINE\nconfig:\n\n" COLUMNS
                                "\t%s  ONLINE  0 0 0\n\t  /dev/sda1  ONLINE  0 0 0\n"
                                "\tlogs\t\n\t  /dev/sdb1  ONLINE  0 0 0\n" TAIL, names[i], names[i]);
                assert_int_equal(parse(text), 2);
                assert_vdev(0, "/dev/sda1", ROLE_DATA);
                assert_vdev(1, "/dev/sdb1", ROLE_LOG);
        }
}

static void test_more_than_room(void **state) {
        struct zpool_vdev two[2];

        (void) state;
        assert_int_equal(zpool_parse_status(HEAD COLUMNS "\tt  ONLINE\n\t  /dev/a  ONLINE\n\t  /dev/b  ONLINE\n\t  /dev/c  ONLINE\n",
                                            two, 2), 3);
        assert_string_equal(two[1].path, "/dev/b");
        assert_int_equal(zpool_parse_status(HEAD COLUMNS "\tt  ONLINE\n\t  /dev/a  ONLINE\n", NULL, 0), 1);
}

static void test_nothing(void **state) {
        (void) state;
        assert_int_equal(parse(""), 0);
        assert_int_equal(parse("no pools available\n"), 0);
        assert_int_equal(parse("config:"), 0);
        assert_int_equal(parse("config:\n"), 0);
        assert_int_equal(parse("config:\n\t"), 0);
        assert_int_equal(parse("config:\n\t/"), 1);
        assert_int_equal(parse("\ttank  ONLINE\n\t  /dev/sda  ONLINE\n"), 0);
}

/* A path that is too long is not cut into another one's. */
static void test_long_path(void **state) {
        char text[1024] = HEAD "\ttank  ONLINE\n\t  /";
        size_t n = strlen(text);

        (void) state;
        (void) memset(text + n, 'x', ZPOOL_PATH_BYTES - 2);
        assert_int_equal(parse(text), 1);
        assert_int_equal(strlen(vdevs[0].path), ZPOOL_PATH_BYTES - 1);
        text[n + ZPOOL_PATH_BYTES - 2] = 'x';
        vdevs[0].path[0] = '\0';
        (void) parse(text);
        assert_string_equal(vdevs[0].path, "");
}

static void test_cut_anywhere(void **state) {
        static const char text[] = HEAD COLUMNS "\ttank  ONLINE  0 0 0\n\t  mirror-0  ONLINE  0 0 0\n\t    /dev/sda1  ONLINE\n"
                                                "\tlogs\t\n\t  /dev/sdb1  ONLINE\n\tspares\n\t  /dev/sdc1  AVAIL\n" TAIL;

        (void) state;
        for (size_t n = 0; n < sizeof text; n++) {
                char *cut = strndup(text, n); /* of its own, so that valgrind sees who reads on */

                assert_non_null(cut);
                assert_true(parse(cut) <= 3);
                (void) zpool_parse_properties(cut);
                free(cut);
        }
}

static void test_properties(void **state) {
        (void) state;
        assert_int_equal(zpool_parse_properties("sync\tstandard\ncompression\toff\nlogbias\tlatency\n"), 0);
        assert_int_equal(zpool_parse_properties("sync\tdisabled\ncompression\toff\nlogbias\tlatency\n"), FACT_SYNC_DISABLED);
        assert_int_equal(zpool_parse_properties("sync\talways\ncompression\tzstd-3\nlogbias\tthroughput\n"),
                         FACT_COMPRESSION | FACT_THROUGHPUT);
        assert_int_equal(zpool_parse_properties("compression\ton"), FACT_COMPRESSION);
        assert_int_equal(zpool_parse_properties("sync\tdisabled"), FACT_SYNC_DISABLED);
        assert_int_equal(zpool_parse_properties(""), 0);
        assert_int_equal(zpool_parse_properties("sync disabled\nsyncs\tdisabled\nsync\tdisabledx\n\n\t\n\tdisabled\n"), 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_one_disk),
                cmocka_unit_test(test_groups),
                cmocka_unit_test(test_degraded),
                cmocka_unit_test(test_errors),
                cmocka_unit_test(test_pool_named_like_a_group),
                cmocka_unit_test(test_more_than_room),
                cmocka_unit_test(test_nothing),
                cmocka_unit_test(test_long_path),
                cmocka_unit_test(test_cut_anywhere),
                cmocka_unit_test(test_properties),
        };

        return testutil_run(tests);
}
