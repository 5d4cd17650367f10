/*
 * sweep - removes what a run that was killed left behind.
 *
 * Whole name pattern, this machine's and this user's, regular with one link (or
 * create's directory), its lock free: all of it must hold, and nothing else is
 * ever removed. Kept files go when the parent no longer names them; the command line,
 * which does not know a daemon's tests, leaves them alone.
 */
#ifndef SYNCPROBE_WORKER_SWEEP_H
#define SYNCPROBE_WORKER_SWEEP_H

#include "worker/run.h"

/* Returns 0, also where single entries could not be removed; -errno where the
 * directory cannot be read. Blocks as the storage does (phases lookup, unlink). */
int sweep_directory(struct run *r, const struct proto_setup *setup);

#endif
