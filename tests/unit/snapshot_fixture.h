/*
 * snapshot_fixture - a daemon's state made by hand, for the renderers' tests.
 */
#ifndef SYNCPROBE_TESTS_SNAPSHOT_FIXTURE_H
#define SYNCPROBE_TESTS_SNAPSHOT_FIXTURE_H

#include "core/snapshot.h"

/* Targets t0, t1, … with the tests pulse, commit and stream, none of which has run. */
struct snapshot *snapshot_fixture_new(size_t n_targets);
struct snapshot *snapshot_fixture_free(struct snapshot *s);

/* The newest result of a test; it is copied. */
void snapshot_fixture_add(struct snapshot_test *test, const struct result *r);
/* A good run: 200 syncs of 1 ms, or a stream of 1 GiB in 8 s; a failed one (io, sync). */
void snapshot_fixture_add_ok(struct snapshot_test *test, uint64_t ended_realtime_ns);
void snapshot_fixture_add_failed(struct snapshot_test *test, uint64_t ended_realtime_ns);

#endif
