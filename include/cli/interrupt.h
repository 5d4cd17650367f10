/*
 * interrupt - SIGINT, SIGTERM and SIGHUP as a descriptor to poll.
 *
 * They are blocked from interrupt_init() on, so that none is lost between two
 * polls and no system call of ours returns EINTR for them. One that was ignored
 * from the start (nohup) stays so.
 */
#ifndef SYNCPROBE_CLI_INTERRUPT_H
#define SYNCPROBE_CLI_INTERRUPT_H

struct interrupt {
        int fd;         /* owned; poll for reading */
        int signal;     /* the first that came, or 0 */
        unsigned count; /* how many came */
};

/* Returns 0 or -errno. */
int interrupt_init(struct interrupt *i);
void interrupt_done(struct interrupt *i);

/* Takes in what has come; does not block. */
void interrupt_read(struct interrupt *i);

#endif
