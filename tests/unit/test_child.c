/*
 * spawn, workerlink, libexec, machine: children that start, do not start, lie and die.
 */
#include "testutil.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/libexec.h"
#include "child/machine.h"
#include "child/workerlink.h"

static char directory[] = "/tmp/test_child.XXXXXX";
static char script[sizeof directory + 16];

static int make_directory(void **state) {
        (void) state;
        if (!mkdtemp(directory))
                return -1;
        (void) snprintf(script, sizeof script, "%s/script", directory);
        return 0;
}

static int remove_directory(void **state) {
        (void) state;
        (void) unlink(script);
        return rmdir(directory);
}

static void write_script(const char *text) {
        FILE *f = fopen(script, "we");

        assert_non_null(f);
        assert_true(fprintf(f, "#!/bin/sh\n%s\n", text) > 0);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(chmod(script, 0700), 0);
}

static void need_pidfd(void) {
        int fd = (int) syscall(SYS_pidfd_open, getpid(), 0);

        if (fd >= 0) {
                (void) close(fd);
                return;
        }
        print_message("SKIP: no pidfd_open here (valgrind before 3.20 does not know it)\n");
        skip();
}

static void wait_readable(int fd) {
        struct pollfd p = { .fd = fd, .events = POLLIN };

        assert_int_equal(poll(&p, 1, 20000), 1);
}

static int wait_end(struct spawn *s) {
        int status;

        wait_readable(s->pidfd);
        assert_int_equal(spawn_reap(s, &status), 1);
        return status;
}

static void test_a_program_that_is_not_there(void **state) {
        char path[] = "/nonexistent/program";
        struct spawn s;

        (void) state;
        need_pidfd();
        assert_int_equal(spawn_child(&s, (char *[]) { path, NULL }, NULL, 0), 0);
        wait_readable(s.exec_fd);
        assert_int_equal(spawn_exec_error(&s), -ENOENT);
        (void) wait_end(&s);
        spawn_done(&s);
}

/* Descriptors from 3 on, our own environment but for PATH and locale gone, signals as at birth. */
static void test_what_a_child_gets(void **state) {
        struct spawn s;
        char text[4096] = "", *ignored;
        size_t n = 0;
        int fds[2];

        (void) state;
        need_pidfd();
        assert_int_equal(setenv("SECRET", "x", 1), 0);
        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
        write_script("exec >&3; echo fds=$(ls /proc/self/fd | tr '\\n' ' '); env; grep -E '^Sig(Blk|Ign)' /proc/self/status; "
                     "ps -o sid= -p $$ 2>/dev/null || cut -d' ' -f6 /proc/$$/stat");
        (void) signal(SIGUSR1, SIG_IGN);
        assert_int_equal(spawn_child(&s, (char *[]) { script, NULL }, &fds[1], 1), 0);
        (void) signal(SIGUSR1, SIG_DFL);
        (void) close(fds[1]);
        for (ssize_t got; (got = read(fds[0], text + n, sizeof text - 1 - n)) > 0;)
                n += (size_t) got;
        (void) close(fds[0]);
        assert_int_equal(spawn_exec_error(&s), 1);
        assert_int_equal(wait_end(&s), 0);
        assert_null(strstr(text, "SECRET"));
        assert_non_null(strstr(text, "PATH="));
        assert_non_null(strstr(text, "SigBlk:\t0000000000000000"));
        ignored = strstr(text, "SigIgn:\t");
        assert_non_null(ignored);
        /* Signals 32 and 33 are libc's own, and it lets nobody at them. */
        assert_int_equal(strtoull(ignored + strlen("SigIgn:\t"), NULL, 16) & ~UINT64_C(0x180000000), 0);
        spawn_done(&s);
        (void) unsetenv("SECRET");
}

static void test_kill(void **state) {
        struct spawn s;
        int status;

        (void) state;
        need_pidfd();
        write_script("exec sleep 100");
        assert_int_equal(spawn_child(&s, (char *[]) { script, NULL }, NULL, 0), 0);
        assert_int_equal(spawn_reap(&s, &status), 0);
        assert_int_equal(spawn_kill(&s, SIGKILL), 0);
        status = wait_end(&s);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        spawn_done(&s);
}

/* What a worker that runs @text leads to: the first thing but "nothing yet". */
static int answer_of(const char *text) {
        struct workerlink *l;
        union proto_message m;
        int r;

        write_script(text);
        assert_int_equal(workerlink_new(&l, script, "title"), 0);
        while ((r = workerlink_receive(l, &m)) == 0)
                wait_readable(workerlink_socket(l));
        (void) spawn_kill(workerlink_process(l), SIGKILL);
        (void) wait_end(workerlink_process(l));
        workerlink_free(l);
        return r;
}

static void test_liars(void **state) {
        (void) state;
        need_pidfd();
        assert_int_equal(answer_of("exit 0"), -ECONNRESET);
        assert_int_equal(answer_of("printf garbage >&3; sleep 100"), -EBADMSG);
        assert_int_equal(answer_of("head -c 100000 /dev/zero >&3; sleep 100"), -EBADMSG);
        assert_int_equal(answer_of("kill -SEGV $$"), -ECONNRESET);
}

/* The page cannot be cut short: the parent would die of SIGBUS on its next look. */
static void test_the_page_is_sealed(void **state) {
        struct workerlink_progress progress;
        struct histogram sync, write;
        struct workerlink *l;

        (void) state;
        need_pidfd();
        write_script(": > /proc/self/fd/4; exit 0");
        assert_int_equal(workerlink_new(&l, script, "title"), 0);
        (void) wait_end(workerlink_process(l));
        workerlink_progress(l, 1000, &progress); /* it is still there */
        assert_true(progress.since_ns <= 1000);
        assert_true((unsigned) progress.phase < PHASE_COUNT_);
        (void) workerlink_histograms(l, true, &sync, &write);
        workerlink_free(l);
}

static void test_scribbled_histograms(void **state) {
        struct histogram sync, write;
        struct workerlink *l;

        (void) state;
        need_pidfd();
        write_script("head -c 40000 /dev/urandom 1<>/proc/self/fd/4; exit 0");
        assert_int_equal(workerlink_new(&l, script, "title"), 0);
        (void) wait_end(workerlink_process(l));
        assert_int_equal(workerlink_histograms(l, true, &sync, &write), -EBADMSG);
        workerlink_free(l);
}

static void test_libexec(void **state) {
        char *path;

        (void) state;
        write_script("exit 0");
        assert_int_equal(setenv("SYNCPROBE_LIBEXEC", directory, 1), 0);
        assert_int_equal(libexec_find("script", &path), 0);
        assert_string_equal(path, script);
        free(path);
        assert_int_equal(libexec_find("nothing-of-that-name", &path), -ENOENT);
        (void) unsetenv("SYNCPROBE_LIBEXEC");
}

static void test_machine(void **state) {
        char a[PROTO_MACHINE_BYTES], b[PROTO_MACHINE_BYTES];

        (void) state;
        machine_id(a);
        machine_id(b);
        assert_string_equal(a, b);
        assert_int_equal(strlen(a), 32);
        assert_int_equal(strspn(a, "0123456789abcdef"), 32);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_program_that_is_not_there),
                cmocka_unit_test(test_what_a_child_gets),
                cmocka_unit_test(test_kill),
                cmocka_unit_test(test_liars),
                cmocka_unit_test(test_the_page_is_sealed),
                cmocka_unit_test(test_scribbled_histograms),
                cmocka_unit_test(test_libexec),
                cmocka_unit_test(test_machine),
        };

        testutil_seed_init();
        return cmocka_run_group_tests_name(__FILE__, tests, make_directory, remove_directory);
}
