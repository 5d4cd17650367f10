/*
 * rules and grounds: evidence of real machines in; codes, verdict, reached, basis
 * and sentences out.
 */
#include "testutil.h"

#include <stdio.h>
#include <string.h>

#include "core/grounds.h"
#include "core/rules.h"
#include "evidence_fixture.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)
#define MIB UINT64_C(1048576)

static struct stack stack;
static struct fixture_run run;

#define NOTHING 0u

static void assert_judged(uint32_t codes, enum verdict verdict, enum reached reached, enum basis basis) {
        const struct judgement *j = &run.result.judgement;

        for (unsigned i = 0; i < CODE_COUNT_; i++)
                if (((codes ^ j->codes) & CODE_BIT(i)) != 0)
                        fail_msg("%s is %s", code_name((enum code) i), (j->codes & CODE_BIT(i)) != 0 ? "there" : "missing");
        assert_string_equal(verdict_name(j->verdict), verdict_name(verdict));
        assert_string_equal(reached_name(j->reached), reached_name(reached));
        assert_string_equal(basis_name(j->basis), basis_name(basis));
}

static void assert_text(enum code code, const char *expected) {
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        grounds_add_text(&b, &run.result, code);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_string_equal(text, expected);
        strbuf_done(&b);
}

static void assert_advice(const char *expected) {
        struct strbuf b;
        const char *text;

        strbuf_init(&b);
        grounds_add_advice(&b, &run.result);
        assert_int_equal(strbuf_finish(&b, &text), 0);
        assert_string_equal(text, expected);
        strbuf_done(&b);
}

static void done(void) {
        result_done(&run.result);
}

/* ext4 on one SATA SSD. */
static void ssd(enum write_cache cache) {
        fixture_stack(&stack, LAYER_FILESYSTEM, "ext4", "/dev/sda3");
        fixture_node(&stack, 0, LAYER_PARTITION, "sda3", WRITE_CACHE_UNKNOWN, -1, 0);
        fixture_node(&stack, 1, LAYER_DISK, "sda", cache, 0, FACT_ATTACHED);
}

static void commits(uint64_t sync_ns) {
        fixture_run(&run, KIND_COMMIT, DATA_RANDOM, 200, 200 * 4096, sync_ns);
        fixture_file(&run, MIB);
}

static void stream(enum data data, uint64_t bytes, uint64_t ns) {
        fixture_run(&run, KIND_STREAM, data, 1, bytes, ns);
        fixture_file(&run, bytes);
}

/* --- what is to be believed ------------------------------------------------------- */

static void test_credible(void **state) {
        (void) state;
        ssd(WRITE_CACHE_BACK);
        commits(2 * MS);
        fixture_leaf(&run, 0, 900 * 1024, 201);
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        assert_advice("");
        done();

        ssd(WRITE_CACHE_THROUGH); /* a drive with its power lost protected says so */
        commits(40 * US);
        fixture_leaf(&run, 0, 900 * 1024, 0);
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_NO_VOLATILE_CACHE_CLAIMED);
        done();

        ssd(WRITE_CACHE_BACK);
        stream(DATA_RANDOM, 1024 * MIB, 4000 * MS);
        fixture_leaf(&run, 0, 1030 * MIB, 2);
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        done();
}

/* Mirrors, parity, journals and copy on write make more of it: never a reason. */
static void test_more_bytes_than_written(void **state) {
        (void) state;
        fixture_stack(&stack, LAYER_FILESYSTEM, "btrfs", "/dev/sda");
        fixture_node(&stack, 0, LAYER_DISK, "sda", WRITE_CACHE_BACK, 1, FACT_ATTACHED);
        fixture_node(&stack, 0, LAYER_DISK, "sdb", WRITE_CACHE_BACK, 1, FACT_ATTACHED);
        commits(15 * MS);
        fixture_leaf(&run, 0, 20 * MIB, 400);
        fixture_leaf(&run, 1, 20 * MIB, 400);
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        done();
}

/* --- where the bytes went instead ---------------------------------------------------- */

static void test_memory(void **state) {
        (void) state;
        fixture_stack(&stack, LAYER_MEMORY_FILESYSTEM, "tmpfs", "tmpfs");
        commits(1 * US);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_MEMORY_BACKED), VERDICT_SUSPECT, REACHED_RAM, BASIS_NONE);
        assert_text(CODE_MEMORY_BACKED, "819 kB written, and all of it went to RAM: tmpfs keeps its files in memory");
        assert_advice("test a directory on a disk: this one tells the speed of memory");
        done();

        fixture_stack(&stack, LAYER_FILESYSTEM, "ext4", "/dev/zram0");
        fixture_node(&stack, 0, LAYER_MEMORY, "zram0", WRITE_CACHE_THROUGH, 0, 0);
        commits(10 * US);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_MEMORY_BACKED), VERDICT_SUSPECT, REACHED_RAM, BASIS_NONE);
        assert_text(CODE_MEMORY_BACKED, "819 kB written, and all of it went to RAM: zram0 is a block device in memory");
        done();

        fixture_stack(&stack, LAYER_FILESYSTEM, "overlay", "overlay");
        fixture_node(&stack, 0, LAYER_MEMORY_FILESYSTEM, "tmpfs", WRITE_CACHE_UNKNOWN, -1, 0);
        commits(10 * US);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_MEMORY_BACKED), VERDICT_SUSPECT, REACHED_RAM, BASIS_NONE);
        assert_text(CODE_MEMORY_BACKED,
                    "819 kB written, and all of it went to RAM: tmpfs, under this overlay, keeps its files in memory");
        done();

        commits(1 * US); /* nobody mapped it, and its name is enough */
        strcpy(run.result.fstype, "tmpfs");
        fixture_judge(&run, NULL, 0);
        assert_judged(CODE_BIT(CODE_MEMORY_BACKED), VERDICT_SUSPECT, REACHED_RAM, BASIS_NONE);
        done();
}

/* The forum post's machine: a ZFS stripe with compression over two disks; 128 MiB. */
static void zfs_stripe(uint32_t facts, enum layer disks) {
        fixture_stack(&stack, LAYER_FILESYSTEM, "zfs", "tank/vz");
        stack.nodes[0].facts = FACT_LATE_BLOCKS | facts;
        fixture_node(&stack, 0, disks, "vda", WRITE_CACHE_BACK, 1, 0);
        fixture_node(&stack, 0, disks, "vdb", WRITE_CACHE_BACK, 1, 0);
}

static void test_zfs_zeros(void **state) {
        (void) state;
        zfs_stripe(FACT_COMPRESSION, LAYER_VIRTUAL);
        stream(DATA_ZERO, 128 * MIB, 60 * MS);
        run.seen.allocated_bytes = 512;
        run.seen.extent_bytes = run.seen.encoded_bytes = run.seen.delayed_bytes = PROTO_UNKNOWN;
        fixture_leaf(&run, 0, 360 * 512, 2);
        fixture_leaf(&run, 1, 360 * 512, 2);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_NOT_ALLOCATED) | CODE_BIT(CODE_COMPRESSED) | CODE_BIT(CODE_DEVICE_BYTES_MISSING) |
                              CODE_BIT(CODE_HOST_CACHE_UNSEEN) | CODE_BIT(CODE_BURST_RATE),
                      VERDICT_SUSPECT, REACHED_FILESYSTEM, BASIS_FLUSHES_COUNTED);
        assert_text(CODE_DEVICE_BYTES_MISSING,
                    "134 MB written, 369 kB reached vda and vdb: the zeros were compressed away or detected");
        assert_text(CODE_NOT_ALLOCATED,
                    "134 MB of data in the file, 512 B allocated for them: the zeros were compressed away or detected");
        assert_text(CODE_COMPRESSED, "134 MB written, 369 kB reached vda and vdb: the data were compressed");
        assert_advice("use --data random, which cannot be compressed");
        done();
}

static void zfs_random(void) {
        stream(DATA_RANDOM, 128 * MIB, 1200 * MS);
        run.seen.allocated_bytes = UINT64_C(262309) * 512;
        run.seen.extent_bytes = run.seen.encoded_bytes = run.seen.delayed_bytes = PROTO_UNKNOWN;
        fixture_leaf(&run, 0, UINT64_C(155000) * 512, 2);
        fixture_leaf(&run, 1, UINT64_C(155000) * 512, 2);
}

static void test_zfs_random(void **state) {
        (void) state;
        zfs_stripe(FACT_COMPRESSION, LAYER_VIRTUAL);
        zfs_random();
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_HOST_CACHE_UNSEEN), VERDICT_UNVERIFIED, REACHED_VIRTUAL_DISK, BASIS_FLUSHES_COUNTED);
        assert_advice("cache mode of the host unknown: look there, and accept host-cache-unseen if it is not unsafe");
        done();

        zfs_random();
        fixture_judge(&run, &stack, CODE_BIT(CODE_HOST_CACHE_UNSEEN));
        assert_judged(CODE_BIT(CODE_HOST_CACHE_UNSEEN), VERDICT_CREDIBLE, REACHED_VIRTUAL_DISK, BASIS_FLUSHES_COUNTED);
        assert_int_equal(run.result.judgement.accepted, CODE_BIT(CODE_HOST_CACHE_UNSEEN));
        assert_advice("");
        done();

        /* Right after the sync four fifths were allocated: no reason either. */
        zfs_random();
        run.seen.allocated_bytes = UINT64_C(206085) * 512;
        fixture_judge(&run, &stack, CODE_BIT(CODE_HOST_CACHE_UNSEEN));
        assert_judged(CODE_BIT(CODE_HOST_CACHE_UNSEEN), VERDICT_CREDIBLE, REACHED_VIRTUAL_DISK, BASIS_FLUSHES_COUNTED);
        done();
}

/* 1,024 syncs made 514 flushes on each disk; with sync=disabled 2. */
static void test_zfs_syncs(void **state) {
        (void) state;
        zfs_stripe(FACT_COMPRESSION, LAYER_DISK);
        fixture_run(&run, KIND_COMMIT, DATA_RANDOM, 1024, 1024 * 4096, 8 * MS);
        fixture_leaf(&run, 0, 8 * MIB, 514);
        fixture_leaf(&run, 1, 8 * MIB, 514);
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        done();

        zfs_stripe(FACT_COMPRESSION | FACT_SYNC_DISABLED, LAYER_DISK);
        fixture_run(&run, KIND_COMMIT, DATA_RANDOM, 1024, 1024 * 4096, 20 * US);
        fixture_leaf(&run, 0, 8 * MIB, 1);
        fixture_leaf(&run, 1, 8 * MIB, 1);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_SYNC_DISABLED) | CODE_BIT(CODE_NO_FLUSH), VERDICT_SUSPECT, REACHED_DEVICE, BASIS_NONE);
        assert_text(CODE_SYNC_DISABLED,
                    "sync=disabled on tank/vz: a sync that returns (1024 did) need not have made anything durable");
        assert_text(CODE_NO_FLUSH, "1024 syncs, 2 flushes completed by vda, vdb, which have volatile caches; at least 512 were "
                                   "expected");
        assert_advice("sync=disabled on tank/vz: writes are not durable here");
        done();

        /* Random data that never arrived were not compressed, whatever the file system can do. */
        fixture_run(&run, KIND_COMMIT, DATA_RANDOM, 200, 200 * 4096, 4 * US);
        fixture_leaf(&run, 0, 0, 0);
        fixture_leaf(&run, 1, 0, 0);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_SYNC_DISABLED) | CODE_BIT(CODE_DEVICE_BYTES_MISSING) | CODE_BIT(CODE_NO_FLUSH),
                      VERDICT_SUSPECT, REACHED_FILESYSTEM, BASIS_NONE);
        done();
}

/* A log device takes the syncs: that the data disks are not flushed is right. */
static void test_zfs_log(void **state) {
        (void) state;
        zfs_stripe(0, LAYER_DISK);
        stack.nodes[fixture_node(&stack, 0, LAYER_DISK, "nvme0n1", WRITE_CACHE_THROUGH, 0, FACT_ATTACHED)].role = ROLE_LOG;
        fixture_run(&run, KIND_COMMIT, DATA_RANDOM, 1024, 1024 * 4096, 30 * US);
        fixture_leaf(&run, 0, 0, 0);
        fixture_leaf(&run, 1, 0, 0);
        fixture_leaf(&run, 2, 9 * MIB, 0);
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_NO_VOLATILE_CACHE_CLAIMED);
        done();

        stack.nodes[0].facts |= FACT_THROUGHPUT; /* logbias=throughput goes round it */
        fixture_run(&run, KIND_COMMIT, DATA_RANDOM, 1024, 1024 * 4096, 30 * US);
        fixture_leaf(&run, 0, 4 * MIB, 3);
        fixture_leaf(&run, 1, 4 * MIB, 3);
        fixture_leaf(&run, 2, 0, 0);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_NO_FLUSH), VERDICT_SUSPECT, REACHED_DEVICE, BASIS_NONE);
        done();
}

/* btrfs with zstd, 256 MiB of zeros: st_blocks show all of it, the extents and the disk do not. */
static void test_btrfs_zeros(void **state) {
        (void) state;
        fixture_stack(&stack, LAYER_FILESYSTEM, "btrfs", "/dev/sda");
        stack.nodes[0].facts = FACT_COMPRESSION;
        fixture_node(&stack, 0, LAYER_DISK, "sda", WRITE_CACHE_BACK, 0, FACT_ATTACHED);
        stream(DATA_ZERO, 256 * MIB, 1100 * MS);
        run.seen.encoded_bytes = 256 * MIB;
        fixture_leaf(&run, 0, 17 * MIB / 2, 2);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_COMPRESSED) | CODE_BIT(CODE_DEVICE_BYTES_MISSING), VERDICT_SUSPECT, REACHED_FILESYSTEM,
                      BASIS_FLUSHES_COUNTED);
        assert_text(CODE_COMPRESSED, "268 MB of the file's 268 MB lie in encoded extents; 268 MB written, 8.91 MB reached sda: "
                                     "the data were compressed");
        done();

        stream(DATA_ZERO, 256 * MIB, 1100 * MS); /* the device unseen: the extents alone tell */
        run.seen.encoded_bytes = 256 * MIB;
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_COMPRESSED) | CODE_BIT(CODE_DEVICE_UNSEEN), VERDICT_SUSPECT, REACHED_UNKNOWN, BASIS_NONE);
        done();

        stream(DATA_RANDOM, 256 * MIB, 13000 * MS);
        fixture_leaf(&run, 0, 257 * MIB, 2);
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        done();
}

static void test_delayed(void **state) {
        (void) state;
        ssd(WRITE_CACHE_BACK);
        stream(DATA_RANDOM, 64 * MIB, 1500 * MS);
        run.seen.delayed_bytes = 64 * MIB;
        fixture_leaf(&run, 0, 65 * MIB, 2);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_NOT_ALLOCATED), VERDICT_SUSPECT, REACHED_FILESYSTEM, BASIS_FLUSHES_COUNTED);
        assert_text(CODE_NOT_ALLOCATED, "67.1 MB of the file's 67.1 MB were not allocated when the sync had returned: they never "
                                        "left memory");
        done();
}

/* --- flushes ---------------------------------------------------------------------------- */

static void test_no_flush(void **state) {
        (void) state;
        ssd(WRITE_CACHE_BACK);
        commits(30 * US);
        fixture_leaf(&run, 0, 900 * 1024, 3);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_NO_FLUSH), VERDICT_SUSPECT, REACHED_DEVICE, BASIS_NONE);
        assert_text(CODE_NO_FLUSH,
                    "200 syncs, 3 flushes completed by sda, which has a volatile cache; at least 100 were expected");
        done();

        commits(30 * US);
        fixture_leaf(&run, 0, 900 * 1024, 3);
        fixture_judge(&run, &stack, CODE_BIT(CODE_NO_FLUSH)); /* the administrator vouches */
        assert_judged(CODE_BIT(CODE_NO_FLUSH), VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_NONE);
        done();

        fixture_run(&run, KIND_COMMIT, DATA_RANDOM, 49, 49 * 4096, 30 * US); /* too few to accuse */
        fixture_file(&run, MIB);
        fixture_leaf(&run, 0, 900 * 1024, 0);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_DEVICE_UNSEEN), VERDICT_UNVERIFIED, REACHED_UNKNOWN, BASIS_NONE);
        assert_text(CODE_DEVICE_UNSEEN, "49 syncs, 0 flushes completed by sda, which has a volatile cache: too few syncs to "
                                        "conclude anything");
        done();
}

/* O_DIRECT with O_DSYNC on a drive that takes FUA: each write is durable by itself. */
static void test_fua(void **state) {
        (void) state;
        ssd(WRITE_CACHE_BACK);
        stack.nodes[2].facts |= FACT_FUA;
        commits(60 * US);
        run.result.spec.direct = true;
        run.result.spec.sync = SYNC_DSYNC;
        fixture_leaf(&run, 0, 900 * 1024, 0);
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_NONE);
        done();

        commits(60 * US);
        run.result.spec.direct = true; /* with fdatasync a flush is due all the same */
        fixture_leaf(&run, 0, 900 * 1024, 0);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_NO_FLUSH), VERDICT_SUSPECT, REACHED_DEVICE, BASIS_NONE);
        done();
}

/* pveperf's order syncs an empty file: its data need not have arrived, its flushes must. */
static void test_create(void **state) {
        (void) state;
        ssd(WRITE_CACHE_BACK);
        fixture_run(&run, KIND_CREATE, DATA_RANDOM, 600, 600 * 4001, 5 * MS);
        fixture_leaf(&run, 0, 600 * 1024, 600);
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        done();

        fixture_run(&run, KIND_CREATE, DATA_RANDOM, 600, 600 * 4001, 5 * MS);
        run.result.spec.durable = true;
        fixture_leaf(&run, 0, 600 * 1024, 600);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_DEVICE_BYTES_MISSING), VERDICT_SUSPECT, REACHED_FILESYSTEM, BASIS_FLUSHES_COUNTED);
        done();
}

static void test_options(void **state) {
        static const struct {
                uint32_t fact;
                const char *text;
        } facts[] = {
                { FACT_NO_BARRIER, "ext4 (/dev/sda3) is mounted with nobarrier" },
                { FACT_NO_BARRIER_FSYNC, "ext4 (/dev/sda3) is mounted with fsync_mode=nobarrier" },
                { FACT_VOLATILE, "ext4 (/dev/sda3) is mounted volatile" },
                { FACT_NO_CACHE_FLUSH, "zfs_nocacheflush=1 for /dev/sda3" },
        };

        (void) state;
        for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
                char expected[160];

                ssd(WRITE_CACHE_BACK);
                stack.nodes[0].facts = facts[i].fact;
                commits(2 * MS);
                fixture_leaf(&run, 0, 900 * 1024, 200);
                fixture_judge(&run, &stack, 0);
                assert_judged(CODE_BIT(CODE_SYNC_DISABLED), VERDICT_SUSPECT, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
                snprintf(expected, sizeof expected, "%s: writes are not durable here", facts[i].text);
                assert_advice(expected);
                done();
        }
        ssd(WRITE_CACHE_BACK); /* the kernel was told that there is no cache: it sends no flush */
        stack.nodes[2].facts |= FACT_CACHE_OVERRIDDEN;
        commits(30 * US);
        fixture_leaf(&run, 0, 900 * 1024, 0);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_SYNC_DISABLED) | CODE_BIT(CODE_NO_FLUSH), VERDICT_SUSPECT, REACHED_DEVICE, BASIS_NONE);
        done();
}

/* --- what cannot be told ------------------------------------------------------------------ */

static void test_unseen(void **state) {
        static const struct {
                enum layer layer;
                const char *fstype, *text;
        } cases[] = {
                { LAYER_NETWORK_FILESYSTEM, "nfs4",
                  "nfs4 is a network file system (nas:/vz): what its server did with the bytes is out of sight" },
                { LAYER_FUSE, "fuse.sshfs",
                  "fuse.sshfs is a file system in user space: what its program did with the bytes is out of sight" },
        };

        (void) state;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                fixture_stack(&stack, cases[i].layer, cases[i].fstype, "nas:/vz");
                commits(2 * MS);
                run.seen.allocated_bytes = 0; /* they tell what they like */
                fixture_judge(&run, &stack, 0);
                assert_judged(CODE_BIT(CODE_DEVICE_UNSEEN), VERDICT_UNVERIFIED, REACHED_UNKNOWN, BASIS_NONE);
                assert_text(CODE_DEVICE_UNSEEN, cases[i].text);
                assert_advice("only the other end can tell; accept device-unseen if you trust it");
                done();
                commits(2 * MS);
                fixture_judge(&run, &stack, CODE_BIT(CODE_DEVICE_UNSEEN));
                assert_judged(CODE_BIT(CODE_DEVICE_UNSEEN), VERDICT_CREDIBLE, REACHED_UNKNOWN, BASIS_NONE);
                done();
        }
        commits(2 * MS);
        fixture_judge(&run, NULL, 0);
        assert_judged(CODE_BIT(CODE_DEVICE_UNSEEN), VERDICT_UNVERIFIED, REACHED_UNKNOWN, BASIS_NONE);
        done();
}

/* Counters that are missing, off or another's make a result unverified, never suspect. */
static void test_counters_unseen(void **state) {
        (void) state;
        ssd(WRITE_CACHE_BACK);
        commits(2 * MS);
        fixture_leaf(&run, 0, PROTO_UNKNOWN, PROTO_UNKNOWN);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_DEVICE_UNSEEN), VERDICT_UNVERIFIED, REACHED_UNKNOWN, BASIS_NONE);
        done();
        commits(2 * MS); /* before Linux 5.5 */
        fixture_leaf(&run, 0, 900 * 1024, PROTO_UNKNOWN);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_DEVICE_UNSEEN), VERDICT_UNVERIFIED, REACHED_UNKNOWN, BASIS_NONE);
        assert_text(CODE_DEVICE_UNSEEN, "sda counts no flushes (queue/iostats is 0, the kernel is older than 5.5, or another disk "
                                        "has taken its place)");
        done();

        ssd(WRITE_CACHE_UNKNOWN);
        commits(2 * MS);
        fixture_leaf(&run, 0, 900 * 1024, 200);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_DEVICE_UNSEEN), VERDICT_UNVERIFIED, REACHED_UNKNOWN, BASIS_NONE);
        done();

        ssd(WRITE_CACHE_BACK);
        stack.incomplete = true;
        strcpy(stack.remark, "the kernel shows no device sdz");
        commits(2 * MS);
        fixture_leaf(&run, 0, 900 * 1024, 200);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_DEVICE_UNSEEN), VERDICT_UNVERIFIED, REACHED_UNKNOWN, BASIS_FLUSHES_COUNTED);
        assert_text(CODE_DEVICE_UNSEEN,
                    "the devices under the file system were not all found: the kernel shows no device sdz");
        done();
}

static void test_remote_devices(void **state) {
        static const enum layer layers[] = { LAYER_RBD, LAYER_NBD, LAYER_DRBD, LAYER_ZVOL, LAYER_MAPPED };

        (void) state;
        for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
                fixture_stack(&stack, LAYER_FILESYSTEM, "ext4", "/dev/x0");
                fixture_node(&stack, 0, layers[i], "x0", WRITE_CACHE_BACK, 0, 0);
                commits(2 * MS);
                fixture_leaf(&run, 0, 900 * 1024, 200);
                fixture_judge(&run, &stack, 0);
                assert_judged(CODE_BIT(CODE_DEVICE_UNSEEN), VERDICT_UNVERIFIED, REACHED_UNKNOWN, BASIS_FLUSHES_COUNTED);
                done();
        }
}

static void test_controllers(void **state) {
        (void) state;
        fixture_stack(&stack, LAYER_FILESYSTEM, "ext4", "/dev/sda1");
        fixture_node(&stack, 0, LAYER_CONTROLLER, "sda", WRITE_CACHE_THROUGH, 1, 0);
        commits(200 * US);
        fixture_leaf(&run, 0, 900 * 1024, 0);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_CONTROLLER_CACHE_UNSEEN), VERDICT_UNVERIFIED, REACHED_CONTROLLER,
                      BASIS_NO_VOLATILE_CACHE_CLAIMED);
        done();
        commits(200 * US);
        fixture_leaf(&run, 0, 900 * 1024, 0);
        fixture_judge(&run, &stack, CODE_BIT(CODE_CONTROLLER_CACHE_UNSEEN));
        assert_judged(CODE_BIT(CODE_CONTROLLER_CACHE_UNSEEN), VERDICT_CREDIBLE, REACHED_CONTROLLER,
                      BASIS_NO_VOLATILE_CACHE_CLAIMED);
        done();

        fixture_stack(&stack, LAYER_FILESYSTEM, "xfs", "/dev/sdb");
        fixture_node(&stack, 0, LAYER_FABRIC, "sdb", WRITE_CACHE_THROUGH, 0, 0);
        commits(200 * US);
        fixture_leaf(&run, 0, 900 * 1024, 0);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_CONTROLLER_CACHE_UNSEEN), VERDICT_UNVERIFIED, REACHED_CONTROLLER,
                      BASIS_NO_VOLATILE_CACHE_CLAIMED);
        assert_text(CODE_CONTROLLER_CACHE_UNSEEN, "sdb is behind a storage network: whether the cache that answers has a battery, "
                                                  "and is in write-back now, is out of sight");
        done();
}

static void test_faster_than_medium(void **state) {
        (void) state;
        ssd(WRITE_CACHE_BACK);
        stack.nodes[2].rotational = 1;
        commits(200 * US);
        fixture_leaf(&run, 0, 900 * 1024, 200);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_FASTER_THAN_MEDIUM), VERDICT_UNVERIFIED, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        assert_text(CODE_FASTER_THAN_MEDIUM, "half of the syncs took 200 µs or less; sda is a rotating disk, which needs some "
                                             "milliseconds for one: its own cache answered");
        done();

        commits(8 * MS);
        fixture_leaf(&run, 0, 900 * 1024, 200);
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        done();

        /* A cache before it, or a log device, is allowed to be fast. */
        stack.nodes[1].layer = LAYER_CACHED;
        commits(200 * US);
        fixture_leaf(&run, 0, 900 * 1024, 200);
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        done();

        stack.nodes[1].layer = LAYER_PARTITION;
        fixture_run(&run, KIND_COMMIT, DATA_RANDOM, 99, 99 * 4096, 200 * US); /* too few */
        fixture_leaf(&run, 0, 900 * 1024, 99);
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        done();
}

/* A hog on the processor, or a hypervisor that gives none: not slow storage. */
static void test_starved(void **state) {
        (void) state;
        ssd(WRITE_CACHE_BACK);
        commits(5 * MS);
        fixture_leaf(&run, 0, 900 * 1024, 200);
        run.seen.waited_ns = 90 * MS;
        run.seen.stolen_ns = 0;
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        done();
        commits(5 * MS);
        fixture_leaf(&run, 0, 900 * 1024, 200);
        run.seen.waited_ns = 60 * MS;
        run.seen.stolen_ns = 50 * MS;
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_CPU_STARVED), VERDICT_UNVERIFIED, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        assert_text(CODE_CPU_STARVED, "the test was ready to go on and had no processor for 110 ms of 1 s: slow storage and a "
                                      "busy host look alike");
        done();
}

/* --- notes --------------------------------------------------------------------------------- */

static void test_busy(void **state) {
        (void) state;
        ssd(WRITE_CACHE_BACK);
        stream(DATA_ZERO, 128 * MIB, 2000 * MS);
        fixture_leaf(&run, 0, 500 * MIB, 40);
        run.seen.other_bytes = 20 * MIB;
        run.seen.other_ns = 100 * MS;
        fixture_judge(&run, &stack, 0);
        /* Who knows whose bytes those were. */
        assert_judged(CODE_BIT(CODE_DEVICE_BUSY), VERDICT_UNVERIFIED, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        assert_text(CODE_DEVICE_BUSY, "sda took some 419 MB from others in the time in which the run wrote 134 MB: the counters "
                                      "neither prove nor refute it");
        done();

        stream(DATA_RANDOM, 128 * MIB, 2000 * MS);
        fixture_leaf(&run, 0, 170 * MIB, 40);
        run.seen.other_bytes = 2 * MIB;
        run.seen.other_ns = 100 * MS;
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        done();
}

static void test_burst(void **state) {
        (void) state;
        ssd(WRITE_CACHE_BACK);
        stream(DATA_RANDOM, 128 * MIB, 999 * MS);
        fixture_leaf(&run, 0, 129 * MIB, 1);
        fixture_judge(&run, &stack, 0);
        assert_judged(CODE_BIT(CODE_BURST_RATE), VERDICT_CREDIBLE, REACHED_DEVICE, BASIS_FLUSHES_COUNTED);
        assert_text(CODE_BURST_RATE, "134 MB in 999 ms: a cache may have taken them whole");
        done();
}

/* The other suspect codes are beyond anyone's word. */
static void test_accepting(void **state) {
        (void) state;
        fixture_stack(&stack, LAYER_MEMORY_FILESYSTEM, "tmpfs", "tmpfs");
        commits(1 * US);
        fixture_judge(&run, &stack, UINT32_MAX);
        assert_judged(CODE_BIT(CODE_MEMORY_BACKED), VERDICT_SUSPECT, REACHED_RAM, BASIS_NONE);
        assert_int_equal(run.result.judgement.accepted, 0);
        done();
}

static void test_failed(void **state) {
        (void) state;
        ssd(WRITE_CACHE_BACK);
        commits(1 * US);
        run.result.outcome = OUTCOME_FAILED;
        fixture_judge(&run, &stack, 0);
        assert_judged(NOTHING, VERDICT_UNVERIFIED, REACHED_UNKNOWN, BASIS_NONE);
        done();
}

/* Whatever is seen or not: no crash, a text for each code, and nothing suspect out of nothing seen. */
static uint64_t anything(void) {
        static const uint64_t edges[] = { 0, 1, 512, 4096, 65536, 819200, 1 << 20, UINT64_C(1) << 40, PROTO_UNKNOWN };

        return edges[testutil_random_below(sizeof edges / sizeof edges[0])];
}

static void test_anything(void **state) {
        (void) state;
        for (unsigned round = 0; round < 20000; round++) {
                fixture_stack(&stack, (enum layer) testutil_random_below(LAYER_COUNT_), "x", "y");
                for (unsigned i = testutil_random_below(6); i > 0; i--) {
                        int node = fixture_node(&stack, (int) testutil_random_below(stack.n_nodes),
                                                (enum layer) testutil_random_below(LAYER_COUNT_), "d",
                                                (enum write_cache) testutil_random_below(WRITE_CACHE_COUNT_),
                                                (int) testutil_random_below(3) - 1,
                                                testutil_random_below(4) == 0 ? CODE_BIT(testutil_random_below(12)) : 0);

                        stack.nodes[node].role = (uint8_t) testutil_random_below(ROLE_COUNT_);
                }
                fixture_run(&run, (enum kind) testutil_random_below(KIND_COUNT_), (enum data) testutil_random_below(DATA_COUNT_),
                            1 + (unsigned) testutil_random_below(200), 1 + testutil_random_below(UINT32_MAX), 1 + testutil_random_below(UINT32_MAX));
                run.seen = (struct proto_evidence) {
                        .distinct_bytes = anything(), .allocated_bytes = anything(), .extent_bytes = anything(),
                        .encoded_bytes = anything(), .delayed_bytes = anything(), .other_bytes = anything(),
                        .other_ns = anything(), .watched_ns = anything(), .waited_ns = anything(), .stolen_ns = anything(),
                };
                for (size_t i = 0; i < STACK_LEAVES_MAX; i++)
                        fixture_leaf(&run, i, anything(), anything());
                fixture_judge(&run, testutil_random_below(8) == 0 ? NULL : &stack, (uint32_t) testutil_random());
                for (unsigned i = 0; i < CODE_COUNT_; i++)
                        if ((run.result.judgement.codes & CODE_BIT(i)) != 0) {
                                struct strbuf b;

                                strbuf_init(&b);
                                grounds_add_text(&b, &run.result, (enum code) i);
                                assert_true(b.length > 20);
                                strbuf_done(&b);
                        }
                done();
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_credible),
                cmocka_unit_test(test_more_bytes_than_written),
                cmocka_unit_test(test_memory),
                cmocka_unit_test(test_zfs_zeros),
                cmocka_unit_test(test_zfs_random),
                cmocka_unit_test(test_zfs_syncs),
                cmocka_unit_test(test_zfs_log),
                cmocka_unit_test(test_btrfs_zeros),
                cmocka_unit_test(test_delayed),
                cmocka_unit_test(test_no_flush),
                cmocka_unit_test(test_fua),
                cmocka_unit_test(test_create),
                cmocka_unit_test(test_options),
                cmocka_unit_test(test_unseen),
                cmocka_unit_test(test_counters_unseen),
                cmocka_unit_test(test_remote_devices),
                cmocka_unit_test(test_controllers),
                cmocka_unit_test(test_faster_than_medium),
                cmocka_unit_test(test_starved),
                cmocka_unit_test(test_busy),
                cmocka_unit_test(test_burst),
                cmocka_unit_test(test_accepting),
                cmocka_unit_test(test_failed),
                cmocka_unit_test(test_anything),
        };

        return testutil_run(tests);
}
