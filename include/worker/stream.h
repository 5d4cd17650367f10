/*
 * stream - one file from end to end and one fdatasync, as dd conv=fdatasync. The method stands at the head of stream.c.
 */
#ifndef SYNCPROBE_WORKER_STREAM_H
#define SYNCPROBE_WORKER_STREAM_H

#include "worker/run.h"

/* One whole run: makes its files, times, and removes what it made, after an
 * error too. Returns 0 (the report and the page's histograms are filled in) or
 * -errno, with run->phase the phase of the call that failed. Blocks. */
int stream_run(struct run *r);

#endif
