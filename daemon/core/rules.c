/*
 * From evidence to a verdict; see core/rules.h.
 */
#include "core/rules.h"

#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

/*
 * One place for all of them, each with its reason.
 */
const struct thresholds rules_thresholds = {
        /* A file of a few kilobytes may lie inside its inode, or in a journal's block. */
        .judged_bytes = 64 << 10,
        /* ZFS had 79 % of random data allocated right after a sync and all of it some seconds
         * later; zeros with compression one block in all. Half stands far from both. */
        .allocated_share = 0.5,
        /* btrfs marks all extents of zeros as encoded and none of random data; a tenth leaves
         * room for a stray one. */
        .encoded_share = 0.1,
        /* 25 % random data go to two thirds with zstd; random data never below all of it. */
        .compressed_share = 0.5,
        /* The block layer counts a sector before it wakes whoever waits for it, so all bytes are
         * there when a sync returns. A tenth for holes that a file system makes of blocks
         * of zeros, and for a file's unwritten tail. */
        .missing_share = 0.9,
        /* Flushes of syncs that come together are merged into one, and a journal's commit may carry
         * several; a single thread's cannot, so half is generous. ZFS stripes: 1024 syncs made 514
         * flushes on each of two disks. */
        .flush_syncs = 50,
        .flush_share = 0.5,
        /* 15,000 turns a minute are 4 ms each; a median of 1 ms is not a rotating disk's own. */
        .medium_samples = 100,
        .medium_p50_ns = 1 * NS_PER_MS,
        /* Below a tenth, the wait for a processor hides in what a disk's latency varies by. */
        .starved_share = 0.1,
        /* With more bytes of others than of our own, none of ours can be told missing. */
        .busy_share = 1.0,
        /* A drive's cache, or a controller's, takes a gigabyte in a second. */
        .burst_ns = 1000 * NS_PER_MS,
};

static const struct thresholds *const T = &rules_thresholds;

static bool is_share(uint64_t part, uint64_t whole, double share) {
        return (double) part >= (double) whole * share;
}

uint64_t rules_promised_bytes(const struct result *r) {
        return r->spec.kind == KIND_CREATE && !r->spec.durable ? 0 : r->written_bytes;
}

static const struct stack *stack_of(const struct result *r) {
        return r->evidence ? r->evidence->stack : NULL;
}

static bool has_layer(const struct result *r, enum layer layer) {
        return stack_of(r) && stack_has_layer(stack_of(r), layer);
}

static uint32_t facts_of(const struct result *r) {
        return stack_of(r) ? stack_facts(stack_of(r)) : 0;
}

/* --- the suspect codes --------------------------------------------------------- */

static bool is_memory_backed(const struct result *r) {
        return has_layer(r, LAYER_MEMORY_FILESYSTEM) || has_layer(r, LAYER_MEMORY) || strcmp(r->fstype, "tmpfs") == 0 ||
               strcmp(r->fstype, "ramfs") == 0;
}

static bool is_sync_disabled(const struct result *r) {
        return (facts_of(r) & FACTS_SYNC_DISABLED) != 0;
}

static bool is_not_allocated(const struct result *r) {
        const struct proto_evidence *seen = r->evidence ? &r->evidence->seen : NULL;

        if (!seen || seen->distinct_bytes == PROTO_UNKNOWN || seen->distinct_bytes < T->judged_bytes)
                return false;
        /* Those tell what they like of blocks. */
        if (has_layer(r, LAYER_NETWORK_FILESYSTEM) || has_layer(r, LAYER_FUSE))
                return false;
        if (seen->allocated_bytes != PROTO_UNKNOWN &&
            !is_share(seen->allocated_bytes, seen->distinct_bytes, T->allocated_share))
                return true;
        /* An extent that is not allocated after a sync never left memory. */
        return seen->delayed_bytes != PROTO_UNKNOWN && seen->delayed_bytes > 0 &&
               is_share(seen->delayed_bytes, seen->distinct_bytes, T->encoded_share);
}

/* Whether the leaves together wrote less than this share of what they must have. */
static bool falls_short(const struct result *r, double share) {
        uint64_t promised = rules_promised_bytes(r), bytes;

        if (!r->evidence || promised < T->judged_bytes)
                return false;
        bytes = evidence_device_bytes(r->evidence);
        return bytes != PROTO_UNKNOWN && !is_share(bytes, promised, share);
}

static bool is_compressed(const struct result *r) {
        const struct proto_evidence *seen = r->evidence ? &r->evidence->seen : NULL;

        if (seen && seen->encoded_bytes != PROTO_UNKNOWN && seen->extent_bytes >= T->judged_bytes &&
            seen->encoded_bytes > 0 && is_share(seen->encoded_bytes, seen->extent_bytes, T->encoded_share))
                return true;
        /* Random data cannot be: what is missing of them has gone another way. */
        if (r->spec.data == DATA_RANDOM || ((facts_of(r) & FACT_COMPRESSION) == 0 && !has_layer(r, LAYER_VDO)))
                return false;
        return falls_short(r, T->compressed_share);
}

/* O_DIRECT with O_DSYNC: each write carries its own order to be durable (FUA), and no flush is due. */
static bool is_without_flushes(const struct result *r) {
        return r->spec.kind == KIND_COMMIT && r->spec.direct && r->spec.sync == SYNC_DSYNC &&
               (facts_of(r) & FACT_FUA) != 0;
}

static bool has_no_flush(const struct result *r) {
        struct evidence_flushes f;

        if (!r->evidence || r->sync.samples < T->flush_syncs || is_without_flushes(r))
                return false;
        evidence_flushes(r->evidence, &f);
        return f.volatile_ > 0 && f.flushes != PROTO_UNKNOWN && !is_share(f.flushes, r->sync.samples, T->flush_share);
}

/* --- the unverified codes --------------------------------------------------------- */

static bool is_faster_than_medium(const struct result *r) {
        const struct evidence *e = r->evidence;

        if (!e || e->n_leaves == 0 || r->sync.samples < T->medium_samples || r->sync.p50_ns == HISTOGRAM_NONE ||
            r->sync.p50_ns >= T->medium_p50_ns || has_layer(r, LAYER_CACHED))
                return false;
        for (size_t i = 0; i < e->stack->n_nodes; i++)
                if (e->stack->nodes[i].role != ROLE_DATA)
                        return false;
        for (size_t i = 0; i < e->n_leaves; i++) {
                const struct stack_node *n = &e->stack->nodes[e->leaves[i]];

                if (n->layer != LAYER_DISK || n->rotational != 1 || (n->facts & FACT_ATTACHED) == 0)
                        return false;
        }
        return true;
}

/* Bytes and flushes that are all there. */
static enum unseen unaccounted(const struct result *r) {
        struct evidence_flushes f;
        uint64_t bytes = evidence_device_bytes(r->evidence);

        if (bytes == PROTO_UNKNOWN)
                return UNSEEN_COUNTERS;
        evidence_flushes(r->evidence, &f);
        if (f.unknown > 0)
                return UNSEEN_CACHE;
        if (f.volatile_ > 0 && f.flushes == PROTO_UNKNOWN)
                return UNSEEN_COUNTERS;
        if (rules_promised_bytes(r) < T->judged_bytes && bytes < rules_promised_bytes(r))
                return UNSEEN_BYTES;
        if (f.volatile_ > 0 && r->sync.samples < T->flush_syncs && !is_without_flushes(r) &&
            (f.flushes == 0 || !is_share(f.flushes, r->sync.samples, T->flush_share)))
                return UNSEEN_FLUSHES;
        return UNSEEN_NOTHING;
}

static bool is_seen_to_its_end(const struct evidence *e) {
        for (size_t i = 0; i < e->n_leaves; i++)
                switch ((enum layer) e->stack->nodes[e->leaves[i]].layer) {
                case LAYER_DISK:
                case LAYER_VIRTUAL:
                case LAYER_CONTROLLER:
                case LAYER_FABRIC:
                        break;
                default:
                        return false;
                }
        return e->n_leaves > 0 && !e->more_leaves && !e->stack->incomplete && !stack_has_layer(e->stack, LAYER_UNSEEN);
}

enum unseen rules_unseen(const struct result *r) {
        if (!stack_of(r) || stack_of(r)->n_nodes == 0)
                return UNSEEN_UNMAPPED;
        if (has_layer(r, LAYER_NETWORK_FILESYSTEM))
                return UNSEEN_NETWORK;
        if (has_layer(r, LAYER_FUSE))
                return UNSEEN_FUSE;
        if (has_layer(r, LAYER_RBD) || has_layer(r, LAYER_NBD) || has_layer(r, LAYER_DRBD))
                return UNSEEN_REMOTE;
        if (!is_seen_to_its_end(r->evidence))
                return UNSEEN_INCOMPLETE;
        return unaccounted(r);
}

static bool is_starved(const struct result *r) {
        const struct proto_evidence *seen = r->evidence ? &r->evidence->seen : NULL;
        uint64_t waited;

        if (!seen || seen->watched_ns == 0)
                return false;
        waited = (seen->waited_ns == PROTO_UNKNOWN ? 0 : seen->waited_ns) +
                 (seen->stolen_ns == PROTO_UNKNOWN ? 0 : seen->stolen_ns);
        return waited > 0 && is_share(waited, seen->watched_ns, T->starved_share);
}

/* --- the notes ---------------------------------------------------------------------- */

static bool is_busy(const struct result *r) {
        uint64_t other = r->evidence && r->evidence->n_leaves > 0 ? evidence_other_bytes(r->evidence) : PROTO_UNKNOWN;

        return other != PROTO_UNKNOWN && other > 0 && is_share(other, r->written_bytes, T->busy_share);
}

static bool is_burst(const struct result *r) {
        return r->spec.kind == KIND_STREAM && r->elapsed_ns < T->burst_ns;
}

/* --- all together --------------------------------------------------------------------- */

static enum basis basis_of(const struct result *r) {
        struct evidence_flushes f;

        if (!r->evidence || r->evidence->n_leaves == 0)
                return BASIS_NONE;
        evidence_flushes(r->evidence, &f);
        if (f.unknown > 0)
                return BASIS_NONE;
        if (f.volatile_ == 0)
                return BASIS_NO_VOLATILE_CACHE_CLAIMED;
        if (f.flushes == PROTO_UNKNOWN || f.flushes == 0 || !is_share(f.flushes, r->sync.samples, T->flush_share))
                return BASIS_NONE;
        return BASIS_FLUSHES_COUNTED;
}

static enum reached reached_of(const struct result *r, uint32_t codes) {
        if ((codes & CODE_BIT(CODE_MEMORY_BACKED)) != 0)
                return REACHED_RAM;
        if ((codes & CODE_BIT(CODE_DEVICE_UNSEEN)) != 0)
                return REACHED_UNKNOWN;
        if ((codes & (CODE_BIT(CODE_NOT_ALLOCATED) | CODE_BIT(CODE_COMPRESSED) | CODE_BIT(CODE_DEVICE_BYTES_MISSING))) != 0)
                return REACHED_FILESYSTEM;
        if (has_layer(r, LAYER_VIRTUAL))
                return REACHED_VIRTUAL_DISK;
        if (has_layer(r, LAYER_CONTROLLER) || has_layer(r, LAYER_FABRIC))
                return REACHED_CONTROLLER;
        return REACHED_DEVICE;
}

static uint32_t find_codes(const struct result *r) {
        static const struct {
                enum code code;
                bool (*holds)(const struct result *r);
        } rules[] = {
                { CODE_SYNC_DISABLED, is_sync_disabled },       { CODE_NOT_ALLOCATED, is_not_allocated },
                { CODE_COMPRESSED, is_compressed },             { CODE_NO_FLUSH, has_no_flush },
                { CODE_FASTER_THAN_MEDIUM, is_faster_than_medium }, { CODE_CPU_STARVED, is_starved },
                { CODE_DEVICE_BUSY, is_busy },                  { CODE_BURST_RATE, is_burst },
        };
        uint32_t codes = 0;

        for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
                if (rules[i].holds(r))
                        codes |= CODE_BIT(rules[i].code);
        if (falls_short(r, T->missing_share))
                codes |= CODE_BIT(CODE_DEVICE_BYTES_MISSING);
        if (has_layer(r, LAYER_VIRTUAL))
                codes |= CODE_BIT(CODE_HOST_CACHE_UNSEEN);
        if (has_layer(r, LAYER_CONTROLLER) || has_layer(r, LAYER_FABRIC))
                codes |= CODE_BIT(CODE_CONTROLLER_CACHE_UNSEEN);
        if (is_memory_backed(r)) /* where the bytes are is seen, then */
                codes |= CODE_BIT(CODE_MEMORY_BACKED);
        else if (rules_unseen(r) != UNSEEN_NOTHING)
                codes |= CODE_BIT(CODE_DEVICE_UNSEEN);
        return codes;
}

void rules_judge(struct judgement *ret, const struct result *r, uint32_t accepted) {
        struct judgement j = { .verdict = VERDICT_UNVERIFIED, .reached = REACHED_UNKNOWN, .basis = BASIS_NONE };

        if (!result_is_ok(r)) {
                *ret = j;
                return;
        }
        j.codes = find_codes(r);
        j.basis = basis_of(r);
        j.reached = reached_of(r, j.codes);
        j.verdict = VERDICT_CREDIBLE;
        for (unsigned i = 0; i < CODE_COUNT_; i++) {
                if ((j.codes & CODE_BIT(i)) == 0)
                        continue;
                if ((accepted & CODE_BIT(i)) != 0 && code_can_be_accepted((enum code) i))
                        j.accepted |= CODE_BIT(i);
                else if (code_verdict((enum code) i) > j.verdict)
                        j.verdict = code_verdict((enum code) i);
        }
        /* The counters accuse nobody then, and vouch for nothing either. */
        if (j.verdict == VERDICT_CREDIBLE && (j.codes & CODE_BIT(CODE_DEVICE_BUSY)) != 0)
                j.verdict = VERDICT_UNVERIFIED;
        *ret = j;
}
