/*
 * stack: names, what makes one valid, copies, leaves and media.
 */
#include "testutil.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/stack.h"
#include "evidence_fixture.h"
#include "failalloc.h"

static struct stack s;

static void test_names(void **state) {
        (void) state;
        for (unsigned i = 0; i < LAYER_COUNT_; i++) {
                assert_string_not_equal(layer_name((enum layer) i), "unknown");
                assert_true(strlen(layer_text((enum layer) i)) > 3);
                for (unsigned k = 0; k < i; k++)
                        assert_string_not_equal(layer_name((enum layer) i), layer_name((enum layer) k));
        }
        for (unsigned round = 0; round < 100; round++) {
                unsigned value = (unsigned) testutil_random() | 128;

                assert_string_equal(layer_name((enum layer) value), "unknown");
                assert_string_equal(layer_text((enum layer) value), "unknown");
                assert_string_equal(role_name((enum role) value), "unknown");
                assert_string_equal(medium_name((enum medium) value), "unknown");
                assert_string_equal(medium_text((enum medium) value), "unknown");
                assert_null(write_cache_name((enum write_cache) value));
        }
        assert_string_equal(write_cache_name(WRITE_CACHE_BACK), "write back");
        assert_null(write_cache_name(WRITE_CACHE_UNKNOWN));
}

/* One from another process is used only if nothing in it can lead astray. */
static void test_validity(void **state) {
        struct stack good;

        (void) state;
        fixture_stack(&good, LAYER_FILESYSTEM, "ext4", "/dev/sda3");
        fixture_node(&good, 0, LAYER_PARTITION, "sda3", WRITE_CACHE_UNKNOWN, -1, 0);
        fixture_node(&good, 1, LAYER_DISK, "sda", WRITE_CACHE_BACK, 1, FACT_ATTACHED);
        assert_true(stack_is_valid(&good));

#define REFUSED(change)                          \
        do {                                     \
                s = good;                        \
                change;                          \
                assert_false(stack_is_valid(&s)); \
        } while (0)
        REFUSED(s.n_nodes = STACK_NODES_MAX + 1);
        REFUSED(memset(&s.incomplete, 2, 1));
        REFUSED(memset(s.fstype, 'x', sizeof s.fstype));
        REFUSED(memset(s.source, 'x', sizeof s.source));
        REFUSED(memset(s.mount_point, 'x', sizeof s.mount_point));
        REFUSED(memset(s.options, 'x', sizeof s.options));
        REFUSED(memset(s.remark, 'x', sizeof s.remark));
        REFUSED(memset(s.nodes[2].name, 'x', sizeof s.nodes[2].name));
        REFUSED(memset(s.nodes[2].detail, 'x', sizeof s.nodes[2].detail));
        REFUSED(memset(s.nodes[2].transport, 'x', sizeof s.nodes[2].transport));
        REFUSED(s.nodes[2].layer = LAYER_COUNT_);
        REFUSED(s.nodes[2].role = ROLE_COUNT_);
        REFUSED(s.nodes[2].write_cache = WRITE_CACHE_COUNT_);
        REFUSED(s.nodes[2].rotational = 2);
        REFUSED(s.nodes[2].rotational = -2);
        REFUSED(s.nodes[0].parent = 0);
        REFUSED(s.nodes[1].parent = 1);
        REFUSED(s.nodes[1].parent = 2);
        REFUSED(s.nodes[1].parent = -1);
        REFUSED(s.nodes[1].facts = FACT_MASK_ + 1);
#undef REFUSED
        memset(&s, 0, sizeof s); /* nothing was found */
        assert_true(stack_is_valid(&s));
}

/* A copy is cut behind its last node, so that valgrind or asan sees who reads further. */
static void copy(void *arg) {
        struct stack *one = NULL, *other;
        int r = stack_new(&one, &s);

        (void) arg;
        assert_int_equal(r, failalloc_failed() ? -ENOMEM : 0);
        if (r < 0) {
                assert_null(one);
                return;
        }
        other = stack_ref(one);
        assert_ptr_equal(one, other);
        assert_null(stack_unref(one));
        assert_string_equal(other->nodes[other->n_nodes - 1].name, "sda");
        assert_true(stack_is_valid(other));
        assert_int_equal(stack_medium(other), MEDIUM_ROTATING);
        assert_null(stack_unref(other));
}

static void test_copies(void **state) {
        (void) state;
        fixture_stack(&s, LAYER_FILESYSTEM, "ext4", "/dev/sda");
        fixture_node(&s, 0, LAYER_DISK, "sda", WRITE_CACHE_BACK, 1, 0);
        assert_int_equal(failalloc_each(copy, NULL), 1);
        assert_null(stack_ref(NULL));
        assert_null(stack_unref(NULL));
}

static void assert_leaves(const char *expected) {
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        stack_add_leaf_names(&b, &s);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_string_equal(text, expected);
        strbuf_done(&b);
}

static void test_leaves(void **state) {
        uint8_t leaves[STACK_LEAVES_MAX];
        char name[STACK_NAME_BYTES];
        bool more;

        (void) state;
        fixture_stack(&s, LAYER_FILESYSTEM, "zfs", "tank");
        assert_int_equal(stack_leaves(&s, leaves, &more), 0);
        assert_leaves("no device");
        fixture_node(&s, 0, LAYER_DISK, "sda", WRITE_CACHE_BACK, 1, 0);
        assert_leaves("sda");
        fixture_node(&s, 0, LAYER_DISK, "sdb", WRITE_CACHE_BACK, 1, 0);
        assert_leaves("sda and sdb");

        /* A cache for reads takes no writes, and a device in memory has no counters. */
        s.nodes[fixture_node(&s, 0, LAYER_DISK, "nvme0n1", WRITE_CACHE_BACK, 0, FACT_NO_BARRIER)].role = ROLE_CACHE;
        fixture_node(&s, 0, LAYER_MEMORY, "zram0", WRITE_CACHE_UNKNOWN, 0, 0);
        assert_leaves("sda and sdb");
        assert_int_equal(stack_facts(&s), 0);
        assert_true(stack_has_layer(&s, LAYER_MEMORY));

        /* Nor is one a leaf whose own disks stand elsewhere. */
        fixture_node(&s, 0, LAYER_LVM, "dm-0", WRITE_CACHE_UNKNOWN, -1, FACT_SHARED);
        assert_leaves("sda and sdb");

        for (int i = 2; i < 6; i++) {
                (void) snprintf(name, sizeof name, "sd%c", 'a' + i);
                fixture_node(&s, 0, LAYER_DISK, name, WRITE_CACHE_BACK, 1, 0);
                if (i == 3)
                        assert_leaves("sda, sdb, sdc and sdd");
        }
        assert_leaves("sda, sdb, sdc and 3 more");
        assert_int_equal(stack_leaves(&s, leaves, &more), 6);
        assert_false(more);
        while (s.n_nodes < STACK_NODES_MAX)
                fixture_node(&s, 0, LAYER_DISK, "sdx", WRITE_CACHE_BACK, 1, 0);
        assert_int_equal(stack_leaves(&s, leaves, &more), STACK_LEAVES_MAX);
        assert_true(more);
}

static void test_media(void **state) {
        static const struct {
                enum layer layer;
                int rotational;
                enum medium medium;
        } one[] = {
                { LAYER_DISK, 0, MEDIUM_FLASH },       { LAYER_DISK, 1, MEDIUM_ROTATING }, { LAYER_DISK, -1, MEDIUM_UNKNOWN },
                { LAYER_VIRTUAL, 1, MEDIUM_UNKNOWN },  { LAYER_CONTROLLER, 1, MEDIUM_UNKNOWN },
                { LAYER_FABRIC, 0, MEDIUM_SHARED },    { LAYER_RBD, 0, MEDIUM_SHARED },    { LAYER_NBD, 0, MEDIUM_SHARED },
                { LAYER_DRBD, 0, MEDIUM_SHARED },      { LAYER_MEMORY, 0, MEDIUM_UNKNOWN },
        };

        (void) state;
        for (size_t i = 0; i < sizeof one / sizeof one[0]; i++) {
                fixture_stack(&s, LAYER_FILESYSTEM, "ext4", "x");
                fixture_node(&s, 0, one[i].layer, "x", WRITE_CACHE_UNKNOWN, one[i].rotational, 0);
                assert_int_equal(stack_medium(&s), one[i].medium);
        }
        fixture_stack(&s, LAYER_FILESYSTEM, "btrfs", "x");
        fixture_node(&s, 0, LAYER_DISK, "nvme0n1", WRITE_CACHE_BACK, 0, 0);
        fixture_node(&s, 0, LAYER_DISK, "sda", WRITE_CACHE_BACK, 1, 0);
        fixture_node(&s, 0, LAYER_DISK, "nvme1n1", WRITE_CACHE_BACK, 0, 0);
        assert_int_equal(stack_medium(&s), MEDIUM_ROTATING); /* the slowest counts */
        fixture_stack(&s, LAYER_NETWORK_FILESYSTEM, "nfs4", "nas:/x");
        assert_int_equal(stack_medium(&s), MEDIUM_SHARED);
        fixture_stack(&s, LAYER_FUSE, "fuse.glusterfs", "x");
        assert_int_equal(stack_medium(&s), MEDIUM_SHARED);
        fixture_stack(&s, LAYER_FILESYSTEM, "gfs2", "/dev/dm-1");
        fixture_node(&s, 0, LAYER_DISK, "sda", WRITE_CACHE_BACK, 0, 0);
        assert_int_equal(stack_medium(&s), MEDIUM_SHARED);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_names),  cmocka_unit_test(test_validity), cmocka_unit_test(test_copies),
                cmocka_unit_test(test_leaves), cmocka_unit_test(test_media),
        };

        return testutil_run(tests);
}
