/*
 * create - new small files and an fsync of each, as pveperf. The method stands at the head of create.c.
 */
#ifndef SYNCPROBE_WORKER_CREATE_H
#define SYNCPROBE_WORKER_CREATE_H

#include "worker/run.h"

/* One whole run: makes its files, times, and removes what it made, after an
 * error too. Returns 0 (the report and the page's histograms are filled in) or
 * -errno, with run->phase the phase of the call that failed. Blocks. */
int create_run(struct run *r);

#endif
