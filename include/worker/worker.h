/*
 * worker - syncprobe-worker's message loop.
 */
#ifndef SYNCPROBE_WORKER_WORKER_H
#define SYNCPROBE_WORKER_WORKER_H

/* Serves the parent on PROTO_SOCKET_FD and PROTO_PAGE_FD until EOF, SIGTERM or a
 * message that is not to be believed. Returns the process's exit status. */
int worker_main(void);

#endif
