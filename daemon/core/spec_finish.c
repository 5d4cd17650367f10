/*
 * What a test's keys mean together: the defaults of those that were not given,
 * and what must agree; see core/spec.h.
 */
#include "core/spec.h"

#include <errno.h>
#include <stdio.h>

#include "core/units.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1024) * KIB)
#define SECOND UNITS_NS_PER_SECOND

#define STREAM_SIZE_BYTES (UINT64_C(1024) * MIB)
#define STREAM_DURATION_NS (10 * SECOND)
#define STREAM_BLOCK_BYTES (64 * KIB)
#define COMMIT_BLOCK_BYTES (4 * KIB)
#define COMMIT_OVERWRITE_BYTES MIB
#define COMMIT_PREALLOC_BYTES (64 * MIB)
#define COMMIT_COUNT 200
#define COMMIT_DURATION_NS (2 * SECOND)
#define CREATE_DURATION_NS (3 * SECOND)
#define PULSE_BLOCK_BYTES (4 * KIB)
#define PULSE_PERIOD_NS (10 * SECOND)

/* O_DIRECT writes whole sectors, from 512 bytes on. */
#define SECTOR_BYTES 512

static bool is_given(const struct spec *s, enum spec_key key) {
        return (s->given >> key & 1) != 0;
}

static int refuse_small_file(const struct spec *s, char *error) {
        snprintf(error, SPEC_ERROR_BYTES, "a size of %llu bytes does not hold one block of %llu: raise size or lower block",
                 (unsigned long long) s->size_bytes, (unsigned long long) s->block_bytes);
        return -EINVAL;
}

static int finish_stream(struct spec *s) {
        if (!is_given(s, SPEC_BLOCK))
                s->block_bytes = STREAM_BLOCK_BYTES;
        /* A file that is written in place has a size, whatever else ends the run. */
        if (!is_given(s, SPEC_SIZE) && (!is_given(s, SPEC_DURATION) || s->reuse))
                s->size_bytes = STREAM_SIZE_BYTES;
        if (!is_given(s, SPEC_SIZE) && !is_given(s, SPEC_DURATION))
                s->duration_ns = STREAM_DURATION_NS;
        return 0;
}

static int finish_prealloc(struct spec *s, char *error) {
        uint64_t holds;

        if (!is_given(s, SPEC_SIZE)) {
                s->size_bytes = s->count > 0 ? s->count * s->block_bytes : COMMIT_PREALLOC_BYTES;
                if (s->size_bytes > SPEC_SIZE_MAX_BYTES) {
                        snprintf(error, SPEC_ERROR_BYTES, "%llu blocks of %llu bytes are too much to preallocate: lower count",
                                 (unsigned long long) s->count, (unsigned long long) s->block_bytes);
                        return -EINVAL;
                }
                return 0;
        }
        holds = s->size_bytes / s->block_bytes;
        if (s->count > holds) {
                snprintf(error, SPEC_ERROR_BYTES,
                         "a preallocated size of %llu bytes holds %llu blocks of %llu, not %llu: lower count to %llu, "
                         "or raise size to %llu",
                         (unsigned long long) s->size_bytes, (unsigned long long) holds,
                         (unsigned long long) s->block_bytes, (unsigned long long) s->count,
                         (unsigned long long) holds, (unsigned long long) (s->count * s->block_bytes));
                return -EINVAL;
        }
        return 0;
}

static int finish_commit(struct spec *s, char *error) {
        if (!is_given(s, SPEC_BLOCK))
                s->block_bytes = COMMIT_BLOCK_BYTES;
        if (s->direct && s->block_bytes % SECTOR_BYTES != 0) {
                snprintf(error, SPEC_ERROR_BYTES, "with direct, block must be a multiple of %d bytes, not %llu", SECTOR_BYTES,
                         (unsigned long long) s->block_bytes);
                return -EINVAL;
        }
        if (s->layout == LAYOUT_APPEND && is_given(s, SPEC_SIZE)) {
                snprintf(error, SPEC_ERROR_BYTES, "size is not for layout append: its file grows by one block a sample");
                return -EINVAL;
        }
        if (is_given(s, SPEC_SIZE) && s->size_bytes < s->block_bytes)
                return refuse_small_file(s, error);

        if (!is_given(s, SPEC_COUNT) && !is_given(s, SPEC_DURATION)) {
                if (s->layout == LAYOUT_PREALLOC && is_given(s, SPEC_SIZE)) {
                        s->count = s->size_bytes / s->block_bytes;
                        if (s->count > SPEC_COUNT_MAX)
                                s->count = SPEC_COUNT_MAX;
                } else {
                        s->count = COMMIT_COUNT;
                        s->duration_ns = COMMIT_DURATION_NS;
                }
        }
        if (s->layout == LAYOUT_PREALLOC)
                return finish_prealloc(s, error);
        if (s->layout == LAYOUT_OVERWRITE && !is_given(s, SPEC_SIZE))
                s->size_bytes = s->block_bytes > COMMIT_OVERWRITE_BYTES ? s->block_bytes : COMMIT_OVERWRITE_BYTES;
        return 0;
}

static int finish_create(struct spec *s) {
        s->block_bytes = SPEC_CREATE_BLOCK_BYTES;
        if (!is_given(s, SPEC_DURATION))
                s->duration_ns = CREATE_DURATION_NS;
        return 0;
}

static int finish_pulse(struct spec *s, char *error) {
        if (!is_given(s, SPEC_BLOCK))
                s->block_bytes = PULSE_BLOCK_BYTES;
        if (!is_given(s, SPEC_SIZE))
                s->size_bytes = s->block_bytes;
        if (!is_given(s, SPEC_PERIOD))
                s->period_ns = PULSE_PERIOD_NS;
        if (s->size_bytes < s->block_bytes)
                return refuse_small_file(s, error);
        return 0;
}

int spec_finish(struct spec *s, char *error) {
        switch (s->kind) {
        case KIND_STREAM:
                return finish_stream(s);
        case KIND_COMMIT:
                return finish_commit(s, error);
        case KIND_CREATE:
                return finish_create(s);
        case KIND_PULSE:
                return finish_pulse(s, error);
        case KIND_COUNT_:
                break;
        }
        snprintf(error, SPEC_ERROR_BYTES, "no such kind");
        return -EINVAL;
}

static bool in_ranges(const struct spec *s) {
        return (unsigned) s->kind < KIND_COUNT_ && (unsigned) s->layout < LAYOUT_COUNT_ &&
               (unsigned) s->sync < SYNC_COUNT_ && (unsigned) s->data < DATA_COUNT_ &&
               (unsigned) s->writeback < WRITEBACK_COUNT_ && s->size_bytes <= SPEC_SIZE_MAX_BYTES &&
               s->block_bytes >= 1 && s->block_bytes <= SPEC_BLOCK_MAX_BYTES && s->count <= SPEC_COUNT_MAX &&
               s->duration_ns <= SPEC_DURATION_MAX_NS && s->max_rate_bytes <= SPEC_SIZE_MAX_BYTES &&
               s->max_duration_ns <= SPEC_DURATION_MAX_NS && s->period_ns <= SPEC_DURATION_MAX_NS;
}

/* A key that the kind does not have is at rest. */
static bool keeps_to_kind(const struct spec *s) {
        const struct {
                enum spec_key key;
                bool set;
        } settings[] = {
                { SPEC_SIZE, s->size_bytes != 0 },
                { SPEC_COUNT, s->count != 0 },
                { SPEC_LAYOUT, s->layout != LAYOUT_OVERWRITE },
                { SPEC_SYNC, s->sync != SYNC_FDATASYNC },
                { SPEC_DIRECT, s->direct },
                { SPEC_WRITEBACK, s->writeback != WRITEBACK_EAGER },
                { SPEC_REUSE, s->reuse },
                { SPEC_MAX_RATE, s->max_rate_bytes != 0 },
                { SPEC_PERIOD, s->period_ns != 0 },
                { SPEC_DURABLE, s->durable },
        };

        for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
                if (settings[i].set && !spec_key_is_for(settings[i].key, s->kind))
                        return false;
        return true;
}

static bool commit_is_valid(const struct spec *s) {
        if (s->count == 0 && s->duration_ns == 0)
                return false;
        if (s->direct && s->block_bytes % SECTOR_BYTES != 0)
                return false;
        switch (s->layout) {
        case LAYOUT_OVERWRITE:
                return s->size_bytes >= s->block_bytes;
        case LAYOUT_PREALLOC:
                return s->size_bytes >= s->block_bytes && s->count <= s->size_bytes / s->block_bytes;
        case LAYOUT_APPEND:
                return s->size_bytes == 0;
        case LAYOUT_COUNT_:
                break;
        }
        return false;
}

bool spec_is_valid(const struct spec *s) {
        if (!in_ranges(s) || !keeps_to_kind(s))
                return false;
        if (s->data == DATA_COMPRESSIBLE ? s->compressible_percent < 1 || s->compressible_percent > 99
                                         : s->compressible_percent != 0)
                return false;
        switch (s->kind) {
        case KIND_STREAM:
                return (s->size_bytes > 0 || s->duration_ns > 0) && (!s->reuse || s->size_bytes > 0);
        case KIND_COMMIT:
                return commit_is_valid(s);
        case KIND_CREATE:
                return s->block_bytes == SPEC_CREATE_BLOCK_BYTES && s->duration_ns > 0;
        case KIND_PULSE:
                return s->size_bytes >= s->block_bytes && s->period_ns > 0;
        case KIND_COUNT_:
                break;
        }
        return false;
}

uint64_t spec_file_bytes(const struct spec *s) {
        const uint64_t create_bytes = 4096; /* SPEC_CREATE_BLOCK_BYTES on the disk */

        switch (s->kind) {
        case KIND_CREATE:
                return create_bytes * (s->count > 0 && s->count < SPEC_CREATE_FILES ? s->count : SPEC_CREATE_FILES);
        case KIND_COMMIT:
                if (s->layout == LAYOUT_APPEND)
                        return s->count * s->block_bytes;
                return s->size_bytes;
        case KIND_STREAM:
        case KIND_PULSE:
        case KIND_COUNT_:
                break;
        }
        return s->size_bytes;
}
