/*
 * evidence - what was seen of where a run's bytes went.
 *
 * The worker's readings (struct proto_evidence) together with the stack that
 * they were read on. Counted, and never changed once made: results share it. Pure.
 */
#ifndef SYNCPROBE_CORE_EVIDENCE_H
#define SYNCPROBE_CORE_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/proto.h"
#include "core/stack.h"

struct evidence {
        unsigned references;
        struct stack *stack;        /* owned; NULL: was not mapped */
        uint8_t n_leaves;           /* of which there are counters … */
        uint8_t leaves[STACK_LEAVES_MAX]; /* … by their node */
        bool more_leaves;           /* that did not fit */
        struct proto_evidence seen; /* the last member: cut behind the leaves in use */
};

/* @stack (NULL: none) gets one more owner. 0 or -ENOMEM. */
int evidence_new(struct evidence **ret, struct stack *stack, const struct proto_evidence *seen);
struct evidence *evidence_ref(struct evidence *e);   /* NULL-safe */
struct evidence *evidence_unref(struct evidence *e); /* likewise; returns NULL */

/* Adds the readings of one sample of a pulse to those before it. What was not seen once is not known at all. */
void evidence_add_sample(struct proto_evidence *total, const struct proto_evidence *one);

/* The leaves that are read on @stack, for an order. */
void evidence_fill_order(struct proto_run *order, const struct stack *stack);

/* Bytes that all leaves wrote during the run; PROTO_UNKNOWN where any is not known, or where there are none. */
uint64_t evidence_device_bytes(const struct evidence *e);
/* Bytes that others wrote on them meanwhile, as far as the moments before and after
 * tell; PROTO_UNKNOWN where nobody looked. */
uint64_t evidence_other_bytes(const struct evidence *e);

/* The leaves that have to be told to flush, so that a sync is one: those of a log
 * where there is one, else all; only those with a volatile cache. */
struct evidence_flushes {
        unsigned leaves;     /* that take syncs */
        unsigned volatile_;  /* of those, with a volatile cache */
        unsigned unknown;    /* of those, that do not say whether they have one */
        uint64_t flushes;    /* completed by the volatile ones; PROTO_UNKNOWN where any is not known */
};
void evidence_flushes(const struct evidence *e, struct evidence_flushes *ret);
/* Whether the @i-th leaf takes syncs. */
bool evidence_leaf_takes_syncs(const struct evidence *e, size_t i);

#endif
