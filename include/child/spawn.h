/*
 * spawn - one child program, so that neither its start nor its end can hold us up.
 *
 * Plain fork (posix_spawn and vfork sleep in the parent until the child has
 * read its program from a disk that may hang). Whether exec worked is told over a
 * close-on-exec pipe that the caller watches in its own loop. The child gets only
 * the descriptors named here, default signal dispositions, an empty signal mask,
 * its own session, PATH and the locale as its environment, and SIGTERM when its parent dies.
 */
#ifndef SYNCPROBE_CHILD_SPAWN_H
#define SYNCPROBE_CHILD_SPAWN_H

#include <sys/types.h>

struct spawn {
        pid_t pid;
        int pidfd;   /* owned; readable once the child has ended */
        int exec_fd; /* owned; non-blocking; EOF once exec worked, else an errno (int) comes. -1 after spawn_exec_error() settled it */
};

/*
 * @argv: NULL-terminated, argv[0] the program's path. @descriptors[i] becomes
 * descriptor 3 + i in the child; they stay open here. Standard input,
 * output and error are /dev/null: a child that hangs for ever would otherwise hold
 * the pipe that somebody reads our own output from. Does not wait for exec.
 * Returns 0 or -errno; *ret untouched on error.
 */
int spawn_child(struct spawn *ret, char *const argv[], const int *descriptors, unsigned n_descriptors);

/* 1: exec worked; 0: not known yet; -errno: it failed, and the child is gone or going. Does not block. */
int spawn_exec_error(struct spawn *s);

/* waitpid with WNOHANG. 1: reaped, *ret_status as waitpid's; 0: still there; -errno. */
int spawn_reap(struct spawn *s, int *ret_status);

/* Through the pidfd, so never another process. Returns 0 or -errno. */
int spawn_kill(const struct spawn *s, int signal);

/* Closes the descriptors; does not touch the process. */
void spawn_done(struct spawn *s);

#endif
