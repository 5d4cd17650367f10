/*
 * Starting and ending one child program; see child/spawn.h for the promises.
 *
 * Everything that may allocate or fail happens before the fork. Between fork and
 * exec the child makes only async-signal-safe calls.
 */
#include "child/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_FD 3
#define DESCRIPTORS_MAX 8
/* Where descriptors wait while 3, 4, … are being laid out. */
#define PARKING_FD 64

/* The environment a child gets: these, where the parent has them. */
static const char *const inherited_names[] = { "PATH=", "LANG=", "LANGUAGE=", "LC_ALL=", "LC_MESSAGES=", "LC_CTYPE=",
                                               "LC_NUMERIC=" };
#define INHERITED_MAX (sizeof inherited_names / sizeof inherited_names[0])

static void pick_environment(char *ret[INHERITED_MAX + 1]) {
        size_t n = 0;

        for (char **e = environ; e && *e; e++)
                for (size_t i = 0; i < INHERITED_MAX && n < INHERITED_MAX; i++)
                        if (strncmp(*e, inherited_names[i], strlen(inherited_names[i])) == 0)
                                ret[n++] = *e;
        ret[n] = NULL;
}

static void reset_signals(void) {
        struct sigaction standard = { .sa_handler = SIG_DFL };
        sigset_t none;

        for (int s = 1; s < NSIG; s++)
                if (s != SIGKILL && s != SIGSTOP)
                        (void) sigaction(s, &standard, NULL); /* fails for those that libc keeps */
        sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
}

/* descriptors[i] to FIRST_FD + i, *exec_fd to the next one, everything else closed. */
static int lay_out_descriptors(const int *descriptors, unsigned n, int *exec_fd) {
        int parked[DESCRIPTORS_MAX];
        int last = FIRST_FD + (int) n;

        for (unsigned i = 0; i < n; i++) {
                parked[i] = fcntl(descriptors[i], F_DUPFD_CLOEXEC, PARKING_FD);
                if (parked[i] < 0)
                        return -errno;
        }
        int exec_parked = fcntl(*exec_fd, F_DUPFD_CLOEXEC, PARKING_FD);
        int null = open("/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY);

        if (exec_parked < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
                return -errno;
#ifndef __SANITIZE_ADDRESS__ /* whose complaints are worth the wait */
        if (dup2(null, STDERR_FILENO) < 0)
                return -errno;
#endif
        for (unsigned i = 0; i < n; i++)
                if (dup2(parked[i], FIRST_FD + (int) i) < 0)
                        return -errno;
        if (dup3(exec_parked, last, O_CLOEXEC) < 0)
                return -errno;
        *exec_fd = last;
        if (syscall(SYS_close_range, (unsigned) last + 1, ~0u, 0u) < 0)
                return -errno;
        return 0;
}

static void __attribute__((noreturn)) become_program(char *const argv[], char *const environment[],
                                                     const int *descriptors, unsigned n, int exec_fd,
                                                     pid_t parent) {
        int r;

        (void) setsid();
        reset_signals();
        r = lay_out_descriptors(descriptors, n, &exec_fd);
        if (r == 0 && prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
                r = -errno;
        if (r == 0 && getppid() != parent) /* it died before the prctl */
                _exit(0);
        if (r == 0) {
                execve(argv[0], argv, environment);
                r = -errno;
        }
        while (write(exec_fd, &r, sizeof r) < 0 && errno == EINTR)
                ;
        _exit(127);
}

int spawn_child(struct spawn *ret, char *const argv[], const int *descriptors, unsigned n_descriptors) {
        char *environment[INHERITED_MAX + 1];
        int fds[2], pidfd, r;
        pid_t parent = getpid(), pid;

        if (n_descriptors > DESCRIPTORS_MAX)
                return -E2BIG;
        pick_environment(environment);
        if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
                return -errno;

        pid = fork();
        if (pid == 0)
                become_program(argv, environment, descriptors, n_descriptors, fds[1], parent);
        r = pid < 0 ? -errno : 0;
        close(fds[1]);
        if (r < 0)
                goto fail;

        /* The slot of fds[1] is free again, so this fails only where the whole
         * machine is out of descriptors or memory. */
        pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
        if (pidfd < 0) {
                r = -errno;
                (void) kill(pid, SIGKILL); /* our own child, not yet waited for: the number is still its own */
                (void) waitpid(pid, NULL, WNOHANG);
                goto fail;
        }
        (void) fcntl(pidfd, F_SETFD, FD_CLOEXEC);
        *ret = (struct spawn) { .pid = pid, .pidfd = pidfd, .exec_fd = fds[0] };
        return 0;
fail:
        close(fds[0]);
        return r;
}

int spawn_exec_error(struct spawn *s) {
        int error = 0;

        if (s->exec_fd < 0)
                return 1;

        ssize_t n = read(s->exec_fd, &error, sizeof error);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        close(s->exec_fd);
        s->exec_fd = -1;
        if (n == 0)
                return 1;
        return n == (ssize_t) sizeof error && error < 0 ? error : -EIO;
}

int spawn_reap(struct spawn *s, int *ret_status) {
        int status;
        pid_t pid = waitpid(s->pid, &status, WNOHANG);

        if (pid < 0)
                return -errno;
        if (pid == 0)
                return 0;
        *ret_status = status;
        return 1;
}

int spawn_kill(const struct spawn *s, int signal) {
        return syscall(SYS_pidfd_send_signal, s->pidfd, signal, NULL, 0) < 0 ? -errno : 0;
}

void spawn_done(struct spawn *s) {
        if (s->exec_fd >= 0)
                close(s->exec_fd);
        if (s->pidfd >= 0)
                close(s->pidfd);
        *s = (struct spawn) { .pid = 0, .pidfd = -1, .exec_fd = -1 };
}
