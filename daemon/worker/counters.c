/*
 * What the block layer counts; see worker/counters.h.
 */
#include "worker/counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR_BYTES 512
#define FIELD_SECTORS 6
#define FIELD_FLUSHES 15
#define FIELDS 17

static unsigned parse_fields(const char *text, uint64_t ret[FIELDS]) {
        unsigned n = 0;

        while (n < FIELDS) {
                char *end;

                ret[n] = strtoull(text, &end, 10);
                if (end == text)
                        break;
                text = end;
                n++;
        }
        return n;
}

/* Whether the counters are of the device that was meant, and move. */
static bool is_counting(const struct sysroot *root, const struct proto_leaf *leaf) {
        char path[128];
        uint64_t number;

        (void) snprintf(path, sizeof path, "/sys/class/block/%s/queue/iostats", leaf->name);
        if (sysroot_read_number(root, path, &number) == 0 && number == 0)
                return false;
        if (leaf->diskseq == 0)
                return true;
        (void) snprintf(path, sizeof path, "/sys/class/block/%s/diskseq", leaf->name);
        return sysroot_read_number(root, path, &number) == 0 && number == leaf->diskseq;
}

static void read_leaf(const struct sysroot *root, const struct proto_leaf *leaf, struct proto_counters *ret) {
        uint64_t fields[FIELDS];
        char path[128], text[512];
        unsigned n;

        *ret = (struct proto_counters) { PROTO_UNKNOWN, PROTO_UNKNOWN };
        (void) snprintf(path, sizeof path, "/sys/class/block/%s/stat", leaf->name);
        if (!is_counting(root, leaf) || sysroot_read(root, path, text, sizeof text) < 0)
                return;
        n = parse_fields(text, fields);
        if (n > FIELD_SECTORS)
                ret->written_bytes = fields[FIELD_SECTORS] * SECTOR_BYTES;
        if (n > FIELD_FLUSHES)
                ret->flushes = fields[FIELD_FLUSHES];
}

void counters_read(const struct sysroot *root, const struct proto_leaf *leaves, size_t n, struct proto_counters *ret) {
        for (size_t i = 0; i < n; i++)
                read_leaf(root, &leaves[i], &ret[i]);
}

static uint64_t difference(uint64_t before, uint64_t after) {
        return before == PROTO_UNKNOWN || after == PROTO_UNKNOWN || after < before ? PROTO_UNKNOWN : after - before;
}

void counters_subtract(const struct proto_counters *before, const struct proto_counters *after, size_t n,
                       struct proto_counters *ret) {
        for (size_t i = 0; i < n; i++)
                ret[i] = (struct proto_counters) {
                        difference(before[i].written_bytes, after[i].written_bytes),
                        difference(before[i].flushes, after[i].flushes),
                };
}

uint64_t counters_bytes(const struct proto_counters *c, size_t n) {
        uint64_t total = 0;

        for (size_t i = 0; i < n; i++) {
                if (c[i].written_bytes == PROTO_UNKNOWN)
                        return PROTO_UNKNOWN;
                total += c[i].written_bytes;
        }
        return n > 0 ? total : PROTO_UNKNOWN;
}
