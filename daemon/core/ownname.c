/*
 * The names of our own files below a target; see core/ownname.h.
 */
#include "core/ownname.h"

#include <stdio.h>
#include <string.h>

#include "core/hash.h"

#define KEPT_WORD "kept"
#define MACHINE_DIGITS 8
#define TOKEN_DIGITS 16
#define KEPT_DIGITS 12

void ownname_format(char out[OWNNAME_BYTES], const struct ownname *n) {
        unsigned long long token = n->token;

        if (n->kept)
                snprintf(out, OWNNAME_BYTES, OWNNAME_PREFIX "%08x-%u-" KEPT_WORD "%012llx", n->machine, n->uid,
                         token & ((UINT64_C(1) << KEPT_DIGITS * 4) - 1));
        else
                snprintf(out, OWNNAME_BYTES, OWNNAME_PREFIX "%08x-%u-%016llx", n->machine, n->uid, token);
}

/* Exactly @digits lower-case hex digits; NULL where there are not. */
static const char *read_hex(const char *at, unsigned digits, uint64_t *ret) {
        uint64_t value = 0;

        for (; digits > 0; digits--, at++) {
                if (*at >= '0' && *at <= '9')
                        value = value << 4 | (uint64_t) (*at - '0');
                else if (*at >= 'a' && *at <= 'f')
                        value = value << 4 | (uint64_t) (*at - 'a' + 10);
                else
                        return NULL;
        }
        *ret = value;
        return at;
}

/* A user's number as %u writes it: no sign, no leading zero. */
static const char *read_uid(const char *at, uint32_t *ret) {
        uint64_t value = 0;

        if (*at < '0' || *at > '9' || (at[0] == '0' && at[1] >= '0' && at[1] <= '9'))
                return NULL;
        for (; *at >= '0' && *at <= '9'; at++) {
                value = value * 10 + (uint64_t) (*at - '0');
                if (value > UINT32_MAX)
                        return NULL;
        }
        *ret = (uint32_t) value;
        return at;
}

bool ownname_parse(const char *name, struct ownname *ret) {
        struct ownname n = { 0 };
        uint64_t machine = 0;
        const char *at = name;

        if (strncmp(at, OWNNAME_PREFIX, strlen(OWNNAME_PREFIX)) != 0)
                return false;
        at = read_hex(at + strlen(OWNNAME_PREFIX), MACHINE_DIGITS, &machine);
        if (!at || *at++ != '-')
                return false;
        at = read_uid(at, &n.uid);
        if (!at || *at++ != '-')
                return false;
        n.machine = (uint32_t) machine;
        n.kept = strncmp(at, KEPT_WORD, strlen(KEPT_WORD)) == 0;
        if (n.kept)
                at += strlen(KEPT_WORD);
        at = read_hex(at, n.kept ? KEPT_DIGITS : TOKEN_DIGITS, &n.token);
        if (!at || *at != '\0')
                return false;
        *ret = n;
        return true;
}

uint64_t ownname_hash(const char *target, const char *test) {
        const char *const words[] = { target, test };

        return hash_words(words, 2) >> (64 - KEPT_DIGITS * 4);
}
