/*
 * What was seen of where a run's bytes went; see core/evidence.h.
 */
#include "core/evidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OTHER_BYTES_MAX 1e18 /* more than any device takes, and a worker that lies may say so */

int evidence_new(struct evidence **ret, struct stack *stack, const struct proto_evidence *seen) {
        uint8_t leaves[STACK_LEAVES_MAX];
        bool more = false;
        size_t n = stack ? stack_leaves(stack, leaves, &more) : 0;
        size_t bytes = offsetof(struct evidence, seen.leaves) + n * sizeof seen->leaves[0];
        struct evidence *e = calloc(1, bytes);

        if (!e)
                return -ENOMEM;
        e->references = 1;
        e->stack = stack_ref(stack);
        e->n_leaves = (uint8_t) n;
        e->more_leaves = more;
        if (n > 0)
                memcpy(e->leaves, leaves, n);
        memcpy((char *) e + offsetof(struct evidence, seen), seen, bytes - offsetof(struct evidence, seen));
        *ret = e;
        return 0;
}

struct evidence *evidence_ref(struct evidence *e) {
        if (e)
                e->references++;
        return e;
}

struct evidence *evidence_unref(struct evidence *e) {
        if (e && --e->references == 0) {
                stack_unref(e->stack);
                free(e);
        }
        return NULL;
}

static uint64_t add(uint64_t a, uint64_t b) {
        return a == PROTO_UNKNOWN || b == PROTO_UNKNOWN ? PROTO_UNKNOWN : a + b;
}

void evidence_add_sample(struct proto_evidence *total, const struct proto_evidence *one) {
        uint64_t watched = total->watched_ns;

        if (watched == 0) {
                *total = *one;
                return;
        }
        total->watched_ns += one->watched_ns;
        total->waited_ns = add(total->waited_ns, one->waited_ns);
        total->stolen_ns = add(total->stolen_ns, one->stolen_ns);
        for (size_t i = 0; i < STACK_LEAVES_MAX; i++) {
                total->leaves[i].written_bytes = add(total->leaves[i].written_bytes, one->leaves[i].written_bytes);
                total->leaves[i].flushes = add(total->leaves[i].flushes, one->leaves[i].flushes);
        }
}

void evidence_fill_order(struct proto_run *order, const struct stack *stack) {
        uint8_t leaves[STACK_LEAVES_MAX];
        bool more;

        order->n_leaves = stack ? (uint32_t) stack_leaves(stack, leaves, &more) : 0;
        for (size_t i = 0; i < order->n_leaves; i++) {
                const struct stack_node *n = &stack->nodes[leaves[i]];

                memcpy(order->leaves[i].name, n->name, sizeof order->leaves[i].name);
                order->leaves[i].diskseq = n->diskseq;
        }
}

uint64_t evidence_device_bytes(const struct evidence *e) {
        uint64_t total = 0;

        if (e->more_leaves || e->n_leaves == 0)
                return PROTO_UNKNOWN;
        for (size_t i = 0; i < e->n_leaves; i++)
                total = add(total, e->seen.leaves[i].written_bytes);
        return total;
}

uint64_t evidence_other_bytes(const struct evidence *e) {
        double bytes;

        if (e->seen.other_bytes == PROTO_UNKNOWN || e->seen.other_ns == 0)
                return PROTO_UNKNOWN;
        bytes = (double) e->seen.other_bytes / (double) e->seen.other_ns * (double) e->seen.watched_ns;
        return bytes < OTHER_BYTES_MAX ? (uint64_t) bytes : (uint64_t) OTHER_BYTES_MAX;
}

static bool has_log(const struct evidence *e) {
        for (size_t i = 0; i < e->n_leaves; i++)
                if (e->stack->nodes[e->leaves[i]].role == ROLE_LOG)
                        return (stack_facts(e->stack) & FACT_THROUGHPUT) == 0;
        return false;
}

bool evidence_leaf_takes_syncs(const struct evidence *e, size_t i) {
        return !has_log(e) || e->stack->nodes[e->leaves[i]].role == ROLE_LOG;
}

void evidence_flushes(const struct evidence *e, struct evidence_flushes *ret) {
        *ret = (struct evidence_flushes) { .leaves = 0 };
        for (size_t i = 0; i < e->n_leaves; i++) {
                if (!evidence_leaf_takes_syncs(e, i))
                        continue;
                ret->leaves++;
                switch ((enum write_cache) e->stack->nodes[e->leaves[i]].write_cache) {
                case WRITE_CACHE_BACK:
                        ret->volatile_++;
                        ret->flushes = add(ret->flushes, e->seen.leaves[i].flushes);
                        break;
                case WRITE_CACHE_THROUGH:
                        break;
                case WRITE_CACHE_UNKNOWN:
                case WRITE_CACHE_COUNT_:
                        ret->unknown++;
                        break;
                }
        }
        if (e->more_leaves)
                ret->flushes = PROTO_UNKNOWN;
}
