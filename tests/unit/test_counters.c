/*
 * counters: what the block layer counts of a device.
 */
#include "testutil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "treefile.h"
#include "worker/counters.h"

#define SDA "/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda"

/* Reads, merged, sectors, ms; writes, merged, sectors, ms; in flight, ms, ms; since
 * Linux 4.18 four of discards, since 5.5 two of flushes. */
#define FIELDS_11 "  225210    17741 11610218    53252   410074    61060     2000   276749        0    69936   365680"
#define FIELDS_15 FIELDS_11 "    81641       27 34109376    15022"
#define FIELDS_17 FIELDS_15 "   104555    20656"

static struct treefile tree;
static struct sysroot root = { .fd = -1 };

static int begin(void **state) {
        (void) state;
        treefile_make_text(&tree, "/sys/class/block/sda -> ../.." "/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda\n"
                                  SDA "/diskseq = 9\n"
                                  SDA "/queue/iostats = 1\n"
                                  SDA "/stat = " FIELDS_17 "\n"
                                  "/sys/class/block/sdb/stat = " FIELDS_17 "\n"
                                  "/sys/class/block/sda3 -> ../.." "/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda/sda3\n"
                                  SDA "/sda3/stat = " FIELDS_15 "        0        0\n");
        return sysroot_open(&root, tree.root);
}

static int end(void **state) {
        (void) state;
        sysroot_close(&root);
        treefile_remove(&tree);
        return 0;
}

static void rewrite(const char *attribute, const char *text) {
        char path[256];

        (void) snprintf(path, sizeof path, SDA "/%s", attribute);
        treefile_write(&tree, path, text, strlen(text));
}

static struct proto_counters read_one(const char *name, uint64_t diskseq) {
        struct proto_leaf leaf = { .diskseq = diskseq };
        struct proto_counters c = { 1, 1 };

        (void) snprintf(leaf.name, sizeof leaf.name, "%s", name);
        counters_read(&root, &leaf, 1, &c);
        return c;
}

static void assert_counters(struct proto_counters c, uint64_t written_bytes, uint64_t flushes) {
        assert_int_equal(c.written_bytes, written_bytes);
        assert_int_equal(c.flushes, flushes);
}

static void test_fields(void **state) {
        (void) state;
        assert_counters(read_one("sda", 9), 2000 * 512, 104555);
        rewrite("stat", FIELDS_15 "\n");
        assert_counters(read_one("sda", 9), 2000 * 512, PROTO_UNKNOWN);
        rewrite("stat", FIELDS_11 "\n");
        assert_counters(read_one("sda", 9), 2000 * 512, PROTO_UNKNOWN);
        rewrite("stat", FIELDS_17 " 1 2 3\n"); /* a kernel to come */
        assert_counters(read_one("sda", 9), 2000 * 512, 104555);
}

static void test_unusable(void **state) {
        static const char *const texts[] = { "", "\n", "1 2 3 4 5 6\n", "nonsense\n", "1 2 3 4 5 6 x\n" };

        (void) state;
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
                rewrite("stat", texts[i]);
                assert_counters(read_one("sda", 9), PROTO_UNKNOWN, PROTO_UNKNOWN);
        }
}

static void test_switched_off(void **state) {
        (void) state;
        rewrite("queue/iostats", "0\n");
        assert_counters(read_one("sda", 9), PROTO_UNKNOWN, PROTO_UNKNOWN);
        rewrite("queue/iostats", "1\n");
        assert_counters(read_one("sda", 9), 2000 * 512, 104555);
}

/* The number 0 is that of kernels that do not count disks. */
static void test_replaced(void **state) {
        (void) state;
        assert_counters(read_one("sda", 8), PROTO_UNKNOWN, PROTO_UNKNOWN);
        assert_counters(read_one("sda", 0), 2000 * 512, 104555);
        rewrite("diskseq", "10\n");
        assert_counters(read_one("sda", 9), PROTO_UNKNOWN, PROTO_UNKNOWN);
        assert_counters(read_one("sdb", 9), PROTO_UNKNOWN, PROTO_UNKNOWN);
        assert_counters(read_one("sdb", 0), 2000 * 512, 104555);
}

static void test_missing(void **state) {
        struct proto_leaf leaves[3] = { { .name = "sda", .diskseq = 9 }, { .name = "sdz", .diskseq = 11 }, { .name = "" } };
        struct proto_counters c[3];

        (void) state;
        counters_read(&root, leaves, 3, c);
        assert_counters(c[0], 2000 * 512, 104555);
        assert_counters(c[1], PROTO_UNKNOWN, PROTO_UNKNOWN);
        assert_counters(c[2], PROTO_UNKNOWN, PROTO_UNKNOWN);
        counters_read(&root, leaves, 0, c);
}

/* A root that could not be opened, as when there are no descriptors left. */
static void test_no_root(void **state) {
        const struct sysroot none = { .fd = -1 };
        struct proto_leaf leaf = { .name = "sda" };
        struct proto_counters c;

        (void) state;
        counters_read(&none, &leaf, 1, &c);
        assert_counters(c, PROTO_UNKNOWN, PROTO_UNKNOWN);
}

/* The kernel counts a partition's flushes at its disk: its own 16th number stays 0. */
static void test_partition(void **state) {
        (void) state;
        assert_int_equal(read_one("sda3", 0).written_bytes, 2000 * 512);
}

static void test_subtract(void **state) {
        const struct proto_counters before[] = { { 1000, 5 }, { 1000, 5 }, { 1000, 5 }, { PROTO_UNKNOWN, PROTO_UNKNOWN },
                                                 { 1000, 5 }, { 1000, PROTO_UNKNOWN } };
        const struct proto_counters after[] = { { 5096, 7 }, { 1000, 5 }, { 900, 3 }, { 1000, 5 },
                                                { PROTO_UNKNOWN, PROTO_UNKNOWN }, { 1512, PROTO_UNKNOWN } };
        struct proto_counters c[6];

        (void) state;
        counters_subtract(before, after, 6, c);
        assert_counters(c[0], 4096, 2);
        assert_counters(c[1], 0, 0);
        assert_counters(c[2], PROTO_UNKNOWN, PROTO_UNKNOWN);
        assert_counters(c[3], PROTO_UNKNOWN, PROTO_UNKNOWN);
        assert_counters(c[4], PROTO_UNKNOWN, PROTO_UNKNOWN);
        assert_counters(c[5], 512, PROTO_UNKNOWN);
}

/* Into one of its own operands, as callers do. */
static void test_subtract_in_place(void **state) {
        const struct proto_counters before = { 1000, 5 };
        struct proto_counters after = { 1512, 6 };

        (void) state;
        counters_subtract(&before, &after, 1, &after);
        assert_counters(after, 512, 1);
}

static void test_bytes(void **state) {
        const struct proto_counters c[] = { { 512, 0 }, { 1024, PROTO_UNKNOWN }, { PROTO_UNKNOWN, 1 } };

        (void) state;
        assert_int_equal(counters_bytes(c, 1), 512);
        assert_int_equal(counters_bytes(c, 2), 1536);
        assert_int_equal(counters_bytes(c, 3), PROTO_UNKNOWN);
        assert_int_equal(counters_bytes(c, 0), PROTO_UNKNOWN);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_fields, begin, end),
                cmocka_unit_test_setup_teardown(test_unusable, begin, end),
                cmocka_unit_test_setup_teardown(test_switched_off, begin, end),
                cmocka_unit_test_setup_teardown(test_replaced, begin, end),
                cmocka_unit_test_setup_teardown(test_missing, begin, end),
                cmocka_unit_test_setup_teardown(test_no_root, begin, end),
                cmocka_unit_test_setup_teardown(test_partition, begin, end),
                cmocka_unit_test(test_subtract),
                cmocka_unit_test(test_subtract_in_place),
                cmocka_unit_test(test_bytes),
        };

        return testutil_run(tests);
}
