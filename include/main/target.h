/*
 * target - one target's worker: started when something is due, watched, given up.
 *
 * Owns the worker process, its event sources and the tests. The main process
 * never waits for it: a call past its deadline makes the run failed (once) and
 * the target overdue; past kill_after the worker is killed, and the target stays
 * stuck, with no second worker, until the kernel gives the process back.
 */
#ifndef SYNCPROBE_MAIN_TARGET_H
#define SYNCPROBE_MAIN_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/snapshot.h"
#include "main/config.h"
#include "main/test.h"

struct mapper;
struct sd_event;
struct target;

/* What all targets share. */
struct target_host {
        struct sd_event *event;
        const char *worker_program;
        const char *machine; /* 32 hex */
        struct mapper *mapper;
        void (*on_free)(void *userdata); /* the target is free again, or its group changed */
        void *userdata;
        /* Fills in the tokens of the kept files at a path, of whichever target; returns how many. */
        uint32_t (*kept_tokens)(void *userdata, const char *path, uint64_t ret[PROTO_KEPT_MAX]);
};

int target_new(struct target **ret, const struct target_host *host, const struct config_target *config);
/* Kills the worker, if there is one, and forgets it. NULL-safe. */
struct target *target_free(struct target *t);

const struct config_target *target_config(const struct target *t);
/* Tests of targets with one group never overlap; "" while the device is not known. */
const char *target_group(const struct target *t);
struct test *target_tests(struct target *t, size_t *ret_n);

/* Whether a run is in progress, also one that is overdue or stuck. */
bool target_is_busy(const struct target *t);
/* Whether its call is past its deadline, or its worker does not end. */
bool target_is_hung(const struct target *t);

/* Starts a run; the target must not be busy. An error is that run's failure, told and counted here. */
void target_start(struct target *t, struct test *test);

/* Lets the worker go when nothing is due before @next_ns. */
void target_rest(struct target *t, uint64_t next_ns, uint64_t now_ns);

/* For the daemon's end: asks for a tidy end, and whether it has come. */
void target_stop(struct target *t);
bool target_has_process(const struct target *t);
void target_kill(struct target *t);

/* Ends a pulse's interval. */
void target_end_window(struct target *t, struct test *test);

/* @tests: room for as many as the target has. */
void target_snapshot(struct target *t, uint64_t now_ns, uint64_t now_realtime_ns, struct snapshot_target *ret,
                     struct snapshot_test *tests);

#endif
