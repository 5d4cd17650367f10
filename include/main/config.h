/*
 * config - the configuration file, checked whole.
 *
 * Every key stands in one table of config.c. An error names file, line and
 * remedy; nothing wrong is ever replaced by a default. Reading may block on the
 * disk that the file lies on: at start only, before the loop.
 */
#ifndef SYNCPROBE_MAIN_CONFIG_H
#define SYNCPROBE_MAIN_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/spec.h"

#define CONFIG_NAME_MAX 64  /* bytes of a target's or test's name */
#define CONFIG_LABELS_MAX 8
#define CONFIG_TARGETS_MAX 1000
#define CONFIG_TESTS_MAX 32 /* of one target */

struct config_test {
        char *name;
        struct spec spec;
        uint64_t interval_ns;
};

struct config_label {
        char *name, *value;
};

struct config_target {
        char *name, *path;
        char *group; /* NULL: by the device that the worker finds */
        struct config_label labels[CONFIG_LABELS_MAX];
        size_t n_labels;
        uint64_t deadline_ns, kill_after_ns;
        uint64_t min_free_bytes;   /* 0: not given */
        unsigned min_free_percent; /* 0: not given; with both, the smaller counts */
        bool owner_check;
        uint32_t accepted;         /* CODE_BIT()s of core/verdict.h */
        struct config_test *tests;
        size_t n_tests;
};

struct config {
        char **listen;
        size_t n_listen;
        struct config_target *targets;
        size_t n_targets;
};

/*
 * Reads and checks @path. Returns 0, or -errno with "FILE:LINE: what is wrong"
 * in *ret_error, to be free()d (NULL only when memory ran out).
 */
int config_load(const char *path, struct config **ret, char **ret_error);
struct config *config_free(struct config *c);

#endif
