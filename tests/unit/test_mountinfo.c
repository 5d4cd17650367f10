/*
 * mountinfo: the table of mounts, its escapes and its options.
 */
#include "testutil.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failalloc.h"
#include "treefile.h"
#include "worker/mountinfo.h"

static struct treefile tree;
static struct mountinfo table;

static int end(void **state) {
        (void) state;
        mountinfo_done(&table);
        treefile_remove(&tree);
        return 0;
}

static void read_table(const char *text) {
        struct sysroot root;
        int r;

        mountinfo_done(&table);
        treefile_make_text(&tree, "");
        treefile_write(&tree, "/proc/self/mountinfo", text, strlen(text));
        assert_int_equal(sysroot_open(&root, tree.root), 0);
        r = mountinfo_read(&table, &root);
        sysroot_close(&root);
        assert_int_equal(r, 0);
}

static void test_line(void **state) {
        const struct mount *m;

        (void) state;
        read_table("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n");
        assert_int_equal(table.n, 1);
        m = &table.mounts[0];
        assert_int_equal(m->id, 36);
        assert_int_equal(m->major, 98);
        assert_int_equal(m->minor, 0);
        assert_string_equal(m->root, "/mnt1");
        assert_string_equal(m->mount_point, "/mnt2");
        assert_string_equal(m->options, "rw,noatime");
        assert_string_equal(m->fstype, "ext3");
        assert_string_equal(m->source, "/dev/root");
        assert_string_equal(m->super_options, "rw,errors=continue");
}

/* None, one or several of them stand before the hyphen. */
static void test_optional_fields(void **state) {
        (void) state;
        read_table("1 0 0:1 / /a rw - tmpfs a rw\n"
                   "2 0 0:2 / /b rw shared:1 - tmpfs b rw\n"
                   "3 0 0:3 / /c rw shared:1 master:2 propagate_from:3 unbindable - tmpfs c rw\n"
                   "4 0 0:4 / /d-e rw - tmpfs - rw\n");
        assert_int_equal(table.n, 4);
        for (size_t i = 0; i < 4; i++)
                assert_string_equal(table.mounts[i].fstype, "tmpfs");
        assert_string_equal(table.mounts[2].source, "c");
        assert_string_equal(table.mounts[3].source, "-");
        assert_int_equal(table.mounts[3].minor, 4);
}

static void test_escapes(void **state) {
        (void) state;
        read_table("1 0 0:1 /sub\\040dir /with\\040space\\011tab\\012line\\134back\\043hash rw - cifs //server/A\\040B rw\n"
                   "2 0 0:2 / /not\\04an\\400escape\\0 rw - tmpfs \\134040 rw\n"
                   "3 0 0:3 / /end\\04 rw - fuse.a\\040b none rw\n");
        assert_int_equal(table.n, 3);
        assert_string_equal(table.mounts[0].root, "/sub dir");
        assert_string_equal(table.mounts[0].mount_point, "/with space\ttab\nline\\back#hash");
        assert_string_equal(table.mounts[0].source, "//server/A B");
        assert_string_equal(table.mounts[1].mount_point, "/not\\04an\\400escape\\0");
        assert_string_equal(table.mounts[1].source, "\\040"); /* unescaped once, not twice */
        assert_string_equal(table.mounts[2].mount_point, "/end\\04");
        assert_string_equal(table.mounts[2].fstype, "fuse.a b");
}

/* A source may be empty: the kernel then writes nothing between the spaces. */
static void test_empty_source(void **state) {
        (void) state;
        read_table("1 0 0:1 / /a rw -  tmpfs rw\n2 0 0:2 / /b rw - tmpfs  rw\n");
        assert_int_equal(table.n, 2);
        assert_string_equal(table.mounts[1].fstype, "tmpfs");
        assert_string_equal(table.mounts[1].source, "");
        assert_string_equal(table.mounts[1].super_options, "rw");
}

static void test_not_understood(void **state) {
        (void) state;
        read_table("\n"
                   "1\n"
                   "1 0 0:1 / /a\n"
                   "1 0 0:1 / /a rw\n"
                   "1 0 0:1 / /a rw shared:1\n"
                   "1 0 0:1 / /a rw shared:1 -\n"
                   "1 0 nonsense / /a rw - tmpfs a rw\n"
                   "7 0 0:1 / /a rw - tmpfs a rw\n"
                   "8 0 0:1 / /last rw - tmpfs a rw");
        assert_int_equal(table.n, 2);
        assert_int_equal(table.mounts[0].id, 7);
        assert_string_equal(table.mounts[1].mount_point, "/last");
}

static void test_absent(void **state) {
        struct sysroot root;
        struct mountinfo kept = { .n = 5 };

        (void) state;
        treefile_make_text(&tree, "/proc/other = x\n");
        assert_int_equal(sysroot_open(&root, tree.root), 0);
        assert_int_equal(mountinfo_read(&kept, &root), -ENOENT);
        assert_int_equal(kept.n, 5);
        sysroot_close(&root);
}

/* Some containers' tables are longer than a page. */
static void fill_long_table(char *text, size_t room, unsigned n) {
        size_t length = 0;

        for (unsigned i = 0; i < n; i++)
                length += (size_t) snprintf(text + length, room - length, "%u 1 0:%u / /mount/number/%u rw,relatime - tmpfs tmpfs rw\n",
                                            i + 1, i, i);
        assert_true(length < room);
}

static void read_failing(void *arg) {
        const struct sysroot *root = arg;
        struct mountinfo m;
        int r = mountinfo_read(&m, root);

        assert_int_equal(r, failalloc_failed() ? -ENOMEM : 0);
        if (r == 0) {
                assert_int_equal(m.n, 500);
                mountinfo_done(&m);
        }
}

static void test_long_table(void **state) {
        static char text[64 * 500];
        struct sysroot root;

        (void) state;
        fill_long_table(text, sizeof text, 500);
        read_table(text);
        assert_int_equal(table.n, 500);
        assert_string_equal(table.mounts[499].mount_point, "/mount/number/499");
        assert_int_equal(sysroot_open(&root, tree.root), 0);
        assert_true(failalloc_each(read_failing, &root) >= 5);
        sysroot_close(&root);
}

/* --- which mount -------------------------------------------------------------- */

static uint64_t found(uint64_t id, unsigned minor, const char *path) {
        const struct mount *m = mountinfo_find(&table, id, 0, minor, path);

        return m ? m->id : 0;
}

static void test_find(void **state) {
        (void) state;
        read_table("10 1 0:1 / / rw - tmpfs root rw\n"
                   "11 10 0:2 / /srv rw - tmpfs srv rw\n"
                   "12 11 0:3 / /srv/data rw - tmpfs first rw\n"
                   "13 12 0:4 / /srv/data rw - tmpfs second rw\n"
                   "14 10 0:2 /sub /other rw - tmpfs srv rw\n");
        /* by id, whatever the rest says */
        assert_int_equal(found(12, 99, "/nowhere"), 12);
        /* by device and path */
        assert_int_equal(found(0, 3, "/srv/data/x"), 12);
        assert_int_equal(found(0, 2, "/srv/x"), 11);
        assert_int_equal(found(0, 2, "/other/x"), 14);
        assert_int_equal(found(77, 2, "/other"), 14);
        /* by path alone: the longest, and of several at one place the newest */
        assert_int_equal(found(0, 99, "/srv/data/x"), 13);
        assert_int_equal(found(0, 99, "/srv/data"), 13);
        assert_int_equal(found(0, 99, "/srv/database"), 11);
        assert_int_equal(found(0, 99, "/srvx"), 10);
        assert_int_equal(found(0, 2, "/elsewhere"), 10);
        assert_int_equal(mountinfo_find_path(&table, "/srv/x")->id, 11);
        assert_null(mountinfo_find_path(&table, "relative"));
}

static void test_find_without_root(void **state) {
        (void) state;
        read_table("11 10 0:2 / /srv rw - tmpfs srv rw\n");
        assert_int_equal(found(0, 3, "/home"), 0);
        read_table("");
        assert_int_equal(found(1, 3, "/home"), 0);
}

/* --- options ------------------------------------------------------------------- */

static void assert_value(const char *options, const char *name, const char *value) {
        size_t n = 99;
        const char *is = mount_option_value(options, name, &n);

        if (!value) {
                assert_null(is);
                return;
        }
        assert_non_null(is);
        assert_int_equal(n, strlen(value));
        assert_memory_equal(is, value, n);
}

static void test_options(void **state) {
        static const char options[] = "rw,noatime,barrier=0,compress=zstd:3,empty=,data=ordered";

        (void) state;
        assert_true(mount_has_option(options, "rw"));
        assert_true(mount_has_option(options, "noatime"));
        assert_true(mount_has_option(options, "data=ordered"));
        assert_false(mount_has_option(options, "atime"));
        assert_false(mount_has_option(options, "noatim"));
        assert_false(mount_has_option(options, "barrier"));
        assert_false(mount_has_option("", "rw"));
        assert_value(options, "barrier", "0");
        assert_value(options, "compress", "zstd:3");
        assert_value(options, "empty", "");
        assert_value(options, "data", "ordered");
        assert_value(options, "rw", NULL);
        assert_value(options, "ata", NULL);
        assert_value(options, "comp", NULL);
        assert_value("", "x", NULL);
}

static void test_escaped_commas(void **state) {
        (void) state;
        assert_value("rw,upperdir=/a\\,b,workdir=/w", "upperdir", "/a\\,b");
        assert_value("rw,upperdir=/a\\,volatile,workdir=/w", "workdir", "/w");
        assert_false(mount_has_option("rw,upperdir=/a\\,volatile,workdir=/w", "volatile"));
        assert_true(mount_has_option("rw,upperdir=/a\\\\,volatile", "volatile"));
        assert_value("a=b\\", "a", "b\\");
        assert_false(mount_has_option("a\\", "a"));
}

/* The kernel writes a comma in a value as \054, whoever mounted it, and a backslash
 * before it as \134: what is behind it is no option. */
static void test_kernels_commas(void **state) {
        const char *o;

        (void) state;
        read_table("1 0 0:1 / /m rw - overlay overlay rw,lowerdir=/l,upperdir=/a\\054volatile,workdir=/w\n"
                   "2 0 0:2 / /n rw - overlay overlay rw,lowerdir=/l,upperdir=/a\\134\\054volatile,workdir=/w\n");
        assert_int_equal(table.n, 2);
        for (size_t i = 0; i < 2; i++) {
                o = table.mounts[i].super_options;
                assert_false(mount_has_option(o, "volatile"));
                assert_value(o, "workdir", "/w");
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_teardown(test_line, end),
                cmocka_unit_test_teardown(test_optional_fields, end),
                cmocka_unit_test_teardown(test_escapes, end),
                cmocka_unit_test_teardown(test_empty_source, end),
                cmocka_unit_test_teardown(test_not_understood, end),
                cmocka_unit_test_teardown(test_absent, end),
                cmocka_unit_test_teardown(test_long_table, end),
                cmocka_unit_test_teardown(test_find, end),
                cmocka_unit_test_teardown(test_find_without_root, end),
                cmocka_unit_test(test_options),
                cmocka_unit_test(test_escaped_commas),
                cmocka_unit_test_teardown(test_kernels_commas, end),
        };

        return testutil_run(tests);
}
