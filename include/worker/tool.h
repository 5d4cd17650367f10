/*
 * tool - what a program of the system prints.
 *
 * For the throw-away child that maps a stack alone: it waits for the program for
 * as long as that takes, and its parent ends both when the time is over.
 */
#ifndef SYNCPROBE_WORKER_TOOL_H
#define SYNCPROBE_WORKER_TOOL_H

#include <stddef.h>

/* Runs @argv (found in PATH and in the system's directories, in the C locale) and returns what it printed, at most
 * @limit bytes, to be free()d. 0; -ENOENT: no such program; -EIO: it failed or printed too much; or -errno. */
int tool_run(const char *const argv[], size_t limit, char **ret);

#endif
