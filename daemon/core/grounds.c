/*
 * Reasons in sentences; see core/grounds.h.
 */
#include "core/grounds.h"

#include <string.h>

#include "core/rules.h"
#include "core/units.h"

static const struct stack *stack_of(const struct result *r) {
        return r->evidence ? r->evidence->stack : NULL;
}

static void add_bytes(struct strbuf *b, uint64_t bytes) {
        if (bytes == PROTO_UNKNOWN)
                strbuf_add(b, "an unknown number of bytes");
        else
                units_add_bytes(b, bytes);
}

/* Names of the nodes with this layer, at most some. */
static void add_names(struct strbuf *b, const struct stack *s, uint32_t layers) {
        size_t n = 0;

        for (size_t i = 0; s && i < s->n_nodes; i++) {
                if ((layers >> s->nodes[i].layer & 1) == 0 || s->nodes[i].role == ROLE_CACHE)
                        continue;
                if (n == 4) {
                        strbuf_add(b, " and more");
                        return;
                }
                strbuf_add(b, n > 0 ? ", " : "");
                strbuf_add(b, s->nodes[i].name);
                n++;
        }
}

#define LAYER_BIT(layer) (UINT32_C(1) << (layer))

static bool is_plural(const struct stack *s, uint32_t layers) {
        size_t n = 0;

        for (size_t i = 0; s && i < s->n_nodes; i++)
                n += (layers >> s->nodes[i].layer & 1) != 0 && s->nodes[i].role != ROLE_CACHE;
        return n > 1;
}

/* "vda is a virtual disk", "sda, sdb are …" */
static void add_names_are(struct strbuf *b, const struct stack *s, uint32_t layers, const char *one, const char *many) {
        bool plural = is_plural(s, layers);

        add_names(b, s, layers);
        strbuf_printf(b, " %s", plural ? many : one);
}

static const char *data_words(const struct result *r) {
        switch (r->spec.data) {
        case DATA_ZERO:
                return "the zeros were compressed away or detected";
        case DATA_COMPRESSIBLE:
                return "the data were compressed";
        case DATA_RANDOM:
        case DATA_COUNT_:
                break;
        }
        return "they stopped on the way";
}

void grounds_add_sync_disabled(struct strbuf *b, const struct stack *s) {
        static const struct {
                uint32_t fact;
                const char *before, *after; /* the node's detail stands between, or its name */
                bool by_name;
        } facts[] = {
                { FACT_SYNC_DISABLED, "sync=disabled on ", "", false },
                { FACT_NO_CACHE_FLUSH, "zfs_nocacheflush=1 for ", "", false },
                { FACT_NO_BARRIER, "", " is mounted with nobarrier", true },
                { FACT_NO_BARRIER_FSYNC, "", " is mounted with fsync_mode=nobarrier", true },
                { FACT_VOLATILE, "", " is mounted volatile", true },
                { FACT_CACHE_OVERRIDDEN, "", " has a volatile cache, and the kernel was told that it has none (queue/write_cache)",
                  true },
        };
        bool any = false;

        for (size_t i = 0; s && i < s->n_nodes; i++)
                for (size_t k = 0; k < sizeof facts / sizeof facts[0]; k++) {
                        const struct stack_node *n = &s->nodes[i];

                        if ((n->facts & facts[k].fact) == 0 || n->role == ROLE_CACHE)
                                continue;
                        strbuf_add(b, any ? ", " : "");
                        strbuf_add(b, facts[k].before);
                        strbuf_add(b, facts[k].by_name || n->detail[0] == '\0' ? n->name : n->detail);
                        if (facts[k].by_name && n->layer == LAYER_FILESYSTEM && n->detail[0] != '\0')
                                strbuf_printf(b, " (%s)", n->detail);
                        strbuf_add(b, facts[k].after);
                        any = true;
                }
}

/* --- the suspect codes ------------------------------------------------------------- */

static void add_memory_backed(struct strbuf *b, const struct result *r) {
        const struct stack *s = stack_of(r);

        add_bytes(b, r->written_bytes);
        strbuf_add(b, " written, and all of it went to RAM: ");
        if (s && stack_has_layer(s, LAYER_MEMORY)) {
                add_names(b, s, LAYER_BIT(LAYER_MEMORY));
                strbuf_add(b, " is a block device in memory");
        } else if (s && stack_has_layer(s, LAYER_MEMORY_FILESYSTEM)) {
                if (s->nodes[0].layer == LAYER_MEMORY_FILESYSTEM) {
                        strbuf_add(b, s->nodes[0].name);
                } else {
                        add_names(b, s, LAYER_BIT(LAYER_MEMORY_FILESYSTEM));
                        strbuf_printf(b, ", under this %s,", s->nodes[0].name);
                }
                strbuf_add(b, " keeps its files in memory");
        } else {
                strbuf_printf(b, "%s keeps its files in memory", r->fstype);
        }
}

static void add_sync_disabled(struct strbuf *b, const struct result *r) {
        grounds_add_sync_disabled(b, stack_of(r));
        strbuf_printf(b, ": a sync that returns (%llu did) need not have made anything durable",
                      (unsigned long long) r->sync.samples);
}

static void add_not_allocated(struct strbuf *b, const struct result *r) {
        const struct proto_evidence *seen = &r->evidence->seen;

        if (seen->delayed_bytes != PROTO_UNKNOWN && seen->delayed_bytes > 0) {
                add_bytes(b, seen->delayed_bytes);
                strbuf_add(b, " of the file's ");
                add_bytes(b, seen->distinct_bytes);
                strbuf_add(b, " were not allocated when the sync had returned: they never left memory");
                return;
        }
        add_bytes(b, seen->distinct_bytes);
        strbuf_add(b, " of data in the file, ");
        add_bytes(b, seen->allocated_bytes);
        strbuf_printf(b, " allocated for them: %s",
                      r->spec.data == DATA_RANDOM ? "the file system stored them as holes" : data_words(r));
}

static void add_device_bytes(struct strbuf *b, const struct result *r) {
        add_bytes(b, rules_promised_bytes(r));
        strbuf_add(b, " written, ");
        add_bytes(b, evidence_device_bytes(r->evidence));
        strbuf_add(b, " reached ");
        stack_add_leaf_names(b, r->evidence->stack);
}

static void add_compressed(struct strbuf *b, const struct result *r) {
        const struct proto_evidence *seen = &r->evidence->seen;

        if (seen->encoded_bytes != PROTO_UNKNOWN && seen->encoded_bytes > 0) {
                add_bytes(b, seen->encoded_bytes);
                strbuf_add(b, " of the file's ");
                add_bytes(b, seen->extent_bytes);
                strbuf_add(b, " lie in encoded extents; ");
        }
        if (evidence_device_bytes(r->evidence) != PROTO_UNKNOWN) {
                add_device_bytes(b, r);
                strbuf_add(b, ": the data were compressed");
        } else {
                strbuf_add(b, "the data were compressed");
        }
}

static void add_missing(struct strbuf *b, const struct result *r) {
        add_device_bytes(b, r);
        strbuf_printf(b, ": %s", data_words(r));
}

/* "vda, which has a volatile cache" */
static void add_volatile_leaves(struct strbuf *b, const struct result *r) {
        size_t n = 0;

        for (size_t i = 0; i < r->evidence->n_leaves; i++) {
                const struct stack_node *node = &r->evidence->stack->nodes[r->evidence->leaves[i]];

                if (node->write_cache != WRITE_CACHE_BACK || !evidence_leaf_takes_syncs(r->evidence, i))
                        continue;
                if (n++ == 4) {
                        strbuf_add(b, " and more");
                        break;
                }
                strbuf_printf(b, "%s%s", n > 1 ? ", " : "", node->name);
        }
        strbuf_add(b, n > 1 ? ", which have volatile caches" : ", which has a volatile cache");
}

static void add_no_flush(struct strbuf *b, const struct result *r) {
        struct evidence_flushes f;

        evidence_flushes(r->evidence, &f);
        strbuf_printf(b, "%llu syncs, %llu flushes completed by ", (unsigned long long) r->sync.samples,
                      (unsigned long long) f.flushes);
        add_volatile_leaves(b, r);
        strbuf_printf(b, "; at least %llu were expected",
                      (unsigned long long) ((double) r->sync.samples * rules_thresholds.flush_share));
}

/* --- the unverified codes -------------------------------------------------------------- */

static void add_faster_than_medium(struct strbuf *b, const struct result *r) {
        strbuf_add(b, "half of the syncs took ");
        units_add_duration(b, r->sync.p50_ns);
        strbuf_add(b, " or less; ");
        add_names_are(b, stack_of(r), LAYER_BIT(LAYER_DISK), "is a rotating disk", "are rotating disks");
        strbuf_add(b, ", which needs some milliseconds for one: its own cache answered");
}

static void add_host_cache_unseen(struct strbuf *b, const struct result *r) {
        add_names_are(b, stack_of(r), LAYER_BIT(LAYER_VIRTUAL), "is a virtual disk", "are virtual disks");
        strbuf_add(b, ": whether the host passes flushes on to a disk (cache=none, directsync, writethrough, "
                      "writeback) or drops them (cache=unsafe) is out of sight");
}

static void add_controller_cache_unseen(struct strbuf *b, const struct result *r) {
        const struct stack *s = stack_of(r);

        if (stack_has_layer(s, LAYER_CONTROLLER))
                add_names_are(b, s, LAYER_BIT(LAYER_CONTROLLER), "is a RAID controller's volume",
                              "are a RAID controller's volumes");
        else
                add_names_are(b, s, LAYER_BIT(LAYER_FABRIC), "is behind a storage network", "are behind a storage network");
        strbuf_add(b, ": whether the cache that answers has a battery, and is in write-back now, is out of sight");
}

static void add_counters_unseen(struct strbuf *b, const struct result *r) {
        for (size_t i = 0; i < r->evidence->n_leaves; i++) {
                const struct proto_counters *c = &r->evidence->seen.leaves[i];

                if (c->written_bytes != PROTO_UNKNOWN && c->flushes != PROTO_UNKNOWN)
                        continue;
                strbuf_printf(b, "%s counts no %s (queue/iostats is 0, the kernel is older than 5.5, or another disk has taken "
                                 "its place)", r->evidence->stack->nodes[r->evidence->leaves[i]].name,
                              c->written_bytes == PROTO_UNKNOWN ? "sectors" : "flushes");
                return;
        }
        strbuf_add(b, "not all devices could be watched");
}

static void add_device_unseen(struct strbuf *b, const struct result *r) {
        const struct stack *s = stack_of(r);
        struct evidence_flushes f;

        switch (rules_unseen(r)) {
        case UNSEEN_NETWORK:
                add_names_are(b, s, LAYER_BIT(LAYER_NETWORK_FILESYSTEM), "is a network file system", "are network file systems");
                strbuf_printf(b, " (%s): what its server did with the bytes is out of sight", s->source);
                return;
        case UNSEEN_FUSE:
                add_names(b, s, LAYER_BIT(LAYER_FUSE));
                strbuf_add(b, " is a file system in user space: what its program did with the bytes is out of sight");
                return;
        case UNSEEN_REMOTE:
                add_names_are(b, s, LAYER_BIT(LAYER_RBD) | LAYER_BIT(LAYER_NBD) | LAYER_BIT(LAYER_DRBD),
                              "ends in another machine", "end in another machine");
                strbuf_add(b, ": what that did with the bytes is out of sight");
                return;
        case UNSEEN_INCOMPLETE:
                strbuf_printf(b, "the devices under the file system were not all found%s%s",
                              s->remark[0] != '\0' ? ": " : "", s->remark);
                return;
        case UNSEEN_COUNTERS:
                add_counters_unseen(b, r);
                return;
        case UNSEEN_CACHE:
                strbuf_add(b, "a device does not say whether it has a volatile cache");
                return;
        case UNSEEN_BYTES:
                add_device_bytes(b, r);
                strbuf_add(b, ": too few to conclude anything");
                return;
        case UNSEEN_FLUSHES:
                evidence_flushes(r->evidence, &f);
                strbuf_printf(b, "%llu %s, %llu flushes completed by ", (unsigned long long) r->sync.samples,
                              r->sync.samples == 1 ? "sync" : "syncs", (unsigned long long) f.flushes);
                add_volatile_leaves(b, r);
                strbuf_add(b, ": too few syncs to conclude anything");
                return;
        case UNSEEN_NOTHING:
        case UNSEEN_UNMAPPED:
                break;
        }
        if (s && s->remark[0] != '\0')
                strbuf_printf(b, "what lies under the path was not found: %s", s->remark);
        else
                strbuf_add(b, "what lies under the path was not looked at, so whether the bytes reached a device is not known");
}

static void add_cpu_starved(struct strbuf *b, const struct result *r) {
        const struct proto_evidence *seen = &r->evidence->seen;
        uint64_t waited = seen->waited_ns == PROTO_UNKNOWN ? 0 : seen->waited_ns;
        uint64_t stolen = seen->stolen_ns == PROTO_UNKNOWN ? 0 : seen->stolen_ns;

        strbuf_add(b, "the test was ready to go on and had no processor for ");
        units_add_duration(b, waited + stolen);
        strbuf_add(b, " of ");
        units_add_duration(b, seen->watched_ns);
        if (stolen > waited)
                strbuf_add(b, " (taken by the hypervisor)");
        strbuf_add(b, ": slow storage and a busy host look alike");
}

/* --- the notes ---------------------------------------------------------------------------- */

static void add_device_busy(struct strbuf *b, const struct result *r) {
        stack_add_leaf_names(b, stack_of(r));
        strbuf_add(b, " took some ");
        add_bytes(b, evidence_other_bytes(r->evidence));
        strbuf_add(b, " from others in the time in which the run wrote ");
        add_bytes(b, r->written_bytes);
        strbuf_add(b, ": the counters neither prove nor refute it");
}

static void add_burst_rate(struct strbuf *b, const struct result *r) {
        add_bytes(b, r->written_bytes);
        strbuf_add(b, " in ");
        units_add_duration(b, r->elapsed_ns);
        strbuf_add(b, ": a cache may have taken them whole");
}

void grounds_add_text(struct strbuf *b, const struct result *r, enum code code) {
        static void (*const writers[CODE_COUNT_])(struct strbuf *b, const struct result *r) = {
                [CODE_MEMORY_BACKED] = add_memory_backed,
                [CODE_SYNC_DISABLED] = add_sync_disabled,
                [CODE_NOT_ALLOCATED] = add_not_allocated,
                [CODE_COMPRESSED] = add_compressed,
                [CODE_DEVICE_BYTES_MISSING] = add_missing,
                [CODE_NO_FLUSH] = add_no_flush,
                [CODE_FASTER_THAN_MEDIUM] = add_faster_than_medium,
                [CODE_HOST_CACHE_UNSEEN] = add_host_cache_unseen,
                [CODE_CONTROLLER_CACHE_UNSEEN] = add_controller_cache_unseen,
                [CODE_DEVICE_UNSEEN] = add_device_unseen,
                [CODE_CPU_STARVED] = add_cpu_starved,
                [CODE_DEVICE_BUSY] = add_device_busy,
                [CODE_BURST_RATE] = add_burst_rate,
        };

        if ((size_t) code < CODE_COUNT_)
                writers[code](b, r);
}

/* --- what to do ------------------------------------------------------------------------------ */

static void add_advice_for(struct strbuf *b, const struct result *r, enum code code) {
        switch (code) {
        case CODE_MEMORY_BACKED:
                strbuf_add(b, "test a directory on a disk: this one tells the speed of memory");
                break;
        case CODE_SYNC_DISABLED:
                grounds_add_sync_disabled(b, stack_of(r));
                strbuf_add(b, ": writes are not durable here");
                break;
        case CODE_NOT_ALLOCATED:
        case CODE_COMPRESSED:
        case CODE_DEVICE_BYTES_MISSING:
                strbuf_add(b, r->spec.data == DATA_RANDOM ? "the bytes are lost to sight below the file system: syncprobe explain "
                                                            "shows what lies there"
                                                          : "use --data random, which cannot be compressed");
                break;
        case CODE_NO_FLUSH:
                strbuf_add(b, "syncs do not reach the device's cache: look for what swallows flushes; or accept no-flush, if the "
                              "cache is protected");
                break;
        case CODE_FASTER_THAN_MEDIUM:
                strbuf_add(b, "look whether the disks' own caches honour flushes (hdparm -W); or accept faster-than-medium");
                break;
        case CODE_HOST_CACHE_UNSEEN:
                strbuf_add(b, "cache mode of the host unknown: look there, and accept host-cache-unseen if it is not unsafe");
                break;
        case CODE_CONTROLLER_CACHE_UNSEEN:
                strbuf_add(b, "look at the controller's battery and cache policy, and accept controller-cache-unseen if they are well");
                break;
        case CODE_DEVICE_UNSEEN:
                strbuf_add(b, "only the other end can tell; accept device-unseen if you trust it");
                break;
        case CODE_CPU_STARVED:
                strbuf_add(b, "run it again when the host has processors to spare");
                break;
        case CODE_DEVICE_BUSY:
                strbuf_add(b, "run it again when the disks are quieter, to have the counters vouch for it");
                break;
        case CODE_BURST_RATE:
                strbuf_add(b, "write more (--size, --duration): a cache may have taken all of it");
                break;
        case CODE_COUNT_:
                break;
        }
}

void grounds_add_advice(struct strbuf *b, const struct result *r) {
        for (unsigned i = 0; i < CODE_COUNT_; i++)
                if ((r->judgement.codes & ~r->judgement.accepted & CODE_BIT(i)) != 0) {
                        add_advice_for(b, r, (enum code) i);
                        return;
                }
}
