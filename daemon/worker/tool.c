/*
 * What a program of the system prints; see worker/tool.h.
 */
#include "worker/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Users' paths lack the directories of the system's own programs. */
#define SYSTEM_DIRECTORIES "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"
#define EXIT_NOT_FOUND 127

static void __attribute__((noreturn)) become(const char *const argv[], int output) {
        const char *path = getenv("PATH");
        char search[4096], *const *words;
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void) snprintf(search, sizeof search, "%s%s%s", path ? path : "", path ? ":" : "", SYSTEM_DIRECTORIES);
        if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
            setenv("PATH", search, 1) < 0 || setenv("LC_ALL", "C", 1) < 0)
                _exit(EXIT_FAILURE);
        (void) memcpy(&words, &argv, sizeof words); /* NOLINT(bugprone-sizeof-expression): the pointer; execvp changes no word */
        (void) execvp(argv[0], words);
        _exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_FAILURE);
}

static int read_output(int fd, char *to, size_t limit) {
        size_t length = 0;

        for (;;) {
                ssize_t n = read(fd, to + length, limit - length);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                length += (size_t) n;
                if (n == 0 || length == limit)
                        break;
        }
        to[length] = '\0';
        return length == limit ? -EIO : 0;
}

int tool_run(const char *const argv[], size_t limit, char **ret) {
        char *output = malloc(limit + 1);
        int fds[2], status = -1, r;
        pid_t pid;

        if (!output)
                return -ENOMEM;
        if (pipe2(fds, O_CLOEXEC) < 0) {
                r = -errno;
                free(output);
                return r;
        }
        pid = fork();
        if (pid == 0)
                become(argv, fds[1]);
        r = pid < 0 ? -errno : 0;
        (void) close(fds[1]);
        if (r == 0)
                r = read_output(fds[0], output, limit);
        (void) close(fds[0]);
        if (pid > 0)
                while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                        ;
        if (r == 0 && !WIFEXITED(status))
                r = -EIO;
        if (r == 0 && WEXITSTATUS(status) != 0)
                r = WEXITSTATUS(status) == EXIT_NOT_FOUND ? -ENOENT : -EIO;
        if (r < 0) {
                free(output);
                return r;
        }
        *ret = output;
        return 0;
}
