/*
 * statedir - the directory that the daemon's state is kept in, and one daemon's alone.
 */
#ifndef SYNCPROBE_MAIN_STATEDIR_H
#define SYNCPROBE_MAIN_STATEDIR_H

/* Makes it (0700) if it is missing and locks it for as long as *ret_fd is open.
 * May block on its disk: at start only. 0, -EBUSY (another daemon has it), or -errno. */
int statedir_open(const char *path, int *ret_fd);

#endif
