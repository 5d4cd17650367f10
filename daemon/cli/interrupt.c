/*
 * Signals as a descriptor; see cli/interrupt.h.
 */
#include "cli/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

int interrupt_init(struct interrupt *i) {
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
        sigset_t set;
        int fd;

        sigemptyset(&set);
        for (size_t n = 0; n < sizeof signals / sizeof signals[0]; n++) {
                struct sigaction action;

                if (sigaction(signals[n], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
                        sigaddset(&set, signals[n]);
        }
        fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        if (fd < 0)
                return -errno;
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0) {
                int r = -errno;

                close(fd);
                return r;
        }
        *i = (struct interrupt) { .fd = fd };
        return 0;
}

void interrupt_done(struct interrupt *i) {
        if (i->fd >= 0)
                close(i->fd);
        i->fd = -1;
}

void interrupt_read(struct interrupt *i) {
        struct signalfd_siginfo info;

        while (read(i->fd, &info, sizeof info) == (ssize_t) sizeof info) {
                if (i->signal == 0)
                        i->signal = (int) info.ssi_signo;
                i->count++;
        }
}
