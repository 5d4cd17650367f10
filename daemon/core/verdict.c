/*
 * The words of a verdict; see core/verdict.h.
 */
#include "core/verdict.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define NAME(names, value) ((size_t) (value) < sizeof(names) / sizeof(names)[0] ? (names)[value] : "unknown")

static const char *const verdict_names[VERDICT_COUNT_] = {
        [VERDICT_CREDIBLE] = "credible",
        [VERDICT_UNVERIFIED] = "unverified",
        [VERDICT_SUSPECT] = "suspect",
};

static const char *const reached_names[REACHED_COUNT_] = {
        [REACHED_UNKNOWN] = "unknown",
        [REACHED_RAM] = "ram",
        [REACHED_FILESYSTEM] = "filesystem",
        [REACHED_VIRTUAL_DISK] = "virtual-disk",
        [REACHED_CONTROLLER] = "controller",
        [REACHED_DEVICE] = "device",
};

static const char *const basis_names[BASIS_COUNT_] = {
        [BASIS_NONE] = "none",
        [BASIS_FLUSHES_COUNTED] = "flushes-counted",
        [BASIS_NO_VOLATILE_CACHE_CLAIMED] = "no-volatile-cache-claimed",
};

static const struct {
        const char *name;
        enum verdict verdict;
        bool can_be_accepted;
} codes[CODE_COUNT_] = {
        [CODE_MEMORY_BACKED] = { "memory-backed", VERDICT_SUSPECT, false },
        [CODE_SYNC_DISABLED] = { "sync-disabled", VERDICT_SUSPECT, false },
        [CODE_NOT_ALLOCATED] = { "not-allocated", VERDICT_SUSPECT, false },
        [CODE_COMPRESSED] = { "compressed", VERDICT_SUSPECT, false },
        [CODE_DEVICE_BYTES_MISSING] = { "device-bytes-missing", VERDICT_SUSPECT, false },
        [CODE_NO_FLUSH] = { "no-flush", VERDICT_SUSPECT, true },
        [CODE_FASTER_THAN_MEDIUM] = { "faster-than-medium", VERDICT_UNVERIFIED, true },
        [CODE_HOST_CACHE_UNSEEN] = { "host-cache-unseen", VERDICT_UNVERIFIED, true },
        [CODE_CONTROLLER_CACHE_UNSEEN] = { "controller-cache-unseen", VERDICT_UNVERIFIED, true },
        [CODE_DEVICE_UNSEEN] = { "device-unseen", VERDICT_UNVERIFIED, true },
        [CODE_CPU_STARVED] = { "cpu-starved", VERDICT_UNVERIFIED, false },
        [CODE_DEVICE_BUSY] = { "device-busy", VERDICT_CREDIBLE, false },
        [CODE_BURST_RATE] = { "burst-rate", VERDICT_CREDIBLE, false },
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

int code_parse(const char *text, enum code *ret) {
        for (size_t i = 0; i < CODE_COUNT_; i++)
                if (strcmp(text, codes[i].name) == 0) {
                        *ret = (enum code) i;
                        return 0;
                }
        return -EINVAL;
}

enum verdict code_verdict(enum code code) {
        return (size_t) code < CODE_COUNT_ ? codes[code].verdict : VERDICT_UNVERIFIED;
}

bool code_can_be_accepted(enum code code) {
        return (size_t) code < CODE_COUNT_ && codes[code].can_be_accepted;
}
