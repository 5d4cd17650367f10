/*
 * verdict - whether a result is to be believed, and why.
 *
 * The codes, what each of them sets, and the texts. The rules that find them in
 * the evidence come with the evidence; without any, the honest answer is
 * "unverified: device-unseen". Pure.
 */
#ifndef SYNCPROBE_CORE_VERDICT_H
#define SYNCPROBE_CORE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

enum verdict { VERDICT_CREDIBLE, VERDICT_UNVERIFIED, VERDICT_SUSPECT, VERDICT_COUNT_ };
enum reached { REACHED_UNKNOWN, REACHED_COUNT_ };
enum basis { BASIS_NONE, BASIS_COUNT_ };
enum code { CODE_DEVICE_UNSEEN, CODE_COUNT_ };

const char *verdict_name(enum verdict verdict);
const char *reached_name(enum reached reached);
const char *basis_name(enum basis basis);
const char *code_name(enum code code);
const char *code_text(enum code code);

struct judgement {
        enum verdict verdict;
        enum reached reached;
        enum basis basis;
        uint32_t codes; /* bit 1 << enum code */
};

/* The judgement of a result whose way to a device nobody watched. */
void judgement_without_evidence(struct judgement *ret);

#endif
