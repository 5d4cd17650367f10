/*
 * rules - from a run's evidence to a verdict. Pure.
 *
 * Each rule fires on what was seen, never on what was not: counters that are
 * missing, switched off or replaced make a result unverified, not suspect. More
 * bytes on the devices than were written (mirrors, parity, journals, copy on write)
 * are no reason for anything. The thresholds stand in one table in rules.c.
 */
#ifndef SYNCPROBE_CORE_RULES_H
#define SYNCPROBE_CORE_RULES_H

#include "core/evidence.h"
#include "core/result.h"

struct thresholds {
        uint64_t judged_bytes;       /* of fewer, nothing is concluded */
        double allocated_share;      /* of the distinct bytes */
        double encoded_share;        /* of the extents' bytes; also of those not yet allocated */
        double compressed_share;     /* of the bytes written, on the devices, where something compresses */
        double missing_share;        /* likewise, anywhere */
        uint64_t flush_syncs;        /* of fewer, a lack of flushes is not held against anyone */
        double flush_share;          /* of the syncs */
        uint64_t medium_samples;     /* a median of fewer says nothing of the medium */
        uint64_t medium_p50_ns;
        double starved_share;        /* of the run */
        double busy_share;           /* others' bytes, of the run's own */
        uint64_t burst_ns;
};
extern const struct thresholds rules_thresholds;

/* Bytes that the run made durable, so that they must have left for the devices: pveperf's order syncs none. */
uint64_t rules_promised_bytes(const struct result *r);

/* Why nothing is known of the devices. */
enum unseen {
        UNSEEN_NOTHING,    /* something is */
        UNSEEN_UNMAPPED,   /* nobody looked, or could */
        UNSEEN_NETWORK,
        UNSEEN_FUSE,
        UNSEEN_REMOTE,     /* rbd, nbd, DRBD: a device whose medium is elsewhere */
        UNSEEN_INCOMPLETE, /* the stack could not be followed to its end */
        UNSEEN_COUNTERS,   /* a device has none */
        UNSEEN_CACHE,      /* a device does not say whether it has a volatile cache */
        UNSEEN_BYTES,      /* too few bytes were counted, and too few written to conclude anything */
        UNSEEN_FLUSHES,    /* likewise flushes */
};
enum unseen rules_unseen(const struct result *r);

/* @accepted: CODE_BIT()s. Reads r->evidence, which may be NULL. A run that is not ok is unverified, for no reason. */
void rules_judge(struct judgement *ret, const struct result *r, uint32_t accepted);

#endif
