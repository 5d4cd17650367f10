/*
 * proto - what syncprobe-worker and its parent say to each other.
 *
 * Two channels. A SOCK_SEQPACKET socket pair carries fixed-size messages: setup
 * and runs one way, their ends the other. A sealed memfd that both map carries
 * what changes with every sample, in plain atomic stores, since a message a
 * sample would cost more than the sample: the call in progress and since when, counters,
 * the histograms.
 *
 * Neither side believes the other: size, magic, version, type and every
 * enumeration are checked (proto_check_*), and the page's words are read once
 * and range-checked. All times are CLOCK_MONOTONIC nanoseconds unless the name
 * says realtime. Same machine, same build: host byte order.
 *
 * Order: the parent sends SETUP once, the worker answers READY; then any number
 * of RUN, each answered by one REPORT. EOF on the socket, or the page's cancel word,
 * ends the run in progress at the next sample, tidily; EOF ends the worker.
 * Or, in the program's other role: the parent sends MAP, the child answers STACK and ends.
 */
#ifndef SYNCPROBE_CORE_PROTO_H
#define SYNCPROBE_CORE_PROTO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/histogram.h"
#include "core/reason.h"
#include "core/spec.h"
#include "core/stack.h"

#define PROTO_MAGIC UINT32_C(0x73797072)
#define PROTO_VERSION 2

#define PROTO_SOCKET_FD 3 /* in the worker, after exec */
#define PROTO_PAGE_FD 4

#define PROTO_PATH_BYTES 4096
#define PROTO_FSTYPE_BYTES 32
#define PROTO_MACHINE_BYTES 33 /* 32 hex and NUL */
#define PROTO_KEPT_MAX 16      /* kept files that may stay at one path */
#define PROTO_UNKNOWN UINT64_MAX

enum proto_type { PROTO_SETUP = 1, PROTO_READY, PROTO_RUN, PROTO_REPORT, PROTO_MAP, PROTO_STACK };

enum proto_effect { PROTO_EFFECT_UNKNOWN, PROTO_EFFECT_NONE, PROTO_EFFECT_SEEN, PROTO_EFFECT_COUNT_ };

struct proto_header {
        uint32_t magic;
        uint16_t version;
        uint16_t type;   /* enum proto_type */
        uint32_t length; /* of the whole message, header included */
        uint32_t reserved;
};

/* parent → worker, first */
struct proto_setup {
        struct proto_header header;
        char path[PROTO_PATH_BYTES];       /* absolute (with follow: relative to the working directory too) */
        char machine[PROTO_MACHINE_BYTES]; /* the machine id */
        bool follow;        /* symbolic links on the way are followed, once (the command line) */
        bool owner_check;   /* refuse a directory that others own or can write to */
        uint32_t kept_count;
        uint64_t kept[PROTO_KEPT_MAX]; /* tokens of kept files that are not left-overs */
};

/* worker → parent: the directory was found and the sandbox is closed, or why
 * not; after a reason the worker has nothing more to say and exits. */
struct proto_ready {
        struct proto_header header;
        enum reason reason; /* REASON_NONE: ready */
        enum phase phase;
        int32_t error;      /* errno */
        uint64_t device;    /* st_dev of the directory */
        uint64_t mount_id;  /* of the mount it is on; 0 where the kernel does not tell */
        char fstype[PROTO_FSTYPE_BYTES];
        char path[PROTO_PATH_BYTES]; /* as resolved */
};

enum proto_run_flags {
        PROTO_RUN_LOOKUP = 1 << 0, /* only look the directory up, write nothing */
        PROTO_RUN_KEPT = 1 << 1,   /* pulse, stream with reuse: the file stays, under kept_token */
};

/* A block device whose counters are read around a run. */
struct proto_leaf {
        char name[STACK_NAME_BYTES]; /* the kernel's */
        uint64_t diskseq;            /* another one there: replaced meanwhile; 0: not known */
};

/* parent → worker */
struct proto_run {
        struct proto_header header;
        uint64_t id;          /* comes back in the report */
        uint32_t flags;       /* enum proto_run_flags */
        uint32_t n_leaves;
        uint64_t kept_token;
        uint64_t min_free_bytes; /* refuse to start, or stop writing, below this; 0: do not ask */
        uint64_t min_free_percent; /* likewise, of the file system; with both, the smaller counts */
        struct spec spec;
        struct proto_leaf leaves[STACK_LEAVES_MAX];
};

/* What one leaf did during the timed part; PROTO_UNKNOWN where its counters are not to be had. */
struct proto_counters {
        uint64_t written_bytes;
        uint64_t flushes;
};

/* What the worker saw around the timed part; PROTO_UNKNOWN for what it did not.
 * What is made of it stands in core/evidence.h. */
struct proto_evidence {
        uint64_t distinct_bytes;  /* of the test file, that hold data of this run or of its laying out */
        uint64_t allocated_bytes; /* st_blocks * 512 after the last sync (ZFS: some seconds later) */
        uint64_t extent_bytes;    /* of the file, by FIEMAP */
        uint64_t encoded_bytes;   /* of those: compressed or encrypted by the file system */
        uint64_t delayed_bytes;   /* of those: not yet allocated, so they never left memory */
        uint64_t other_bytes;     /* all leaves together, while nothing of ours went on … */
        uint64_t other_ns;        /* … for so long */
        uint64_t watched_ns;      /* between the two readings of the counters */
        uint64_t waited_ns;       /* ready to run and without a processor, in that time */
        uint64_t stolen_ns;       /* likewise, taken by the hypervisor */
        struct proto_counters leaves[STACK_LEAVES_MAX]; /* in the order's order */
};

/* worker → parent: a run's end */
struct proto_report {
        struct proto_header header;
        uint64_t id;
        enum outcome outcome; /* OUTCOME_SKIPPED: not enough free space (lowspace), nothing written */
        enum reason reason;
        enum phase phase;     /* of the call that failed */
        int32_t error;        /* errno of it, or 0 */
        bool truncated;
        bool changed;         /* another directory or mount stands at the path: a fresh worker is needed;
                               * nothing was written */
        enum proto_effect writeback;
        uint64_t started_realtime_ns;
        uint64_t elapsed_ns;
        uint64_t written_bytes;
        uint64_t laid_out_bytes;
        uint64_t samples;
        uint64_t device;
        char fstype[PROTO_FSTYPE_BYTES];
        struct proto_evidence evidence;
};

/* parent → throw-away child: what lies under this path? */
struct proto_map {
        struct proto_header header;
        uint64_t device, mount_id; /* as READY told them */
        char path[PROTO_PATH_BYTES]; /* resolved */
};

/* throw-away child → parent */
struct proto_stack {
        struct proto_header header;
        struct stack stack;
};

union proto_message {
        struct proto_header header;
        struct proto_setup setup;
        struct proto_ready ready;
        struct proto_run run;
        struct proto_report report;
        struct proto_map map;
        struct proto_stack stack;
};

/*
 * The shared page. Written by the worker (cancel: by the parent) with relaxed
 * atomic stores. The histograms are the run's so far; they are reset when a run
 * begins and are whole once its report has been sent. While a run is in progress a
 * reader may see a bucket counted and the sum not yet.
 */
struct proto_page {
        _Atomic uint64_t call;         /* proto_call(): phase and since when; 0: no call in progress */
        _Atomic uint64_t samples;      /* of this run so far */
        _Atomic uint64_t written_bytes;/* of this run so far, timed part */
        _Atomic uint64_t progress_total; /* samples, or bytes for stream, at which the run ends; 0: by time */
        _Atomic uint32_t cancel;       /* not 0: stop at the next sample */
        uint32_t reserved;
        struct histogram sync, write;
};

/* Phase and time in one word, so that a reader never pairs an old one with a new one. */
static inline uint64_t proto_call(enum phase phase, uint64_t since_ns) {
        return since_ns << 3 | (uint64_t) phase;
}
static inline enum phase proto_call_phase(uint64_t call) {
        return (call & 7) < PHASE_COUNT_ ? (enum phase)(call & 7) : PHASE_NONE;
}
static inline uint64_t proto_call_since_ns(uint64_t call) {
        return call >> 3;
}

/* Nothing seen. */
void proto_evidence_init(struct proto_evidence *e);

/* The size of a message of @type, or 0. */
size_t proto_size(enum proto_type type);

/* Zeroes @m and fills in its header. */
void proto_init(union proto_message *m, enum proto_type type);

/*
 * Whether @bytes received bytes are a whole message of this build whose every
 * enumeration, flag and string is in range. Returns its type, or -EBADMSG
 * (malformed) or -EPROTONOSUPPORT (another build's).
 */
int proto_check(const union proto_message *m, size_t bytes);

#endif
