/*
 * Our own files below a target; see worker/ownfile.h.
 */
#include "worker/ownfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Losing a name or a lock to somebody else is a matter of luck; that often, it is not. */
#define CREATE_TRIES 16

static int make_name(const struct run *r, char out[OWNNAME_BYTES]) {
        struct ownname n = { .machine = r->machine, .uid = geteuid() };

        if (getrandom(&n.token, sizeof n.token, 0) != (ssize_t) sizeof n.token)
                return -errno;
        ownname_format(out, &n);
        return 0;
}

static int open_at(int directory, const char *name, int flags) {
        int fd;

        do
                fd = openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
        while (fd < 0 && errno == EINTR);
        return fd < 0 ? -errno : fd;
}

/* Takes the lock without waiting. -EBUSY: somebody else has it. A file system
 * that knows no locks has no sweeper either: without a lock nothing is removed. */
static int try_lock(int fd) {
        int n;

        do
                n = flock(fd, LOCK_EX | LOCK_NB);
        while (n < 0 && errno == EINTR);
        if (n == 0 || errno == ENOLCK || errno == ENOTSUP || errno == ENOSYS || errno == EINVAL)
                return 0;
        return errno == EWOULDBLOCK ? -EBUSY : -errno;
}

/* Fills in the identity. 1: still linked; 0: a sweeper took it between open and lock. */
static int identify(struct ownfile *f) {
        struct stat st;

        if (fstat(f->fd, &st) < 0)
                return -errno;
        f->device = st.st_dev;
        f->inode = st.st_ino;
        return st.st_nlink > 0;
}

int ownfile_create(struct run *r, int flags, struct ownfile *ret) {
        struct ownfile f = OWNFILE_CLOSED;
        int error = -EEXIST;

        for (unsigned i = 0; i < CREATE_TRIES; i++) {
                error = make_name(r, f.name);
                if (error < 0)
                        return error;
                run_enter(r, PHASE_CREATE);
                error = open_at(r->directory, f.name, O_RDWR | O_CREAT | O_EXCL | flags);
                if (error == -EEXIST)
                        continue;
                if (error < 0)
                        break;
                f.fd = error;
                error = try_lock(f.fd);
                if (error == 0)
                        error = identify(&f);
                if (error == 1) {
                        run_leave(r);
                        *ret = f;
                        return 0;
                }
                (void) close(f.fd);
                if (error < 0 && error != -EBUSY) {
                        (void) unlinkat(r->directory, f.name, 0); /* O_EXCL: it is ours */
                        break;
                }
                error = -EBUSY;
        }
        run_leave(r);
        return error;
}

/* Whether an existing file may be used as ours. */
static int check_kept(struct ownfile *f) {
        struct stat st;

        if (fstat(f->fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid())
                return -EEXIST;
        f->device = st.st_dev;
        f->inode = st.st_ino;
        return 0;
}

int ownfile_open_kept(struct run *r, int flags, struct ownfile *ret, bool *ret_created) {
        struct ownname n = { .machine = r->machine, .uid = geteuid(), .kept = true, .token = r->order->kept_token };
        struct ownfile f = OWNFILE_CLOSED;
        bool created = false;
        int error;

        ownname_format(f.name, &n);
        run_enter(r, PHASE_LOOKUP);
        /* O_NONBLOCK: a FIFO that somebody planted must not hold us. */
        error = open_at(r->directory, f.name, O_RDWR | O_NONBLOCK | flags);
        if (error == -ENOENT) {
                run_enter(r, PHASE_CREATE);
                error = open_at(r->directory, f.name, O_RDWR | O_CREAT | O_EXCL | flags);
                created = error >= 0;
        }
        if (error == -ELOOP || error == -ENXIO || error == -EISDIR)
                error = -EEXIST;
        if (error >= 0) {
                f.fd = error;
                (void) try_lock(f.fd);
                error = check_kept(&f);
                if (error < 0)
                        (void) close(f.fd);
        }
        run_leave(r);
        if (error < 0)
                return error;
        *ret = f;
        *ret_created = created;
        return 0;
}

int ownfile_reopen(struct run *r, int flags, struct ownfile *f) {
        struct stat st;
        int fd;

        run_enter(r, PHASE_LOOKUP);
        fd = open_at(r->directory, f->name, O_RDWR | O_NONBLOCK | flags);
        if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_dev != f->device || st.st_ino != f->inode)) {
                (void) close(fd);
                fd = -ESTALE;
        }
        run_leave(r);
        if (fd < 0)
                return fd;
        f->fd = fd;
        return 0;
}

int ownfile_close(struct run *r, struct ownfile *f) {
        int fd = f->fd, error = 0;

        if (fd < 0)
                return 0;
        f->fd = -1;
        run_enter(r, PHASE_CLOSE);
        if (close(fd) < 0 && errno != EINTR) /* Linux has closed it either way */
                error = -errno;
        run_leave(r);
        return error;
}

static int unlink_own(struct run *r, const char *name, const struct ownfile *identity, int flags) {
        struct stat st;
        int n;

        if (fstatat(r->directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : -errno;
        if (st.st_dev != identity->device || st.st_ino != identity->inode)
                return 0; /* not ours: leave it */
        do
                n = unlinkat(r->directory, name, flags);
        while (n < 0 && errno == EINTR);
        return n < 0 && errno != ENOENT ? -errno : 0;
}

int ownfile_remove(struct run *r, struct ownfile *f) {
        int error;

        (void) ownfile_close(r, f);
        if (f->name[0] == '\0')
                return 0;
        run_enter(r, PHASE_UNLINK);
        error = unlink_own(r, f->name, f, 0);
        if (error < 0)
                (void) unlink_own(r, f->name, f, 0);
        run_leave(r);
        *f = OWNFILE_CLOSED;
        return error;
}

uint64_t ownfile_allocated_bytes(struct run *r, const struct ownfile *f) {
        uint64_t allocated = PROTO_UNKNOWN;
        struct stat st;

        run_enter(r, PHASE_LOOKUP);
        if (fstatat(r->directory, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == f->inode)
                allocated = (uint64_t) st.st_blocks * 512;
        run_leave(r);
        return allocated;
}

void ownfile_drop_cache(struct run *r, struct ownfile *f) {
        if (ownfile_reopen(r, 0, f) < 0)
                return;
        (void) posix_fadvise(f->fd, 0, 0, POSIX_FADV_DONTNEED);
        (void) ownfile_close(r, f);
}

void ownfile_member_name(char out[OWNFILE_MEMBER_BYTES], unsigned i) {
        (void) snprintf(out, OWNFILE_MEMBER_BYTES, "tf_%u.dat", i % SPEC_CREATE_FILES);
}

int ownfile_create_directory(struct run *r, struct ownfile *ret) {
        struct ownfile d = OWNFILE_CLOSED;
        int error = -EEXIST;

        for (unsigned i = 0; i < CREATE_TRIES; i++) {
                error = make_name(r, d.name);
                if (error < 0)
                        return error;
                run_enter(r, PHASE_CREATE);
                error = mkdirat(r->directory, d.name, 0700) < 0 ? -errno : 0;
                if (error == -EEXIST || error == -EINTR)
                        continue;
                if (error < 0)
                        break;
                error = open_at(r->directory, d.name, O_RDONLY | O_DIRECTORY);
                if (error == -ENOENT) /* swept before it could be locked */
                        continue;
                if (error >= 0) {
                        d.fd = error;
                        error = try_lock(d.fd);
                        if (error == 0)
                                error = identify(&d);
                        if (error == 1) {
                                run_leave(r);
                                *ret = d;
                                return 0;
                        }
                        (void) close(d.fd);
                        if (error == -EBUSY || error == 0) {
                                error = -EBUSY;
                                continue;
                        }
                }
                (void) unlinkat(r->directory, d.name, AT_REMOVEDIR);
                break;
        }
        run_leave(r);
        return error;
}

int ownfile_remove_directory(struct run *r, struct ownfile *d) {
        char name[OWNFILE_MEMBER_BYTES];
        int error = 0;

        if (d->fd < 0)
                return 0;
        run_enter(r, PHASE_UNLINK);
        for (unsigned i = 0; i < SPEC_CREATE_FILES; i++) {
                ownfile_member_name(name, i);
                /* The retry of ownfile_remove(), for each. */
                if (unlinkat(d->fd, name, 0) < 0 && errno != ENOENT) {
                        if (error == 0)
                                error = -errno;
                        (void) unlinkat(d->fd, name, 0);
                }
                run_enter(r, PHASE_UNLINK); /* each call has its own age */
        }
        (void) close(d->fd);
        d->fd = -1;

        int last = unlink_own(r, d->name, d, AT_REMOVEDIR);

        if (last < 0)
                (void) unlink_own(r, d->name, d, AT_REMOVEDIR);
        run_leave(r);
        *d = OWNFILE_CLOSED;
        return error < 0 ? error : last;
}
