/*
 * Verdicts and what they rest on; see core/verdict.h.
 */
#include "core/verdict.h"

#include <stddef.h>

#define NAME(names, value) ((size_t) (value) < sizeof(names) / sizeof(names)[0] ? (names)[value] : "unknown")

static const char *const verdict_names[VERDICT_COUNT_] = {
        [VERDICT_CREDIBLE] = "credible",
        [VERDICT_UNVERIFIED] = "unverified",
        [VERDICT_SUSPECT] = "suspect",
};

static const char *const reached_names[REACHED_COUNT_] = { [REACHED_UNKNOWN] = "unknown" };

static const char *const basis_names[BASIS_COUNT_] = { [BASIS_NONE] = "none" };

static const struct {
        const char *name, *text;
} codes[CODE_COUNT_] = {
        [CODE_DEVICE_UNSEEN] = {
                "device-unseen",
                "this version of syncprobe does not watch the devices under the file system, so whether "
                "the bytes and the flushes reached one is not known",
        },
};

const char *verdict_name(enum verdict verdict) {
        return NAME(verdict_names, verdict);
}

const char *reached_name(enum reached reached) {
        return NAME(reached_names, reached);
}

const char *basis_name(enum basis basis) {
        return NAME(basis_names, basis);
}

const char *code_name(enum code code) {
        return (size_t) code < CODE_COUNT_ ? codes[code].name : "unknown";
}

const char *code_text(enum code code) {
        return (size_t) code < CODE_COUNT_ ? codes[code].text : "unknown";
}

void judgement_without_evidence(struct judgement *ret) {
        *ret = (struct judgement) {
                .verdict = VERDICT_UNVERIFIED,
                .reached = REACHED_UNKNOWN,
                .basis = BASIS_NONE,
                .codes = UINT32_C(1) << CODE_DEVICE_UNSEEN,
        };
}
