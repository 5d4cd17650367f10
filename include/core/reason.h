/*
 * reason - the words in which a run's end is told: outcome, reason, phase.
 *
 * The names are part of the metrics, the JSON and the journal; never renumber
 * what travels in messages between programs of different builds (proto.h
 * checks the version). Pure.
 */
#ifndef SYNCPROBE_CORE_REASON_H
#define SYNCPROBE_CORE_REASON_H

enum outcome { OUTCOME_OK, OUTCOME_FAILED, OUTCOME_SKIPPED, OUTCOME_COUNT_ };

enum reason {
        REASON_NONE,
        REASON_TIMEOUT, REASON_NOSPACE, REASON_QUOTA, REASON_READONLY, REASON_NOTFOUND,
        REASON_NOTMOUNTED, REASON_NOTPREPARED, REASON_PERMISSION, REASON_IO, REASON_STALE,
        REASON_INTERRUPTED, REASON_INTERNAL,
        REASON_COUNT_
};

enum skip { SKIP_INFLIGHT, SKIP_BUSY, SKIP_BUDGET, SKIP_LOWSPACE, SKIP_QUIET, SKIP_OVERLAP, SKIP_PAUSED, SKIP_COUNT_ };

/* Which kind of system call on the target is, or was last, in progress. */
enum phase {
        PHASE_NONE, PHASE_LOOKUP, PHASE_CREATE, PHASE_WRITE, PHASE_SYNC, PHASE_CLOSE, PHASE_UNLINK,
        PHASE_COUNT_
};

/* Never NULL; "unknown" outside the range. REASON_NONE and PHASE_NONE are "none". */
const char *outcome_name(enum outcome outcome);
const char *reason_name(enum reason reason);
const char *skip_name(enum skip skip);
const char *phase_name(enum phase phase);

/* What an errno (positive) of a call on a target means to its owner. */
enum reason reason_from_errno(int error);

/* A sentence's end for people: "no space left on the file system". */
const char *reason_text(enum reason reason);
const char *skip_text(enum skip skip);

#endif
