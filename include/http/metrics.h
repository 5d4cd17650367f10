/*
 * metrics - a snapshot as Prometheus text 0.0.4 or OpenMetrics 1.0. Pure.
 *
 * Families are contiguous, each with one HELP and TYPE; base units; no
 * timestamps on samples. What was not measured has no sample: a test that never
 * ran, or whose newest run failed, exports no measured value.
 */
#ifndef SYNCPROBE_HTTP_METRICS_H
#define SYNCPROBE_HTTP_METRICS_H

#include <stdbool.h>

#include "core/snapshot.h"
#include "core/strbuf.h"
#include "http/procstat.h"

/* @process may be NULL. Want of memory is @b's sticky error. */
void metrics_add(struct strbuf *b, const struct snapshot *s, const struct procstat *process, bool openmetrics);

#endif
