/*
 * verdict - the words for whether a result is to be believed, and why.
 *
 * The rules that find them in the evidence stand in core/rules.h, the sentences
 * in core/grounds.h. Pure.
 */
#ifndef SYNCPROBE_CORE_VERDICT_H
#define SYNCPROBE_CORE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

enum verdict { VERDICT_CREDIBLE, VERDICT_UNVERIFIED, VERDICT_SUSPECT, VERDICT_COUNT_ };

/* How far the bytes were seen to get. */
enum reached {
        REACHED_UNKNOWN, REACHED_RAM, REACHED_FILESYSTEM, REACHED_VIRTUAL_DISK, REACHED_CONTROLLER, REACHED_DEVICE,
        REACHED_COUNT_
};

/* What a sync's effect on the device was seen by. */
enum basis { BASIS_NONE, BASIS_FLUSHES_COUNTED, BASIS_NO_VOLATILE_CACHE_CLAIMED, BASIS_COUNT_ };

/* The reasons, the gravest first. */
enum code {
        CODE_MEMORY_BACKED, CODE_SYNC_DISABLED, CODE_NOT_ALLOCATED, CODE_COMPRESSED, CODE_DEVICE_BYTES_MISSING,
        CODE_NO_FLUSH, /* suspect, up to here */
        CODE_FASTER_THAN_MEDIUM, CODE_HOST_CACHE_UNSEEN, CODE_CONTROLLER_CACHE_UNSEEN, CODE_DEVICE_UNSEEN,
        CODE_CPU_STARVED, /* unverified, up to here */
        CODE_DEVICE_BUSY, CODE_BURST_RATE, /* notes */
        CODE_COUNT_
};

#define CODE_BIT(code) (UINT32_C(1) << (unsigned) (code))

const char *verdict_name(enum verdict verdict);
const char *reached_name(enum reached reached);
const char *basis_name(enum basis basis);
const char *code_name(enum code code);

/* -EINVAL: no such code. */
int code_parse(const char *text, enum code *ret);
/* What the code makes of a verdict: VERDICT_CREDIBLE for a note. */
enum verdict code_verdict(enum code code);
/* Whether an administrator may vouch for it. */
bool code_can_be_accepted(enum code code);

struct judgement {
        enum verdict verdict;
        enum reached reached;
        enum basis basis;
        uint32_t codes;    /* CODE_BIT()s */
        uint32_t accepted; /* of those, the ones that no longer set the verdict */
};

#endif
