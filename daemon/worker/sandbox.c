/*
 * The worker's confinement; see worker/sandbox.h.
 *
 * Landlock is called by number: glibc has no wrappers for it.
 */
#include "worker/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Since Landlock ABI 2 and 3; older headers do not name them. */
#define ACCESS_FS_REFER (UINT64_C(1) << 13)
#define ACCESS_FS_TRUNCATE (UINT64_C(1) << 14)

#define ACCESS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_TARGET                                                                                         \
        (ACCESS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |                          \
         LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |       \
         ACCESS_FS_TRUNCATE)

static int allow_below(int ruleset, int directory, uint64_t access) {
        struct landlock_path_beneath_attr rule = { .allowed_access = access, .parent_fd = directory };

        return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0u) < 0 ? -errno : 0;
}

static int allow_below_path(int ruleset, const char *path, uint64_t access) {
        int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), r;

        if (fd < 0)
                return errno == ENOENT ? 0 : -errno; /* a container without it */
        r = allow_below(ruleset, fd, access);
        (void) close(fd);
        return r;
}

static int confine_files(int directory) {
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
        /* All rights of ABI 1 are its low 13 bits. */
        uint64_t handled = (UINT64_C(1) << 13) - 1;
        int ruleset, r;

        if (abi < 1)
                return 0; /* not built in, or not enabled at boot */
        if (abi >= 2)
                handled |= ACCESS_FS_REFER;
        if (abi >= 3)
                handled |= ACCESS_FS_TRUNCATE;

        struct landlock_ruleset_attr attributes = { .handled_access_fs = handled };

        ruleset = (int) syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0u);
        if (ruleset < 0)
                return -errno;
        r = allow_below(ruleset, directory, ACCESS_TARGET & handled);
        if (r == 0)
                r = allow_below_path(ruleset, "/proc", ACCESS_READ);
        if (r == 0)
                r = allow_below_path(ruleset, "/sys", ACCESS_READ);
        if (r == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0u) < 0)
                r = -errno;
        (void) close(ruleset);
        return r;
}

/* Every system call that the tests make, and what libc and malloc need. */
static const int allowed_calls[] = {
        /* the target */
        SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(close), SCMP_SYS(pwrite64), SCMP_SYS(write), SCMP_SYS(read),
        SCMP_SYS(pread64), SCMP_SYS(fdatasync), SCMP_SYS(fsync), SCMP_SYS(sync_file_range), SCMP_SYS(fallocate),
        SCMP_SYS(ftruncate), SCMP_SYS(fadvise64), SCMP_SYS(flock), SCMP_SYS(mkdirat), SCMP_SYS(unlinkat),
        SCMP_SYS(getdents64), SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx),
        SCMP_SYS(fstatfs), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
#ifdef __NR_sync_file_range2
        SCMP_SYS(sync_file_range2),
#endif
        /* the parent */
        SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(poll), SCMP_SYS(ppoll),
        /* time and data */
        SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(restart_syscall),
        SCMP_SYS(getrandom), SCMP_SYS(gettimeofday), SCMP_SYS(time),
        /* libc */
        SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(mprotect),
        SCMP_SYS(getcpu), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(sigaltstack),
        SCMP_SYS(futex), SCMP_SYS(fcntl), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(tgkill), SCMP_SYS(geteuid),
        SCMP_SYS(getuid), SCMP_SYS(getegid), SCMP_SYS(getgid), SCMP_SYS(sched_yield), SCMP_SYS(exit),
        SCMP_SYS(exit_group), SCMP_SYS(rseq), SCMP_SYS(set_robust_list),
};

static int confine_calls(void) {
        /* ENOSYS rather than death: a libc that tries a newer call first falls
         * back, as it would on an older kernel. */
        scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
        int r = 0;

        if (!filter)
                return -ENOMEM;
        for (size_t i = 0; i < sizeof allowed_calls / sizeof allowed_calls[0] && r == 0; i++)
                r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed_calls[i], 0);
        /* Of all ioctls, the one that tells how a file lies. */
        if (r == 0)
                r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                                     SCMP_A1(SCMP_CMP_MASKED_EQ, UINT64_C(0xffffffff), FS_IOC_FIEMAP));
        if (r == 0)
                r = seccomp_load(filter);
        seccomp_release(filter);
        return r == -EINVAL || r == -ENOSYS ? 0 : r; /* a kernel without seccomp filters */
}

int sandbox_prepare(void) {
        /* A core dump would be written by a process that hangs on a disk, perhaps to that disk. */
        struct rlimit none = { 0, 0 };

        if (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        return 0;
}

int sandbox_enter(int directory) {
        int r = confine_files(directory);

        if (r < 0)
                return r;
#if defined __SANITIZE_ADDRESS__ || defined SYNCPROBE_INSTRUMENTED
        /* The sanitizers' and gcov's runtimes make calls of their own at exit. */
        (void) confine_calls;
        return 0;
#else
        return confine_calls();
#endif
}
