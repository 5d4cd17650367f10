/*
 * workerlink - the parent's end of one syncprobe-worker.
 *
 * Owns the process, the socket and the shared page; knows nothing of targets or
 * schedules. The owner watches the descriptors below in its own loop (or poll)
 * and calls the functions; none of them blocks.
 */
#ifndef SYNCPROBE_CHILD_WORKERLINK_H
#define SYNCPROBE_CHILD_WORKERLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "child/spawn.h"
#include "core/proto.h"

struct workerlink;

/* Starts @program (syncprobe-worker) with @title as its only argument, which ps
 * shows. Returns 0 or -errno. */
int workerlink_new(struct workerlink **ret, const char *program, const char *title);

/* Shuts the socket, so that the worker ends by itself once it is idle; the process
 * is still watched. */
void workerlink_end(struct workerlink *l);

/* Closes everything; the worker then ends by itself (EOF). Does not wait for it. NULL-safe. */
struct workerlink *workerlink_free(struct workerlink *l);

struct spawn *workerlink_process(struct workerlink *l);
int workerlink_socket(const struct workerlink *l); /* watch for reading */

/* Sends one message (proto_init()ed and filled in). 0, or -errno (-EAGAIN: the
 * worker does not read; -EPIPE: it has gone). */
int workerlink_send(struct workerlink *l, const union proto_message *m);

/* 1: *ret is a checked message; 0: nothing there; -ECONNRESET: it has gone;
 * -EBADMSG, -EPROTONOSUPPORT: not to be trusted, kill it. */
int workerlink_receive(struct workerlink *l, union proto_message *ret);

/* Asks the run in progress to end at its next sample. */
void workerlink_cancel(struct workerlink *l);

/* What the worker is doing now, read once and range-checked. */
struct workerlink_progress {
        enum phase phase;      /* PHASE_NONE: no system call on the target in progress */
        uint64_t since_ns;     /* CLOCK_MONOTONIC; never later than @now_ns */
        uint64_t samples;
        uint64_t written_bytes;
        uint64_t total;        /* samples, or bytes for stream; 0: ends by time */
};
void workerlink_progress(const struct workerlink *l, uint64_t now_ns, struct workerlink_progress *ret);

/* Copies of the run's histograms so far. Returns 0, or -EBADMSG where a finished
 * run's do not hang together (@finished: its report has come). */
int workerlink_histograms(const struct workerlink *l, bool finished, struct histogram *ret_sync,
                          struct histogram *ret_write);

#endif
