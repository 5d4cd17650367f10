/*
 * The names and texts of how a run ends; see core/reason.h.
 */
#include "core/reason.h"

#include <errno.h>
#include <stddef.h>

#define NAME(names, value) ((size_t) (value) < sizeof(names) / sizeof(names)[0] ? (names)[value] : "unknown")

static const char *const outcome_names[OUTCOME_COUNT_] = {
        [OUTCOME_OK] = "ok",
        [OUTCOME_FAILED] = "failed",
        [OUTCOME_SKIPPED] = "skipped",
};

static const struct {
        const char *name, *text;
} reasons[REASON_COUNT_] = {
        [REASON_NONE] = { "none", "nothing went wrong" },
        [REASON_TIMEOUT] = { "timeout", "the call did not return in time" },
        [REASON_NOSPACE] = { "nospace", "no space left on the file system" },
        [REASON_QUOTA] = { "quota", "the disk quota is used up" },
        [REASON_READONLY] = { "readonly", "the file system is read-only" },
        [REASON_NOTFOUND] = { "notfound", "no such directory" },
        [REASON_NOTMOUNTED] = { "notmounted", "the file system is not mounted" },
        [REASON_NOTPREPARED] = { "notprepared", "not a directory that may be tested" },
        [REASON_PERMISSION] = { "permission", "no permission" },
        [REASON_IO] = { "io", "the storage reported an error" },
        [REASON_STALE] = { "stale", "the file handle is stale" },
        [REASON_INTERRUPTED] = { "interrupted", "interrupted" },
        [REASON_INTERNAL] = { "internal", "an error of syncprobe's own" },
};

static const struct {
        const char *name, *text;
} skips[SKIP_COUNT_] = {
        [SKIP_INFLIGHT] = { "inflight", "the run before has not returned" },
        [SKIP_BUSY] = { "busy", "the storage was busy" },
        [SKIP_BUDGET] = { "budget", "the day's budget of writes is used up" },
        [SKIP_LOWSPACE] = { "lowspace", "too little free space" },
        [SKIP_QUIET] = { "quiet", "within quiet hours" },
        [SKIP_OVERLAP] = { "overlap", "another test of its group was running" },
        [SKIP_PAUSED] = { "paused", "the target is paused" },
};

static const char *const phase_names[PHASE_COUNT_] = {
        [PHASE_NONE] = "none",
        [PHASE_LOOKUP] = "lookup",
        [PHASE_CREATE] = "create",
        [PHASE_WRITE] = "write",
        [PHASE_SYNC] = "sync",
        [PHASE_CLOSE] = "close",
        [PHASE_UNLINK] = "unlink",
};

const char *outcome_name(enum outcome outcome) {
        return NAME(outcome_names, outcome);
}

const char *reason_name(enum reason reason) {
        return (size_t) reason < REASON_COUNT_ ? reasons[reason].name : "unknown";
}

const char *skip_name(enum skip skip) {
        return (size_t) skip < SKIP_COUNT_ ? skips[skip].name : "unknown";
}

const char *phase_name(enum phase phase) {
        return NAME(phase_names, phase);
}

const char *reason_text(enum reason reason) {
        return (size_t) reason < REASON_COUNT_ ? reasons[reason].text : "unknown";
}

const char *skip_text(enum skip skip) {
        return (size_t) skip < SKIP_COUNT_ ? skips[skip].text : "unknown";
}

enum reason reason_from_errno(int error) {
        switch (error) {
        case ENOSPC:
        case EFBIG:
                return REASON_NOSPACE;
        case EDQUOT:
                return REASON_QUOTA;
        case EROFS:
                return REASON_READONLY;
        case ENOENT:
        case ENOTDIR:
                return REASON_NOTFOUND;
        case ENOTCONN:
                return REASON_NOTMOUNTED;
        case ESTALE:
                return REASON_STALE;
        case EACCES:
        case EPERM:
                return REASON_PERMISSION;
        case EIO:
        case ENODEV:
        case ENXIO:
        case EREMOTEIO:
        /* the block layer's words for a path, a medium and a check that failed */
        case ENOLINK:
        case EBADE:
        case ENODATA:
        case EILSEQ:
        case ENOMEDIUM:
        /* a file system that found itself corrupt */
        case EUCLEAN:
        case EBADMSG:
        /* a server, or a program that is a file system, that has gone in the middle of a call */
        case ECONNABORTED:
        case ECONNRESET:
        case ECONNREFUSED:
        case EPIPE:
        case EHOSTDOWN:
        case EHOSTUNREACH:
        case ENETDOWN:
        case ENETUNREACH:
                return REASON_IO;
        case EINTR:
        case ECANCELED:
                return REASON_INTERRUPTED;
        case ETIMEDOUT:
                return REASON_TIMEOUT;
        case ELOOP:
        case EKEYREJECTED: /* what the look-up says of a directory that others own or can write to */
                return REASON_NOTPREPARED;
        default:
                return REASON_INTERNAL;
        }
}
