/*
 * Stacks and results with evidence; see evidence_fixture.h.
 */
#include "evidence_fixture.h"

#include "testutil.h"

#include <stdio.h>
#include <string.h>

void fixture_stack(struct stack *s, enum layer layer, const char *fstype, const char *source) {
        memset(s, 0, sizeof *s);
        (void) fixture_node(s, -1, layer, fstype, WRITE_CACHE_UNKNOWN, -1, 0);
        snprintf(s->fstype, sizeof s->fstype, "%s", fstype);
        snprintf(s->source, sizeof s->source, "%s", source);
        snprintf(s->nodes[0].detail, sizeof s->nodes[0].detail, "%s", source);
}

int fixture_node(struct stack *s, int parent, enum layer layer, const char *name, enum write_cache cache, int rotational,
                 uint32_t facts) {
        struct stack_node *n = &s->nodes[s->n_nodes];

        *n = (struct stack_node) {
                .layer = (uint8_t) layer, .write_cache = (uint8_t) cache, .rotational = (int8_t) rotational,
                .parent = (int16_t) parent, .facts = facts,
        };
        snprintf(n->name, sizeof n->name, "%s", name);
        return (int) s->n_nodes++;
}

void fixture_run(struct fixture_run *run, enum kind kind, enum data data, unsigned samples, uint64_t bytes, uint64_t sync_ns) {
        static struct histogram sync, write;
        char error[SPEC_ERROR_BYTES];
        union proto_message m;
        struct spec spec;

        spec_init(&spec, kind);
        assert_int_equal(spec_finish(&spec, error), 0);
        spec.data = data;
        spec.compressible_percent = 50;
        proto_init(&m, PROTO_REPORT);
        m.report.samples = samples;
        m.report.written_bytes = bytes;
        m.report.elapsed_ns = samples * sync_ns;
        strcpy(m.report.fstype, "ext4");
        histogram_reset(&sync);
        histogram_reset(&write);
        for (unsigned i = 0; i < samples; i++) {
                histogram_add(&sync, sync_ns);
                histogram_add(&write, 1000);
        }
        result_from_report(&run->result, &spec, &m.report, &sync, &write);
        proto_evidence_init(&run->seen);
        run->seen.watched_ns = m.report.elapsed_ns;
}

void fixture_file(struct fixture_run *run, uint64_t bytes) {
        run->seen.distinct_bytes = run->seen.allocated_bytes = run->seen.extent_bytes = bytes;
        run->seen.encoded_bytes = run->seen.delayed_bytes = 0;
}

void fixture_leaf(struct fixture_run *run, size_t i, uint64_t bytes, uint64_t flushes) {
        run->seen.leaves[i] = (struct proto_counters) { bytes, flushes };
}

void fixture_judge(struct fixture_run *run, const struct stack *s, uint32_t accepted) {
        struct stack *copy = NULL;

        if (s)
                assert_int_equal(stack_new(&copy, s), 0);
        assert_int_equal(result_judge(&run->result, copy, &run->seen, accepted), 0);
        stack_unref(copy);
}
