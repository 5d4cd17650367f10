/*
 * faultfs - a file system in user space that passes everything on to a directory,
 * and delays or fails what it is told to.
 *
 * usage: faultfs DIRECTORY FAULTS MOUNT_POINT
 *
 * FAULTS is a file with a line for each fault, read at every call; it may be missing:
 *
 *     fsync delay 10        # milliseconds
 *     write error 5         # an errno
 *     create hang           # until the line is gone
 *
 * The first line with the call's name counts. The names are lookup (getattr too),
 * create, open, read, write, fsync, flush, truncate, fallocate, unlink, rename, statfs and
 * readdir. Runs in the foreground, until it is unmounted.
 */
#define FUSE_USE_VERSION 31
#include <fuse.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define HANG_LOOK_MS 10

static const char *below, *faults;

static void sleep_ms(long ms) {
        struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

        while (nanosleep(&left, &left) != 0 && errno == EINTR)
                ;
}

/* The fault that is in force for @call: whether there is one. */
static int find(const char *call, char ret_what[16], long *ret_number) {
        char line[128], name[32];
        FILE *f = fopen(faults, "re");
        int found = 0;

        while (f && !found && fgets(line, sizeof line, f)) {
                char number[16] = "";

                found = sscanf(line, "%31s %15s %15s", name, ret_what, number) >= 2 && strcmp(name, call) == 0;
                *ret_number = strtol(number, NULL, 10);
        }
        if (f)
                (void) fclose(f);
        return found;
}

/* 0, or the negative errno that the call is to fail with. */
static int meet(const char *call) {
        char what[16];
        long number;

        while (find(call, what, &number)) {
                if (strcmp(what, "error") == 0)
                        return (int) -number;
                sleep_ms(strcmp(what, "hang") == 0 ? HANG_LOOK_MS : number);
                if (strcmp(what, "hang") != 0)
                        break;
        }
        return 0;
}

static int ended(int r) {
        return r < 0 ? -errno : 0;
}

static const char *place(char buf[PATH_BYTES], const char *path) {
        (void) snprintf(buf, PATH_BYTES, "%s%s", below, path);
        return buf;
}

/* Meets the fault, and makes the call on @p, the path in the directory below. */
#define PASS(name, call)                              \
        do {                                          \
                char place_[PATH_BYTES];              \
                const char *p = place(place_, path);  \
                int fault = meet(name);               \
                                                      \
                return fault < 0 ? fault : (call);    \
        } while (0)

static int fs_getattr(const char *path, struct stat *st, struct fuse_file_info *fi) {
        if (fi)
                return ended(fstat((int) fi->fh, st));
        PASS("lookup", ended(lstat(p, st)));
}

static int keep(struct fuse_file_info *fi, int fd) {
        fi->fh = (uint64_t) fd;
        return ended(fd);
}

/* The kernel has applied the caller's umask. */
static int fs_create(const char *path, mode_t mode, struct fuse_file_info *fi) {
        PASS("create", keep(fi, open(p, fi->flags | O_CREAT | O_CLOEXEC, mode)));
}

static int fs_open(const char *path, struct fuse_file_info *fi) {
        PASS("open", keep(fi, open(p, (fi->flags & ~O_DIRECT) | O_CLOEXEC)));
}

static int fs_read(const char *path, char *data, size_t bytes, off_t at, struct fuse_file_info *fi) {
        int r = meet("read");
        ssize_t n = r < 0 ? 0 : pread((int) fi->fh, data, bytes, at);

        (void) path;
        return r < 0 ? r : n < 0 ? -errno : (int) n;
}

static int fs_write(const char *path, const char *data, size_t bytes, off_t at, struct fuse_file_info *fi) {
        int r = meet("write");
        ssize_t n = r < 0 ? 0 : pwrite((int) fi->fh, data, bytes, at);

        (void) path;
        return r < 0 ? r : n < 0 ? -errno : (int) n;
}

static int fs_fsync(const char *path, int data_only, struct fuse_file_info *fi) {
        int r = meet("fsync");

        (void) path;
        return r < 0 ? r : ended(data_only ? fdatasync((int) fi->fh) : fsync((int) fi->fh));
}

static int fs_flush(const char *path, struct fuse_file_info *fi) {
        (void) path;
        (void) fi;
        return meet("flush");
}

static int fs_release(const char *path, struct fuse_file_info *fi) {
        (void) path;
        return ended(close((int) fi->fh));
}

static int fs_truncate(const char *path, off_t bytes, struct fuse_file_info *fi) {
        PASS("truncate", ended(fi ? ftruncate((int) fi->fh, bytes) : truncate(p, bytes)));
}

static int fs_fallocate(const char *path, int mode, off_t at, off_t bytes, struct fuse_file_info *fi) {
        int r = meet("fallocate");

        (void) path;
        return r < 0 ? r : ended(fallocate((int) fi->fh, mode, at, bytes));
}

static int fs_unlink(const char *path) {
        PASS("unlink", ended(unlink(p)));
}

static int fs_rename(const char *path, const char *to, unsigned flags) {
        char other[PATH_BYTES];

        if (flags != 0)
                return -EINVAL;
        PASS("rename", ended(rename(p, place(other, to))));
}

static int fs_mkdir(const char *path, mode_t mode) {
        PASS("create", ended(mkdir(p, mode)));
}

static int fs_rmdir(const char *path) {
        PASS("unlink", ended(rmdir(p)));
}

static int fs_chmod(const char *path, mode_t mode, struct fuse_file_info *fi) {
        (void) fi;
        PASS("open", ended(chmod(p, mode)));
}

static int fs_statfs(const char *path, struct statvfs *st) {
        PASS("statfs", ended(statvfs(p, st)));
}

static int fill_all(const char *p, void *buf, fuse_fill_dir_t fill) {
        DIR *d = opendir(p);

        if (!d)
                return -errno;
        for (const struct dirent *e = readdir(d); e; e = readdir(d))
                if (fill(buf, e->d_name, NULL, 0, 0) != 0)
                        break;
        (void) closedir(d);
        return 0;
}

static int fs_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t at, struct fuse_file_info *fi,
                      enum fuse_readdir_flags flags) {
        (void) at;
        (void) fi;
        (void) flags;
        PASS("readdir", fill_all(p, buf, fill));
}

/* Each call is to arrive here: nothing is remembered by the kernel. */
static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *config) {
        (void) connection;
        config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
        return NULL;
}

static const struct fuse_operations operations = {
        .init = fs_init,         .getattr = fs_getattr,   .create = fs_create,       .open = fs_open,
        .read = fs_read,         .write = fs_write,       .fsync = fs_fsync,
        .flush = fs_flush,       .release = fs_release,   .truncate = fs_truncate,   .fallocate = fs_fallocate,
        .unlink = fs_unlink,     .rename = fs_rename,     .mkdir = fs_mkdir,         .rmdir = fs_rmdir,
        .chmod = fs_chmod,       .statfs = fs_statfs,     .readdir = fs_readdir,
};

int main(int argc, char **argv) {
        char *args[] = { argv[0], (char[]) { "-f" }, (char[]) { "-odefault_permissions,allow_other" }, NULL, NULL };

        if (argc != 4) {
                fputs("usage: faultfs DIRECTORY FAULTS MOUNT_POINT\n", stderr);
                return 2;
        }
        below = argv[1];
        faults = argv[2];
        args[3] = argv[3];
        (void) umask(0);
        return fuse_main(4, args, &operations, NULL);
}
