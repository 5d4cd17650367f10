/*
 * stack - what lies under a path: file systems, the block devices they are on,
 * and so on down to the leaves, where the bytes leave this kernel's sight.
 *
 * A tree in one flat array, each node behind its parent; node 0 is the file
 * system of the path itself. A device that is reached twice stands there once,
 * under whoever came first. Made by syncprobe-worker (worker/stackmap.h) and
 * sent as it is; kept and read by everybody else, who never change it. Pure.
 */
#ifndef SYNCPROBE_CORE_STACK_H
#define SYNCPROBE_CORE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/strbuf.h"

#define STACK_NODES_MAX 128 /* a stripe of fifty disks with a partition on each has room */
#define STACK_LEAVES_MAX 64 /* whose counters are read */
#define STACK_NAME_BYTES 32
#define STACK_DETAIL_BYTES 128
#define STACK_TRANSPORT_BYTES 12
#define STACK_FSTYPE_BYTES 32
#define STACK_TEXT_BYTES 512

enum layer {
        LAYER_FILESYSTEM, /* local; its devices are its children */
        LAYER_MEMORY_FILESYSTEM,
        LAYER_NETWORK_FILESYSTEM,
        LAYER_FUSE,
        LAYER_PARTITION,
        LAYER_LVM,
        LAYER_THIN,       /* a thin volume, or its pool */
        LAYER_CRYPT,
        LAYER_MULTIPATH,
        LAYER_CACHED,     /* dm-cache, dm-writecache, bcache: a fast device before a slow one */
        LAYER_VDO,
        LAYER_MAPPED,     /* any other device-mapper device */
        LAYER_MD,
        LAYER_LOOP,
        LAYER_DISK,       /* from here on leaves: a drive that this machine drives itself */
        LAYER_VIRTUAL,    /* a disk that a hypervisor shows */
        LAYER_CONTROLLER, /* a RAID controller's volume */
        LAYER_FABRIC,     /* a LUN or namespace behind a network */
        LAYER_RBD,
        LAYER_NBD,
        LAYER_DRBD,
        LAYER_ZVOL,
        LAYER_MEMORY,     /* zram, brd */
        LAYER_UNSEEN,     /* there is something, and it could not be followed: detail says what */
        LAYER_COUNT_
};

/* What a device is to the file system above. */
enum role { ROLE_DATA, ROLE_LOG, ROLE_CACHE, ROLE_SPECIAL, ROLE_COUNT_ };

enum write_cache { WRITE_CACHE_UNKNOWN, WRITE_CACHE_BACK, WRITE_CACHE_THROUGH, WRITE_CACHE_COUNT_ };

enum stack_fact {
        FACT_NO_BARRIER = 1 << 0,      /* mounted with nobarrier, barrier=0 */
        FACT_NO_BARRIER_FSYNC = 1 << 1,/* f2fs: fsync_mode=nobarrier */
        FACT_VOLATILE = 1 << 2,        /* overlay: volatile */
        FACT_SYNC_DISABLED = 1 << 3,   /* ZFS: sync=disabled */
        FACT_NO_CACHE_FLUSH = 1 << 4,  /* ZFS: zfs_nocacheflush=1 */
        FACT_CACHE_OVERRIDDEN = 1 << 5,/* the drive has a volatile cache, and the kernel was told that it has none */
        FACT_COMPRESSION = 1 << 6,     /* the file system compresses */
        FACT_LATE_BLOCKS = 1 << 7,     /* st_blocks grow seconds after a sync: ZFS */
        FACT_FUA = 1 << 8,
        FACT_ATTACHED = 1 << 9,        /* a drive on a bus of this machine: ATA, SAS, NVMe, USB, MMC */
        FACT_THROUGHPUT = 1 << 10,     /* ZFS: logbias=throughput */
        FACT_SHARED = 1 << 11,         /* something below it stands under another node, where it was reached first */
        FACT_MASK_ = (1 << 12) - 1,
};
/* Any of them: a sync that returned need not have made anything durable. */
#define FACTS_SYNC_DISABLED                                                                                   \
        (FACT_NO_BARRIER | FACT_NO_BARRIER_FSYNC | FACT_VOLATILE | FACT_SYNC_DISABLED | FACT_NO_CACHE_FLUSH |  \
         FACT_CACHE_OVERRIDDEN)

struct stack_node {
        char name[STACK_NAME_BYTES];     /* the kernel's ("dm-3"), or a file system's type */
        char detail[STACK_DETAIL_BYTES]; /* by which people know it: source, volume, model, file; may be "" */
        char transport[STACK_TRANSPORT_BYTES]; /* "ata", "nvme", "virtio", … or "" */
        uint8_t layer;       /* enum layer */
        uint8_t role;        /* enum role */
        uint8_t write_cache; /* enum write_cache, of the device as a whole */
        int8_t rotational;   /* 1, 0; -1: not known */
        int16_t parent;      /* -1: node 0 alone */
        uint16_t reserved;
        uint32_t facts;      /* enum stack_fact */
        uint32_t major, minor; /* 0:0 for what is no block device */
        uint64_t diskseq;    /* changes when a device is replaced under the same number; 0: not known */
};

struct stack {
        unsigned references;               /* see stack_new() */
        bool incomplete;                   /* something below was not found, or did not fit */
        char fstype[STACK_FSTYPE_BYTES];   /* as mountinfo says; "" where the mount was not found */
        char source[STACK_TEXT_BYTES];     /* likewise: a device, a dataset, a server's export */
        char mount_point[STACK_TEXT_BYTES];
        char options[STACK_TEXT_BYTES];    /* the mount's and the file system's */
        char remark[STACK_DETAIL_BYTES];   /* what kept it from being complete, for people */
        uint32_t n_nodes;
        struct stack_node nodes[STACK_NODES_MAX]; /* the last member: a kept copy is cut behind those in use */
};

const char *layer_name(enum layer layer);       /* "partition", for JSON and labels */
const char *layer_text(enum layer layer);       /* "RAID controller's volume", for people */
const char *role_name(enum role role);
const char *write_cache_name(enum write_cache write_cache); /* as sysfs; NULL: not known */

/* Whether one that came from elsewhere can be used. */
bool stack_is_valid(const struct stack *s);

/* A counted copy. Returns 0 or -ENOMEM. stack_ref(): one more owner; NULL-safe, as is stack_unref(). */
int stack_new(struct stack **ret, const struct stack *from);
struct stack *stack_ref(struct stack *s);
struct stack *stack_unref(struct stack *s);

bool stack_node_is_leaf(const struct stack *s, size_t i);
/* A leaf that is a block device of this kernel, so that it may have counters. */
bool stack_node_is_device_leaf(const struct stack *s, size_t i);
/* The device leaves that writes go to (a read cache is none): their indices. At
 * most STACK_LEAVES_MAX; *ret_more: there are others. */
size_t stack_leaves(const struct stack *s, uint8_t ret[STACK_LEAVES_MAX], bool *ret_more);

/* All facts of the file systems and devices that writes go through. */
uint32_t stack_facts(const struct stack *s);
/* Whether a node of this layer is among them. */
bool stack_has_layer(const struct stack *s, enum layer layer);

/* What its default tests are chosen by. */
enum medium { MEDIUM_UNKNOWN, MEDIUM_FLASH, MEDIUM_ROTATING, MEDIUM_SHARED, MEDIUM_COUNT_ };
enum medium stack_medium(const struct stack *s);
const char *medium_name(enum medium medium); /* "rotating", for JSON */
const char *medium_text(enum medium medium); /* "local rotating disks", for people */

/* "vda and vdb", "sda, sdb and 4 more": the leaves that writes go to; "no device" if none. */
void stack_add_leaf_names(struct strbuf *b, const struct stack *s);

#endif
