/*
 * spec - what one test does: its kind and parameters.
 *
 * One table (spec.c) knows every key, which kinds have it and how its value
 * reads; spec_finish.c knows what is meant by default. The command line's options and the
 * configuration's keys both go through spec_set(), so that they cannot come
 * apart. A plain struct without pointers: it travels in messages.
 *
 * Pure; nothing blocks or allocates, except the spec_add_* writers (strbuf).
 */
#ifndef SYNCPROBE_CORE_SPEC_H
#define SYNCPROBE_CORE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/strbuf.h"

enum kind { KIND_STREAM, KIND_COMMIT, KIND_CREATE, KIND_PULSE, KIND_COUNT_ };
enum layout { LAYOUT_OVERWRITE, LAYOUT_PREALLOC, LAYOUT_APPEND, LAYOUT_COUNT_ };
enum sync_mode { SYNC_FDATASYNC, SYNC_FSYNC, SYNC_DSYNC, SYNC_COUNT_ };
enum data { DATA_RANDOM, DATA_ZERO, DATA_COMPRESSIBLE, DATA_COUNT_ };
enum writeback { WRITEBACK_EAGER, WRITEBACK_LAZY, WRITEBACK_COUNT_ };

const char *kind_name(enum kind kind);
const char *layout_name(enum layout layout);
const char *sync_mode_name(enum sync_mode sync);
const char *data_name(enum data data); /* "compressible" without its percent */
const char *writeback_name(enum writeback writeback);

#define SPEC_BLOCK_MAX_BYTES (UINT64_C(64) << 20)
#define SPEC_SIZE_MAX_BYTES (UINT64_C(1) << 53) /* what JSON's readers count exactly */
#define SPEC_COUNT_MAX UINT64_C(1000000000)
#define SPEC_DURATION_MAX_NS (UINT64_C(366) * 86400 * 1000000000) /* a year */
#define SPEC_CREATE_BLOCK_BYTES 4001 /* what pveperf writes into each file */
#define SPEC_CREATE_FILES 300        /* how many files it goes round in */

/* The keys, in the order of the table in spec.c; also the bits of spec.given. */
enum spec_key {
        SPEC_SIZE, SPEC_BLOCK, SPEC_COUNT, SPEC_DURATION, SPEC_LAYOUT, SPEC_SYNC, SPEC_DIRECT,
        SPEC_DATA, SPEC_WRITEBACK, SPEC_REUSE, SPEC_MAX_RATE, SPEC_MAX_DURATION, SPEC_PERIOD,
        SPEC_DURABLE, SPEC_KEY_COUNT_
};

struct spec {
        enum kind kind;
        enum layout layout;
        enum sync_mode sync;
        enum data data;
        enum writeback writeback;
        uint32_t compressible_percent;  /* 1 to 99, with DATA_COMPRESSIBLE */
        uint32_t given;                 /* bit 1 << enum spec_key: set by the user */
        bool direct, reuse, durable;
        uint64_t size_bytes;            /* stream: to write; commit, pulse: of the file */
        uint64_t block_bytes;           /* a write */
        uint64_t count;                 /* samples (create: files written); 0: until duration */
        uint64_t duration_ns;           /* 0: until count or size */
        uint64_t max_rate_bytes;        /* a second; 0: no limit */
        uint64_t max_duration_ns;       /* the run is cut there, and says so; 0: never */
        uint64_t period_ns;             /* pulse */
};

#define SPEC_ERROR_BYTES 256 /* room for a message of spec_set() and spec_finish() */

/* A spec of @kind with nothing given. spec_finish() supplies the defaults. */
void spec_init(struct spec *s, enum kind kind);

/* -EINVAL: no such kind. */
int kind_parse(const char *text, enum kind *ret);

/* The key named by @name ('-' and '_' alike), or -ENOENT. */
int spec_key_parse(const char *name, enum spec_key *ret);
const char *spec_key_name(enum spec_key key);           /* "max_rate" */
bool spec_key_is_for(enum spec_key key, enum kind kind);
bool spec_key_is_flag(enum spec_key key);               /* a boolean */
const char *spec_key_help(enum spec_key key);           /* one line for usage texts */

/*
 * Sets @key from text. Returns 0, or -EINVAL/-ERANGE with a sentence in
 * @error[SPEC_ERROR_BYTES] that names what was given and what would be right
 * (the caller adds the place: an option's name or FILE:LINE).
 */
int spec_set(struct spec *s, enum spec_key key, const char *value, char *error);

/* Supplies defaults and checks keys against each other. As spec_set(). */
int spec_finish(struct spec *s, char *error);

/* Whether a spec that came over a wire keeps to the ranges that spec_finish() grants. */
bool spec_is_valid(const struct spec *s);

/* The name a test has when none is given: its kind, or create-durable. */
const char *spec_default_name(const struct spec *s);

/* How many bytes of the file system a run can occupy at most (0: not known
 * beforehand, as with a duration alone). */
uint64_t spec_file_bytes(const struct spec *s);

/* "compressible:50", "random", … */
void spec_add_data(struct strbuf *b, const struct spec *s);
/* One line for people: "4 KiB overwrite + fdatasync, 200 times, random data". */
void spec_add_description(struct strbuf *b, const struct spec *s);

#endif
