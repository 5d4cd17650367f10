/*
 * scheduler - whose turn it is: the tests of all targets, one timer, and groups.
 *
 * A due run waits while another test of its group runs, first come first served.
 * It is skipped as `overlap` when its next turn comes and it still waits, and as
 * `inflight` while its target hangs. A pulse never waits: its sample is left out
 * (`overlap`), or missed, if the target hangs.
 */
#ifndef SYNCPROBE_MAIN_SCHEDULER_H
#define SYNCPROBE_MAIN_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/snapshot.h"
#include "main/config.h"

struct sd_event;
struct scheduler;

/* Takes every target of @config, which must outlive it; nothing runs before
 * scheduler_start(). 0 or -errno. */
int scheduler_new(struct scheduler **ret, struct sd_event *event, const struct config *config,
                  const char *worker_program, const char *machine);
/* Kills what is left. NULL-safe. */
struct scheduler *scheduler_free(struct scheduler *s);

void scheduler_start(struct scheduler *s);

/* Starts nothing more, and asks every worker for a tidy end. @on_stopped is
 * called, perhaps at once, when the last of them has gone. */
void scheduler_stop(struct scheduler *s, void (*on_stopped)(void *userdata), void *userdata);
/* Kills those workers, and gives up on what is in the kernel. */
void scheduler_kill(struct scheduler *s);

/* All targets; the arrays are the scheduler's, valid until the next call. */
void scheduler_snapshot(struct scheduler *s, struct snapshot *ret);

#endif
