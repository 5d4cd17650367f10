/*
 * stacktree: what lies under a path, drawn, and what a test there can tell.
 */
#include "testutil.h"

#include <string.h>

#include "cli/stacktree.h"
#include "core/verdict.h"
#include "evidence_fixture.h"

static struct stack s;

static void assert_tree(const char *expected) {
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        stacktree_add(&b, &s);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_string_equal(text, expected);
        strbuf_done(&b);
}

static void assert_sight(uint32_t accepted, const char *expected) {
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        stacktree_add_sight(&b, &s, accepted, "> ");
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_string_equal(text, expected);
        strbuf_done(&b);
}

/* Children may stand far behind their parent in the array. */
static void test_tree(void **state) {
        int pool, a, b;

        (void) state;
        memset(&s, 0, sizeof s);
        assert_tree("");
        fixture_stack(&s, LAYER_FILESYSTEM, "ext4", "/dev/mapper/vg-data");
        pool = fixture_node(&s, 0, LAYER_THIN, "dm-3", WRITE_CACHE_UNKNOWN, -1, 0);
        a = fixture_node(&s, pool, LAYER_MD, "md0", WRITE_CACHE_UNKNOWN, -1, 0);
        b = fixture_node(&s, pool, LAYER_PARTITION, "nvme0n1p1", WRITE_CACHE_UNKNOWN, -1, 0);
        fixture_node(&s, a, LAYER_DISK, "sda", WRITE_CACHE_THROUGH, 1, FACT_CACHE_OVERRIDDEN);
        fixture_node(&s, b, LAYER_DISK, "nvme0n1", WRITE_CACHE_BACK, 0, FACT_ATTACHED);
        fixture_node(&s, a, LAYER_DISK, "sdb", WRITE_CACHE_UNKNOWN, 1, 0);
        strcpy(s.nodes[pool].detail, "vg-data");
        strcpy(s.nodes[4].transport, "sas");
        strcpy(s.nodes[4].detail, "ST4000\x1b[2JNM");
        strcpy(s.nodes[5].transport, "nvme");
        s.nodes[5].role = ROLE_LOG;
        assert_tree("ext4  /dev/mapper/vg-data\n"
                    "└─ dm-3  thin volume  vg-data\n"
                    "   ├─ md0  software RAID (md)\n"
                    "   │  ├─ sda  disk  ST4000\\x1b[2JNM (sas, rotating, write cache: write through, told to the kernel as write "
                    "through)\n"
                    "   │  └─ sdb  disk (rotating, write cache: not told)\n"
                    "   └─ nvme0n1p1  partition\n"
                    "      └─ nvme0n1  disk (log, nvme, flash, write cache: write back)\n");
}

static void test_sight(void **state) {
        (void) state;
        fixture_stack(&s, LAYER_FILESYSTEM, "btrfs", "/dev/sda");
        s.nodes[0].facts = FACT_COMPRESSION;
        fixture_node(&s, 0, LAYER_DISK, "sda", WRITE_CACHE_BACK, 0, 0);
        assert_sight(0, "> A test here can show how many bytes and flushes reach sda.\n"
                        "> Zeros are compressed away here: only random data tell a rate.\n");

        fixture_stack(&s, LAYER_FILESYSTEM, "ext4", "/dev/vda");
        s.nodes[0].facts = FACT_NO_BARRIER;
        fixture_node(&s, 0, LAYER_VIRTUAL, "vda", WRITE_CACHE_BACK, 1, 0);
        assert_sight(0, "> Syncs are not honoured here (ext4 (/dev/vda) is mounted with nobarrier): sync-disabled.\n"
                        "> A test here can show how many bytes and flushes reach vda.\n"
                        "> It cannot show whether the host behind the virtual disk passes flushes on, or drops them (cache=unsafe): "
                        "host-cache-unseen.\n");
        s.nodes[0].facts = 0;
        assert_sight(CODE_BIT(CODE_HOST_CACHE_UNSEEN),
                     "> A test here can show how many bytes and flushes reach vda.\n"
                     "> It cannot show whether the host behind the virtual disk passes flushes on, or drops them (cache=unsafe): "
                     "host-cache-unseen, which is accepted.\n");

        fixture_stack(&s, LAYER_NETWORK_FILESYSTEM, "nfs4", "nas:/x");
        assert_sight(0, "> A test here can show how long writes and syncs take.\n"
                        "> It cannot show what the other end does with the bytes: device-unseen.\n");
        fixture_stack(&s, LAYER_MEMORY_FILESYSTEM, "tmpfs", "tmpfs");
        assert_sight(0, "> A test here shows the speed of memory, and of no disk: memory-backed.\n");
        fixture_stack(&s, LAYER_FILESYSTEM, "ext4", "/dev/x");
        s.incomplete = true;
        assert_sight(0, "> A test here can show how long writes and syncs take.\n"
                        "> It cannot show whether the bytes reach a device: device-unseen.\n");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_tree),
                cmocka_unit_test(test_sight),
        };

        return testutil_run(tests);
}
