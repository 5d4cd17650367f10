/*
 * evidence_fixture - stacks and results with evidence, for the tests of what is
 * made of them.
 */
#ifndef SYNCPROBE_TESTS_EVIDENCE_FIXTURE_H
#define SYNCPROBE_TESTS_EVIDENCE_FIXTURE_H

#include "core/result.h"

/* A file system of @fstype alone, mounted from @source. */
void fixture_stack(struct stack *s, enum layer layer, const char *fstype, const char *source);
/* One more node under @parent; its index. */
int fixture_node(struct stack *s, int parent, enum layer layer, const char *name, enum write_cache cache, int rotational,
                 uint32_t facts);

/* A run that went well: @samples syncs of @sync_ns each, @bytes written. Nothing is seen yet. */
struct fixture_run {
        struct result result;
        struct proto_evidence seen;
};
void fixture_run(struct fixture_run *run, enum kind kind, enum data data, unsigned samples, uint64_t bytes, uint64_t sync_ns);

/* All that can be seen of an honest file: distinct, allocated, extents. */
void fixture_file(struct fixture_run *run, uint64_t bytes);
/* What the @i-th leaf did. */
void fixture_leaf(struct fixture_run *run, size_t i, uint64_t bytes, uint64_t flushes);

/* Judges run->result; its evidence is dropped by result_done(). */
void fixture_judge(struct fixture_run *run, const struct stack *s, uint32_t accepted);

#endif
