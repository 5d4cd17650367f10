/*
 * What one test does; see core/spec.h. Here: the table of keys, reading one
 * value, and the texts for people. Defaults and what must agree with what:
 * spec_finish.c.
 */
#include "core/spec.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"

#define FOR_STREAM (1u << KIND_STREAM)
#define FOR_COMMIT (1u << KIND_COMMIT)
#define FOR_CREATE (1u << KIND_CREATE)
#define FOR_PULSE (1u << KIND_PULSE)
#define FOR_ALL (FOR_STREAM | FOR_COMMIT | FOR_CREATE | FOR_PULSE)

enum value { VALUE_SIZE, VALUE_DURATION, VALUE_COUNT, VALUE_FLAG, VALUE_WORD };

static const struct key {
        const char *name;
        unsigned kinds;
        enum value value;
        uint64_t max; /* of what is counted */
        const char *help;
} keys[SPEC_KEY_COUNT_] = {
        [SPEC_SIZE] = { "size", FOR_STREAM | FOR_COMMIT | FOR_PULSE, VALUE_SIZE, SPEC_SIZE_MAX_BYTES,
                        "bytes to write (stream), or of the file written to" },
        [SPEC_BLOCK] = { "block", FOR_STREAM | FOR_COMMIT | FOR_PULSE, VALUE_SIZE, SPEC_BLOCK_MAX_BYTES,
                         "bytes of each write" },
        [SPEC_COUNT] = { "count", FOR_COMMIT | FOR_CREATE | FOR_PULSE, VALUE_COUNT, SPEC_COUNT_MAX,
                         "how many samples to take" },
        [SPEC_DURATION] = { "duration", FOR_ALL, VALUE_DURATION, SPEC_DURATION_MAX_NS,
                            "how long to take samples, whatever comes first" },
        [SPEC_LAYOUT] = { "layout", FOR_COMMIT, VALUE_WORD, 0, "overwrite, prealloc or append" },
        [SPEC_SYNC] = { "sync", FOR_COMMIT, VALUE_WORD, 0, "fdatasync, fsync or dsync" },
        [SPEC_DIRECT] = { "direct", FOR_COMMIT, VALUE_FLAG, 0, "write with O_DIRECT" },
        [SPEC_DATA] = { "data", FOR_ALL, VALUE_WORD, 0, "random, zero or compressible:PERCENT" },
        [SPEC_WRITEBACK] = { "writeback", FOR_STREAM, VALUE_WORD, 0,
                             "eager (start write-back early) or lazy (as dd does)" },
        [SPEC_REUSE] = { "reuse", FOR_STREAM, VALUE_FLAG, 0, "write one kept file in place" },
        [SPEC_MAX_RATE] = { "max_rate", FOR_STREAM, VALUE_SIZE, SPEC_SIZE_MAX_BYTES,
                            "bytes a second that are not exceeded" },
        [SPEC_MAX_DURATION] = { "max_duration", FOR_ALL, VALUE_DURATION, SPEC_DURATION_MAX_NS,
                                "cut the run there, and say so" },
        [SPEC_PERIOD] = { "period", FOR_PULSE, VALUE_DURATION, SPEC_DURATION_MAX_NS,
                          "time from one sample to the next" },
        [SPEC_DURABLE] = { "durable", FOR_CREATE, VALUE_FLAG, 0, "sync after the write, not before it" },
};

static const char *const kind_names[KIND_COUNT_] = {
        [KIND_STREAM] = "stream", [KIND_COMMIT] = "commit", [KIND_CREATE] = "create", [KIND_PULSE] = "pulse",
};
static const char *const layout_names[LAYOUT_COUNT_] = {
        [LAYOUT_OVERWRITE] = "overwrite", [LAYOUT_PREALLOC] = "prealloc", [LAYOUT_APPEND] = "append",
};
static const char *const sync_names[SYNC_COUNT_] = {
        [SYNC_FDATASYNC] = "fdatasync", [SYNC_FSYNC] = "fsync", [SYNC_DSYNC] = "dsync",
};
static const char *const data_names[DATA_COUNT_] = {
        [DATA_RANDOM] = "random", [DATA_ZERO] = "zero", [DATA_COMPRESSIBLE] = "compressible",
};
static const char *const writeback_names[WRITEBACK_COUNT_] = {
        [WRITEBACK_EAGER] = "eager", [WRITEBACK_LAZY] = "lazy",
};

static const char *name_of(const char *const *names, unsigned count, unsigned value) {
        return value < count ? names[value] : "unknown";
}

const char *kind_name(enum kind kind) {
        return name_of(kind_names, KIND_COUNT_, kind);
}

const char *layout_name(enum layout layout) {
        return name_of(layout_names, LAYOUT_COUNT_, layout);
}

const char *sync_mode_name(enum sync_mode sync) {
        return name_of(sync_names, SYNC_COUNT_, sync);
}

const char *data_name(enum data data) {
        return name_of(data_names, DATA_COUNT_, data);
}

const char *writeback_name(enum writeback writeback) {
        return name_of(writeback_names, WRITEBACK_COUNT_, writeback);
}

static int find_word(const char *const *names, unsigned count, const char *text) {
        for (unsigned i = 0; i < count; i++)
                if (strcmp(names[i], text) == 0)
                        return (int) i;
        return -EINVAL;
}

int kind_parse(const char *text, enum kind *ret) {
        int found = find_word(kind_names, KIND_COUNT_, text);

        if (found < 0)
                return found;
        *ret = (enum kind) found;
        return 0;
}

void spec_init(struct spec *s, enum kind kind) {
        *s = (struct spec) { .kind = kind };
}

/* --- keys --------------------------------------------------------------- */

static bool same_name(const char *a, const char *b) {
        for (; *a != '\0' && *b != '\0'; a++, b++)
                if (*a != *b && !(*a == '-' && *b == '_'))
                        return false;
        return *a == *b;
}

int spec_key_parse(const char *name, enum spec_key *ret) {
        for (unsigned i = 0; i < SPEC_KEY_COUNT_; i++)
                if (same_name(name, keys[i].name)) {
                        *ret = (enum spec_key) i;
                        return 0;
                }
        return -ENOENT;
}

const char *spec_key_name(enum spec_key key) {
        return (unsigned) key < SPEC_KEY_COUNT_ ? keys[key].name : "unknown";
}

bool spec_key_is_for(enum spec_key key, enum kind kind) {
        return (unsigned) key < SPEC_KEY_COUNT_ && (keys[key].kinds & 1u << kind) != 0;
}

bool spec_key_is_flag(enum spec_key key) {
        return (unsigned) key < SPEC_KEY_COUNT_ && keys[key].value == VALUE_FLAG;
}

const char *spec_key_help(enum spec_key key) {
        return (unsigned) key < SPEC_KEY_COUNT_ ? keys[key].help : "";
}

__attribute__((format(printf, 3, 4))) static int refuse(char *error, int r, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(error, SPEC_ERROR_BYTES, format, arguments);
        va_end(arguments);
        return r;
}

/* "period is for pulse, not for commit" */
static int refuse_kind(const struct key *k, enum kind kind, char *error) {
        char kinds[64] = "";

        for (unsigned i = 0; i < KIND_COUNT_; i++) {
                size_t length = strlen(kinds);

                if ((k->kinds & 1u << i) != 0)
                        snprintf(kinds + length, sizeof kinds - length, "%s%s", length > 0 ? " and " : "",
                                 kind_names[i]);
        }
        return refuse(error, -EINVAL, "%s is for %s, not for %s", k->name, kinds, kind_name(kind));
}

/* --- values ------------------------------------------------------------- */

static const struct {
        int (*parse)(const char *text, uint64_t *ret);
        const char *what, *example;
} quantities[] = {
        [VALUE_SIZE] = { units_parse_size, "a size", "64KiB, 1.5G or 4096" },
        [VALUE_DURATION] = { units_parse_duration, "a duration", "500ms, 10s or 5m" },
        [VALUE_COUNT] = { units_parse_count, "a whole number", "200" },
};

static void add_maximum(struct strbuf *b, const struct key *k) {
        if (k->value == VALUE_SIZE)
                units_add_size_exact(b, k->max);
        else if (k->value == VALUE_DURATION)
                units_add_duration_exact(b, k->max);
        else
                strbuf_printf(b, "%llu", (unsigned long long) k->max);
}

static int refuse_too_large(const struct key *k, const char *value, char *error) {
        struct strbuf maximum;
        const char *text = "";

        strbuf_init(&maximum);
        add_maximum(&maximum, k);
        if (strbuf_finish(&maximum, &text) < 0)
                text = "its limit";
        refuse(error, -ERANGE, "%s is too large for %s: at most %s", value, k->name, text);
        strbuf_done(&maximum);
        return -ERANGE;
}

static int read_quantity(const struct key *k, const char *value, uint64_t *ret, char *error) {
        uint64_t number = 0;
        int r = quantities[k->value].parse(value, &number);

        if (r == -ERANGE && value[0] == '-')
                return refuse(error, r, "%s must be above zero, not %s", k->name, value);
        if (r == -ERANGE)
                return refuse_too_large(k, value, error);
        if (r < 0)
                return refuse(error, r, "\"%s\" is not %s for %s: write it as %s", value,
                              quantities[k->value].what, k->name, quantities[k->value].example);
        if (number == 0)
                return refuse(error, -EINVAL, "%s must be above zero, not %s", k->name, value);
        if (number > k->max)
                return refuse_too_large(k, value, error);
        *ret = number;
        return 0;
}

static int read_flag(const struct key *k, const char *value, bool *ret, char *error) {
        if (units_parse_bool(value, ret) < 0)
                return refuse(error, -EINVAL, "\"%s\" is neither true nor false for %s", value, k->name);
        return 0;
}

static int read_word(const struct key *k, const char *const *names, unsigned count, const char *value, int *ret,
                     char *error) {
        *ret = find_word(names, count, value);
        if (*ret < 0)
                return refuse(error, -EINVAL, "%s has no \"%s\": it is %s", k->name, value, k->help);
        return 0;
}

static int set_data(struct spec *s, const char *value, char *error) {
        static const char prefix[] = "compressible:";
        uint64_t percent = 0;
        int word = 0;

        if (strncmp(value, prefix, strlen(prefix)) == 0) {
                if (units_parse_count(value + strlen(prefix), &percent) < 0 || percent < 1 || percent > 99)
                        return refuse(error, -EINVAL, "\"%s\" is not a percentage for data: compressible:1 to "
                                      "compressible:99", value);
                s->data = DATA_COMPRESSIBLE;
                s->compressible_percent = (uint32_t) percent;
                return 0;
        }
        /* "compressible" alone says nothing yet. */
        int r = read_word(&keys[SPEC_DATA], data_names, DATA_COMPRESSIBLE, value, &word, error);

        if (r < 0)
                return r;
        s->data = (enum data) word;
        s->compressible_percent = 0;
        return 0;
}

static int set_word(struct spec *s, enum spec_key key, const char *value, char *error) {
        int word = 0, r = 0;

        if (key == SPEC_DATA)
                return set_data(s, value, error);
        if (key == SPEC_LAYOUT)
                r = read_word(&keys[key], layout_names, LAYOUT_COUNT_, value, &word, error);
        else if (key == SPEC_SYNC)
                r = read_word(&keys[key], sync_names, SYNC_COUNT_, value, &word, error);
        else
                r = read_word(&keys[key], writeback_names, WRITEBACK_COUNT_, value, &word, error);
        if (r < 0)
                return r;
        if (key == SPEC_LAYOUT)
                s->layout = (enum layout) word;
        else if (key == SPEC_SYNC)
                s->sync = (enum sync_mode) word;
        else
                s->writeback = (enum writeback) word;
        return 0;
}

static int set_value(struct spec *s, enum spec_key key, const char *value, char *error) {
        const struct key *k = &keys[key];

        switch (key) {
        case SPEC_SIZE:
                return read_quantity(k, value, &s->size_bytes, error);
        case SPEC_BLOCK:
                return read_quantity(k, value, &s->block_bytes, error);
        case SPEC_COUNT:
                return read_quantity(k, value, &s->count, error);
        case SPEC_DURATION:
                return read_quantity(k, value, &s->duration_ns, error);
        case SPEC_MAX_RATE:
                return read_quantity(k, value, &s->max_rate_bytes, error);
        case SPEC_MAX_DURATION:
                return read_quantity(k, value, &s->max_duration_ns, error);
        case SPEC_PERIOD:
                return read_quantity(k, value, &s->period_ns, error);
        case SPEC_DIRECT:
                return read_flag(k, value, &s->direct, error);
        case SPEC_REUSE:
                return read_flag(k, value, &s->reuse, error);
        case SPEC_DURABLE:
                return read_flag(k, value, &s->durable, error);
        case SPEC_LAYOUT:
        case SPEC_SYNC:
        case SPEC_DATA:
        case SPEC_WRITEBACK:
                return set_word(s, key, value, error);
        case SPEC_KEY_COUNT_:
                break;
        }
        return refuse(error, -EINVAL, "no such key");
}

int spec_set(struct spec *s, enum spec_key key, const char *value, char *error) {
        if ((unsigned) key >= SPEC_KEY_COUNT_)
                return refuse(error, -EINVAL, "no such key");
        if (!spec_key_is_for(key, s->kind))
                return refuse_kind(&keys[key], s->kind, error);

        int r = set_value(s, key, value, error);

        if (r == 0)
                s->given |= UINT32_C(1) << key;
        return r;
}

/* --- texts -------------------------------------------------------------- */

const char *spec_default_name(const struct spec *s) {
        return s->kind == KIND_CREATE && s->durable ? "create-durable" : kind_name(s->kind);
}

void spec_add_data(struct strbuf *b, const struct spec *s) {
        strbuf_add(b, data_name(s->data));
        if (s->data == DATA_COMPRESSIBLE)
                strbuf_printf(b, ":%u", s->compressible_percent);
}

/* ", 200 times or 2 s" */
static void add_end(struct strbuf *b, const struct spec *s) {
        if (s->count > 0)
                strbuf_printf(b, ", %llu times", (unsigned long long) s->count);
        if (s->duration_ns > 0) {
                strbuf_add(b, s->count > 0 ? " or " : ", ");
                units_add_duration(b, s->duration_ns);
        }
}

static void add_stream(struct strbuf *b, const struct spec *s) {
        if (s->size_bytes > 0)
                units_add_size(b, s->size_bytes);
        if (s->size_bytes > 0 && s->duration_ns > 0)
                strbuf_add(b, " or ");
        if (s->duration_ns > 0)
                units_add_duration(b, s->duration_ns);
        strbuf_add(b, " in blocks of ");
        units_add_size(b, s->block_bytes);
        strbuf_printf(b, " + one fdatasync, %s write-back", writeback_name(s->writeback));
        if (s->reuse)
                strbuf_add(b, ", in place");
        if (s->max_rate_bytes > 0) {
                strbuf_add(b, ", at most ");
                units_add_rate(b, (double) s->max_rate_bytes);
        }
}

static void add_commit(struct strbuf *b, const struct spec *s) {
        units_add_size(b, s->block_bytes);
        strbuf_printf(b, " %s", layout_name(s->layout));
        if (s->layout != LAYOUT_APPEND) { /* a small one may lie in some cache */
                strbuf_add(b, " in ");
                units_add_size(b, s->size_bytes);
        }
        strbuf_printf(b, " + %s", s->sync == SYNC_DSYNC ? "O_DSYNC" : sync_mode_name(s->sync));
        if (s->direct)
                strbuf_add(b, ", O_DIRECT");
        add_end(b, s);
}

void spec_add_description(struct strbuf *b, const struct spec *s) {
        switch (s->kind) {
        case KIND_STREAM:
                add_stream(b, s);
                break;
        case KIND_COMMIT:
                add_commit(b, s);
                break;
        case KIND_CREATE:
                strbuf_printf(b, "%d bytes into %d files in turn, fsync %s", SPEC_CREATE_BLOCK_BYTES,
                              SPEC_CREATE_FILES, s->durable ? "after the write" : "before the write, as pveperf");
                add_end(b, s);
                break;
        case KIND_PULSE:
                units_add_size(b, s->block_bytes);
                strbuf_add(b, " overwrite + fdatasync every ");
                units_add_duration(b, s->period_ns);
                add_end(b, s);
                break;
        case KIND_COUNT_:
                break;
        }
        strbuf_add(b, ", ");
        spec_add_data(b, s);
        strbuf_add(b, " data");
}
