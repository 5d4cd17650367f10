/*
 * stackmap: what lies under a path, on recorded trees and on broken ones.
 *
 * A tree's questions (treefile.h) are
 *
 *     ? PATH MOUNT-ID MAJOR:MINOR
 *
 * as a look-up of the target tells them, and their answers what draw() makes of the
 * stack: a line a node, below its parent, and what the rest of the program will
 * conclude from it.
 */
#include "testutil.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/stack.h"
#include "core/strbuf.h"
#include "failalloc.h"
#include "treefile.h"
#include "worker/stackmap.h"

static struct treefile tree;
static struct strbuf drawn;
static char *path_before;

static int begin(void **state) {
        (void) state;
        path_before = getenv("PATH") ? strdup(getenv("PATH")) : NULL;
        return 0;
}

static int end(void **state) {
        (void) state;
        treefile_remove(&tree);
        strbuf_done(&drawn);
        if (path_before)
                (void) setenv("PATH", path_before, 1);
        free(path_before);
        return 0;
}

/* The tree's own zpool and zfs come before the system's. */
static void use_tree_tools(void) {
        char path[4096];

        (void) snprintf(path, sizeof path, "%s/bin:%s", tree.root, path_before ? path_before : "/usr/bin:/bin");
        assert_int_equal(setenv("PATH", path, 1), 0);
}

/* --- drawing ---------------------------------------------------------------- */

static void draw_facts(uint32_t facts) {
        static const char *const names[] = { "no-barrier",       "no-barrier-fsync", "volatile",    "sync-disabled",
                                             "no-cache-flush",   "cache-overridden", "compression", "late-blocks",
                                             "fua",              "attached",         "throughput",       "shared" };

        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
                if ((facts & (uint32_t) 1 << i) != 0)
                        strbuf_printf(&drawn, " %s", names[i]);
}

/* name layer [role] [transport] ["detail"] [MAJOR:MINOR] [#diskseq] [spins|still] [back|through] [fact…] */
static void draw_node(const struct stack_node *n, unsigned depth) {
        strbuf_add_repeated(&drawn, "  ", depth);
        strbuf_printf(&drawn, "%s %s", n->name, layer_name((enum layer) n->layer));
        if (n->role != ROLE_DATA)
                strbuf_printf(&drawn, " %s", role_name((enum role) n->role));
        if (n->transport[0] != '\0')
                strbuf_printf(&drawn, " %s", n->transport);
        if (n->detail[0] != '\0')
                strbuf_printf(&drawn, " \"%s\"", n->detail);
        if (n->major != 0 || n->minor != 0)
                strbuf_printf(&drawn, " %" PRIu32 ":%" PRIu32, n->major, n->minor);
        if (n->diskseq != 0)
                strbuf_printf(&drawn, " #%" PRIu64, n->diskseq);
        if (n->rotational >= 0)
                strbuf_add(&drawn, n->rotational ? " spins" : " still");
        if (n->write_cache != WRITE_CACHE_UNKNOWN)
                strbuf_add(&drawn, n->write_cache == WRITE_CACHE_BACK ? " back" : " through");
        draw_facts(n->facts);
        strbuf_add_char(&drawn, '\n');
}

static void draw_nodes(const struct stack *s) {
        unsigned depths[STACK_NODES_MAX];
        int16_t above[STACK_NODES_MAX] = { 0 }; /* the last node of each depth */

        for (size_t i = 0; i < s->n_nodes; i++) {
                depths[i] = i == 0 ? 0 : depths[s->nodes[i].parent] + 1;
                /* A line stands below its parent, and below no other node of that depth. */
                if (i > 0)
                        assert_int_equal(above[depths[i] - 1], s->nodes[i].parent);
                above[depths[i]] = (int16_t) i;
                draw_node(&s->nodes[i], depths[i]);
        }
}

static const char *draw(const struct stack *s) {
        uint8_t leaves[STACK_LEAVES_MAX];
        bool more;
        size_t n = stack_leaves(s, leaves, &more);
        const char *text = NULL;

        assert_true(stack_is_valid(s));
        strbuf_done(&drawn);
        draw_nodes(s);
        strbuf_printf(&drawn, "%s mounted at %s\nleaves:", s->fstype, s->mount_point);
        for (size_t i = 0; i < n; i++)
                strbuf_printf(&drawn, " %s", s->nodes[leaves[i]].name);
        strbuf_printf(&drawn, "%s\n%s\n", more ? " …" : "", medium_text(stack_medium(s)));
        if ((stack_facts(s) & FACTS_SYNC_DISABLED) != 0) {
                strbuf_add(&drawn, "syncs disabled:");
                draw_facts(stack_facts(s) & FACTS_SYNC_DISABLED);
                strbuf_add_char(&drawn, '\n');
        }
        if (s->incomplete || s->remark[0] != '\0')
                strbuf_printf(&drawn, "%s: %s\n", s->incomplete ? "incomplete" : "complete", s->remark);
        assert_int_equal(strbuf_finish(&drawn, &text), 0);
        return text;
}

/* --- trees ------------------------------------------------------------------- */

static void ask(const char *question, struct stack *ret) {
        char path[512];
        struct stackmap_place place = { .path = path };

        /* NOLINTNEXTLINE(cert-err34-c): a tree's own numbers */
        assert_int_equal(sscanf(question, "%511s %" SCNu64 " %" SCNu32 ":%" SCNu32, path, &place.mount_id, &place.major,
                                &place.minor), 4);
        stackmap_make(ret, tree.root, &place);
}

static void test_tree(void **state) {
        static struct stack stack;

        treefile_make(&tree, *state);
        use_tree_tools();
        assert_true(tree.n_questions > 0);
        for (size_t i = 0; i < tree.n_questions; i++) {
                ask(tree.questions[i].asked, &stack);
                assert_string_equal(draw(&stack), tree.questions[i].answer);
        }
}

#define TREE(name) { "tree " name, test_tree, begin, end, (char[]) { name } }

/* --- broken input ---------------------------------------------------------- */

static const char mounts[] =
        "22 28 0:20 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw\n"
        "28 1 8:3 / / rw,relatime shared:1 - ext4 /dev/sda3 rw,errors=remount-ro\n"
        "36 28 0:32 / /tmp rw,nosuid,nodev shared:17 master:3 - tmpfs tmpfs rw,size=8049108k,inode64\n"
        "40 28 7:0 / /mnt/with\\040space rw - ext4 /dev/loop0 rw\n"
        "41 28 0:40 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/tmp/u\\054v,workdir=/tmp/w\n"
        "42 28 0:44 /@home /home rw,relatime - btrfs /dev/sda4 rw,compress-force=zstd:3,subvolid=257,subvol=/@home\n";

static void make_broken_tree(void) {
        treefile_make_text(&tree, "/sys/class/block/loop0 -> ../../devices/virtual/block/loop0\n"
                                  "/sys/dev/block/7:0 -> ../../devices/virtual/block/loop0\n"
                                  "[/sys/devices/virtual/block/loop0]\n"
                                  "dev = 7:0\n"
                                  "loop/backing_file = /mnt/with space/itself\n"
                                  "/sys/fs/btrfs/0f1e/devices/sda4 -> ../../../../devices/sda4\n");
}

static void try_mounts(const char *text, size_t n) {
        static const char *const questions[] = { "/ 0 8:3", "/tmp/x 36 0:0", "/mnt/with 40 7:0", "/merged 0 0:40",
                                                 "/home 42 0:52" };
        static struct stack stack;

        treefile_write(&tree, "/proc/self/mountinfo", text, n);
        for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
                ask(questions[i], &stack);
                assert_true(stack_is_valid(&stack));
                assert_true(stack.n_nodes > 0 || stack.incomplete);
        }
}

static void test_cut_anywhere(void **state) {
        (void) state;
        make_broken_tree();
        for (size_t n = 0; n < sizeof mounts; n++)
                try_mounts(mounts, n);
}

static void test_damaged(void **state) {
        char text[sizeof mounts];

        (void) state;
        make_broken_tree();
        for (unsigned turn = 0; turn < 300; turn++) {
                (void) memcpy(text, mounts, sizeof text);
                for (unsigned i = 0; i < 8; i++)
                        text[testutil_random_below(sizeof text)] = (char) testutil_random();
                try_mounts(text, sizeof text);
        }
}

/* Text that nothing has room for: a mount's fields, and every attribute of its device. */
static void test_too_long(void **state) {
        static const char *const attributes[] = { "dev", "diskseq", "queue/rotational", "queue/fua", "queue/write_cache", "dm/name",
                                                  "dm/uuid" };
        static char filler[6000], line[6 * sizeof filler];
        static struct stack stack;
        int n;

        (void) state;
        (void) memset(filler, 'x', sizeof filler - 1);
        make_broken_tree();
        n = snprintf(line, sizeof line, "50 28 253:0 / /%s rw - %s %s %s,upperdir=/%s\n51 28 253:0 / /long rw - ext4 %.200s rw\n",
                     filler, filler, filler, filler, filler, filler);
        assert_true(n > 0 && (size_t) n < sizeof line);
        treefile_write(&tree, "/proc/self/mountinfo", line, (size_t) n);
        treefile_link(&tree, "/sys/class/block/dm-0", "../../devices/virtual/block/dm-0");
        treefile_link(&tree, "/sys/dev/block/253:0", "../../devices/virtual/block/dm-0");
        for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
                char path[128];

                (void) snprintf(path, sizeof path, "/sys/devices/virtual/block/dm-0/%s", attributes[i]);
                treefile_write(&tree, path, filler, sizeof filler - 1);
        }
        treefile_link(&tree, "/sys/devices/virtual/block/dm-0/slaves/a-device-whose-name-has-40-characters-or-so", "../x");
        for (uint64_t id = 50; id <= 51; id++) {
                stackmap_make(&stack, tree.root, &(struct stackmap_place) { .path = "/long", .mount_id = id });
                assert_true(stack_is_valid(&stack));
                assert_true(stack.n_nodes >= 2 && stack.incomplete);
        }
        assert_string_equal(stack.nodes[1].name, "dm-0");
        assert_int_equal(stack.nodes[2].layer, LAYER_UNSEEN);
        assert_int_equal(stack.nodes[2].parent, 1);
}

/* A file system in a file on itself: it ends. */
static void test_loop_on_itself(void **state) {
        static struct stack stack;
        uint8_t leaves[STACK_LEAVES_MAX];
        bool more;

        (void) state;
        make_broken_tree();
        treefile_write(&tree, "/proc/self/mountinfo", mounts, sizeof mounts - 1);
        ask("/mnt/with 40 7:0", &stack);
        assert_true(stack_is_valid(&stack));
        assert_int_equal(stack.nodes[1].layer, LAYER_LOOP);
        assert_string_equal(stack.nodes[1].detail, "/mnt/with space/itself");
        assert_true(stack.n_nodes <= 4);
        assert_int_equal(stack_leaves(&stack, leaves, &more), 0);
}

/* A stripe of @n disks with a partition on each. */
static void make_stripe(unsigned n) {
        char path[128], target[128];

        treefile_make_text(&tree, "/proc/self/mountinfo = 50 28 9:0 / /srv rw - xfs /dev/md0 rw\n"
                                  "/sys/class/block/md0 -> ../../devices/virtual/block/md0\n"
                                  "/sys/dev/block/9:0 -> ../../devices/virtual/block/md0\n"
                                  "/sys/devices/virtual/block/md0/md/level = raid0\n");
        for (unsigned i = 0; i < n; i++) {
                (void) snprintf(path, sizeof path, "/sys/devices/virtual/block/md0/slaves/v%up1", i);
                (void) snprintf(target, sizeof target, "../../v%u/v%up1", i, i);
                treefile_link(&tree, path, target);
                (void) snprintf(path, sizeof path, "/sys/devices/virtual/block/v%u/v%up1/partition", i, i);
                treefile_write(&tree, path, "1\n", 2);
                (void) snprintf(path, sizeof path, "/sys/class/block/v%u", i);
                (void) snprintf(target, sizeof target, "../../devices/virtual/block/v%u", i);
                treefile_link(&tree, path, target);
                (void) snprintf(path, sizeof path, "/sys/class/block/v%up1", i);
                (void) snprintf(target, sizeof target, "../../devices/virtual/block/v%u/v%up1", i, i);
                treefile_link(&tree, path, target);
        }
}

static void test_many_devices(void **state) {
        static struct stack stack;
        uint8_t leaves[STACK_LEAVES_MAX];
        bool more;

        (void) state;
        make_stripe(50);
        ask("/srv 50 0:0", &stack);
        assert_true(stack_is_valid(&stack));
        assert_false(stack.incomplete);
        assert_int_equal(stack.n_nodes, 2 + 2 * 50);
        assert_int_equal(stack_leaves(&stack, leaves, &more), 50);
        assert_false(more);
}

static void test_too_many_devices(void **state) {
        static struct stack stack;
        uint8_t leaves[STACK_LEAVES_MAX];
        bool more;

        (void) state;
        make_stripe(64);
        ask("/srv 50 0:0", &stack);
        assert_true(stack_is_valid(&stack));
        assert_int_equal(stack.n_nodes, STACK_NODES_MAX);
        assert_true(stack.incomplete);
        assert_string_equal(stack.remark, "more devices than 128");
        assert_int_equal(stack_leaves(&stack, leaves, &more), (STACK_NODES_MAX - 2) / 2);
}

/* Neither /proc nor /sys, or no such root at all. */
static void test_nothing(void **state) {
        static struct stack stack;
        const struct stackmap_place place = { .path = "/srv", .mount_id = 1 };

        (void) state;
        treefile_make_text(&tree, "/etc/empty = \n");
        stackmap_make(&stack, tree.root, &place);
        assert_true(stack.incomplete && stack_is_valid(&stack));
        assert_int_equal(stack.n_nodes, 0);
        assert_non_null(strstr(stack.remark, "mountinfo"));
        stackmap_make(&stack, "/nonexistent/root", &place);
        assert_true(stack.incomplete && stack_is_valid(&stack));
        assert_int_equal(stack.n_nodes, 0);
}

static void test_options(void **state) {
        static struct stack stack;

        (void) state;
        make_broken_tree();
        treefile_write(&tree, "/proc/self/mountinfo", mounts, sizeof mounts - 1);
        ask("/tmp/x 36 0:32", &stack);
        assert_string_equal(stack.fstype, "tmpfs");
        assert_string_equal(stack.source, "tmpfs");
        assert_string_equal(stack.mount_point, "/tmp");
        assert_string_equal(stack.options, "rw,nosuid,nodev,size=8049108k,inode64");
}

/* --- memory ------------------------------------------------------------------- */

static void make_first_stack(void *arg) {
        struct stack *stack = arg;

        ask(tree.questions[0].asked, stack);
        assert_true(stack_is_valid(stack));
        if (failalloc_failed())
                assert_true(stack->incomplete);
}

/* What was left out for want of memory is said to be missing. */
static void test_out_of_memory(void **state) {
        static struct stack stack;

        treefile_make(&tree, *state);
        use_tree_tools();
        assert_true(failalloc_each(make_first_stack, &stack) > 2);
        assert_string_equal(draw(&stack), tree.questions[0].answer);
}

#define OUT_OF_MEMORY(name) { "out of memory " name, test_out_of_memory, begin, end, (char[]) { name } }

int main(void) {
        const struct CMUnitTest tests[] = {
                TREE("ext4-sata"),
                TREE("lvm-hdd"),
                TREE("lvm-two-partitions"),
                TREE("lvm-thin"),
                TREE("lvm-thin-one-disk"),
                TREE("luks"),
                TREE("luks-on-lvm"),
                TREE("md-nvme"),
                TREE("multipath-fc"),
                TREE("nvme-tcp"),
                TREE("nvme-head-pcie"),
                TREE("bcache"),
                TREE("dm-cache"),
                TREE("dm-writecache"),
                TREE("loop"),
                TREE("loop-tmpfs"),
                TREE("loop-device"),
                TREE("btrfs"),
                TREE("bcachefs"),
                TREE("zfs"),
                TREE("zfs-file"),
                TREE("zfs-partitions"),
                TREE("zfs-no-tools"),
                TREE("overlay"),
                TREE("overlay-container"),
                TREE("tmpfs"),
                TREE("network"),
                TREE("guest-kvm"),
                TREE("guest-others"),
                TREE("controllers"),
                TREE("buses"),
                TREE("fabric"),
                TREE("memory"),
                TREE("cache-overridden"),
                TREE("unseen"),
                TREE("lookup"),
                cmocka_unit_test_setup_teardown(test_cut_anywhere, begin, end),
                cmocka_unit_test_setup_teardown(test_damaged, begin, end),
                cmocka_unit_test_setup_teardown(test_too_long, begin, end),
                cmocka_unit_test_setup_teardown(test_loop_on_itself, begin, end),
                cmocka_unit_test_setup_teardown(test_many_devices, begin, end),
                cmocka_unit_test_setup_teardown(test_too_many_devices, begin, end),
                cmocka_unit_test_setup_teardown(test_nothing, begin, end),
                cmocka_unit_test_setup_teardown(test_options, begin, end),
                OUT_OF_MEMORY("ext4-sata"),
                OUT_OF_MEMORY("lvm-hdd"),
                OUT_OF_MEMORY("nvme-tcp"),
                OUT_OF_MEMORY("btrfs"),
                OUT_OF_MEMORY("zfs"),
        };

        return testutil_run(tests);
}
