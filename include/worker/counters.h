/*
 * counters - what the block layer counts of a device.
 *
 * /sys/class/block/NAME/stat, Documentation/block/stat.rst: its 7th field is sectors
 * written (of 512 bytes, whatever the device's are), its 16th flushes completed
 * (since Linux 5.5, whole disks only). Does not touch the device.
 */
#ifndef SYNCPROBE_WORKER_COUNTERS_H
#define SYNCPROBE_WORKER_COUNTERS_H

#include <stddef.h>

#include "core/proto.h"
#include "worker/sysroot.h"

/* One reading of @leaves: totals since the device came. PROTO_UNKNOWN: counters that
 * are not there, are switched off (queue/iostats), or are another device's by now. */
void counters_read(const struct sysroot *root, const struct proto_leaf *leaves, size_t n, struct proto_counters *ret);

/* From one reading to a later one, per leaf; unknown where either is, or where they went back. */
void counters_subtract(const struct proto_counters *before, const struct proto_counters *after, size_t n,
                       struct proto_counters *ret);

/* Bytes of all; PROTO_UNKNOWN if any is. */
uint64_t counters_bytes(const struct proto_counters *c, size_t n);

#endif
