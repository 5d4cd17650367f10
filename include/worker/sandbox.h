/*
 * sandbox - what a worker can still do, should a file system or we ourselves go wrong.
 *
 * No new privileges and no execve for good; with Landlock (Linux 5.13) only the
 * target directory can be written below, and only /proc and /sys read
 * beside it; with seccomp only the system calls of the tests. What the kernel
 * does not have is left out; what it has and refuses is an error.
 *
 * A Landlock rule holds for the mount that it was made on: below one made over
 * it later, every open answers EACCES, so a changed mount gets a fresh worker.
 */
#ifndef SYNCPROBE_WORKER_SANDBOX_H
#define SYNCPROBE_WORKER_SANDBOX_H

/* Signals, limits and other process-wide settings; before the first message. 0 or -errno. */
int sandbox_prepare(void);

/* Confines the process to @directory for good. 0 or -errno. */
int sandbox_enter(int directory);

#endif
