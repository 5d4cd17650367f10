/*
 * result - what a finished run measured, and what is worked out from it.
 *
 * Made in the process that shows it, from the worker's report and histograms. A
 * plain struct without histograms, so that a ring of them is cheap; its evidence is
 * counted, and shared by its copies. Names of target and test belong to whoever
 * keeps the result. Pure.
 */
#ifndef SYNCPROBE_CORE_RESULT_H
#define SYNCPROBE_CORE_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/evidence.h"
#include "core/histogram.h"
#include "core/proto.h"
#include "core/reason.h"
#include "core/spec.h"
#include "core/verdict.h"

struct result {
        struct spec spec;
        enum outcome outcome;
        enum reason reason;             /* REASON_NONE unless failed */
        enum skip skip;                 /* counts for a skipped one alone */
        enum phase phase;               /* of the call that failed, else PHASE_NONE */
        int error;                      /* its errno (positive), or 0 */
        bool truncated;                 /* cut by max_duration */
        uint64_t started_realtime_ns;   /* since the epoch */
        uint64_t ended_realtime_ns;     /* by a report: start plus elapsed, unless the owner knows better */
        uint64_t elapsed_ns;            /* CLOCK_MONOTONIC, by the kind's own method */
        uint64_t written_bytes;         /* in the timed part */
        uint64_t laid_out_bytes;        /* before it */
        uint64_t samples;               /* writes made durable */
        struct histogram_summary sync;  /* of the sync calls (dsync: of the writes that sync) */
        struct histogram_summary write; /* of the write calls */
        double syncs_per_second;        /* NAN where the kind does not measure it */
        double stream_bytes_per_second; /* likewise */
        enum proto_effect writeback;    /* whether starting write-back early had an effect */
        char fstype[PROTO_FSTYPE_BYTES];
        struct evidence *evidence;      /* owned; NULL: none was kept */
        struct judgement judgement;
};

/*
 * From the worker's last word about a run. A failed run keeps its counts (they
 * are spent all the same) but shows no measured value; an `ok` report that wrote
 * nothing is turned into a failure (REASON_INTERNAL), since a number that looks
 * good because nothing was done is the one thing never to be told.
 */
void result_from_report(struct result *ret, const struct spec *spec, const struct proto_report *report,
                        const struct histogram *sync, const struct histogram *write);

/*
 * Keeps the worker's readings, on the stack that they were made on (NULL: nobody
 * knows it), and judges. 0, or -ENOMEM: judged without them. @accepted: CODE_BIT()s.
 */
int result_judge(struct result *r, struct stack *stack, const struct proto_evidence *seen, uint32_t accepted);

/* One more owner of the evidence; and one less. */
void result_copy(struct result *ret, const struct result *from);
void result_done(struct result *r);

/* A run that ended without the worker's word: killed, crashed, past its deadline. */
void result_from_failure(struct result *ret, const struct spec *spec, enum reason reason, enum phase phase,
                         int error, uint64_t started_realtime_ns, uint64_t ended_realtime_ns);

/* Whether measured values are shown. */
static inline bool result_is_ok(const struct result *r) {
        return r->outcome == OUTCOME_OK;
}

/* "fdatasync: no space left on the file system (ENOSPC)" for a failed one, why a
 * skipped one was; "" when ok. */
void result_add_failure(struct strbuf *b, const struct result *r);

#endif
