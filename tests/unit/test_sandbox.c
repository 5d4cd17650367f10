/*
 * sandbox: what a worker can still do, tried in a child that has entered it.
 */
#include "testutil.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/sandbox.h"

static char inside[] = "/tmp/test_sandbox.in.XXXXXX", outside[] = "/tmp/test_sandbox.out.XXXXXX";

static int make_directories(void **state) {
        (void) state;
        return mkdtemp(inside) && mkdtemp(outside) ? 0 : -1;
}

static int remove_directories(void **state) {
        (void) state;
        return rmdir(inside) | rmdir(outside);
}

static bool has_landlock(void) {
        return syscall(SYS_landlock_create_ruleset, NULL, 0, 1u /* ask for the version */) >= 1;
}

/* The exit status of @fn run in a child that is confined to @inside. */
static int confined(int (*fn)(void)) {
        int status;
        pid_t pid = fork();

        if (pid == 0) {
                int fd = open(inside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

                if (fd < 0 || sandbox_prepare() < 0 || sandbox_enter(fd) < 0)
                        _exit(100);
                _exit(fn());
        }
        assert_true(pid > 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static int try_file(const char *directory) {
        char path[64];
        int fd;

        (void) snprintf(path, sizeof path, "%s/file", directory);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return errno;
        if (pwrite(fd, "x", 1, 0) != 1 || fdatasync(fd) < 0 || close(fd) < 0)
                return errno;
        return unlinkat(AT_FDCWD, path, 0) < 0 ? errno : 0;
}

static int write_inside(void) {
        return try_file(inside);
}

static int write_outside(void) {
        return try_file(outside);
}

static int make_link_to_outside(void) {
        char path[64];

        (void) snprintf(path, sizeof path, "%s/link", inside);
        return symlink(outside, path) < 0 ? errno : 0;
}

static int read_proc(void) {
        char byte;
        int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

        return fd < 0 || read(fd, &byte, 1) != 1 ? errno : 0;
}

static int read_passwd(void) {
        return open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 ? errno : 0;
}

static int run_program(void) {
        char *const arguments[] = { (char[]) { "true" }, NULL };

        (void) execv("/bin/true", arguments);
        return errno;
}

static int open_socket(void) {
        return socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0;
}

static int start_process(void) {
        pid_t pid = fork();

        if (pid == 0)
                _exit(0);
        return pid < 0 ? errno : 0;
}

static int gain_privileges(void) {
        char text[4096];
        int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

        if (n < 0)
                return errno;
        text[n] = '\0';
        return strstr(text, "NoNewPrivs:\t1") ? 0 : 1;
}

static void test_its_own_work(void **state) {
        (void) state;
        assert_int_equal(confined(write_inside), 0);
        assert_int_equal(confined(read_proc), 0);
}

static void test_other_files(void **state) {
        (void) state;
        if (!has_landlock()) {
                print_message("SKIP: this kernel has no Landlock\n");
                skip();
        }
        assert_int_equal(confined(write_outside), EACCES);
        assert_int_equal(confined(read_passwd), EACCES);
        assert_int_not_equal(confined(make_link_to_outside), 0);
        assert_int_not_equal(confined(run_program), 0);
}

static void test_other_calls(void **state) {
        (void) state;
#if defined __SANITIZE_ADDRESS__
        print_message("SKIP: no seccomp filter beside AddressSanitizer\n");
        skip();
#endif
        assert_int_equal(confined(open_socket), ENOSYS);
        assert_int_equal(confined(start_process), ENOSYS);
        assert_int_not_equal(confined(run_program), 0);
}

static void test_no_new_privileges(void **state) {
        (void) state;
        assert_int_equal(confined(gain_privileges), 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_its_own_work),
                cmocka_unit_test(test_other_files),
                cmocka_unit_test(test_other_calls),
                cmocka_unit_test(test_no_new_privileges),
        };

        testutil_seed_init();
        return cmocka_run_group_tests_name(__FILE__, tests, make_directories, remove_directories);
}
