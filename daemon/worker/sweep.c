/*
 * Left-over files; see worker/sweep.h for what qualifies.
 */
#include "worker/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/ownfile.h"

static bool is_wanted(const struct ownname *n, const struct proto_setup *setup) {
        if (!n->kept)
                return false;
        if (setup->follow) /* the command line: a daemon may know it */
                return true;
        for (uint32_t i = 0; i < setup->kept_count; i++)
                if (setup->kept[i] == n->token)
                        return true;
        return false;
}

/* Whether the thing at @fd is one that only a run of ours can have made. */
static bool is_ours(int fd, bool directory) {
        struct stat st;

        if (fstat(fd, &st) < 0 || st.st_uid != geteuid())
                return false;
        return directory ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode) && st.st_nlink == 1;
}

static void sweep_entry(struct run *r, const struct ownname *n) {
        struct ownfile f = OWNFILE_CLOSED;
        const char *name = f.name;
        struct stat st;
        bool directory;

        ownname_format(f.name, n);
        /* Looked at before it is opened: opening a planted device may do things. */
        run_enter(r, PHASE_LOOKUP);
        if (fstatat(r->directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return;
        directory = S_ISDIR(st.st_mode);
        if (!directory && !S_ISREG(st.st_mode))
                return;
        f.fd = openat(r->directory, name,
                      O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (directory ? O_DIRECTORY : 0));
        if (f.fd < 0)
                return;
        if (is_ours(f.fd, directory) && flock(f.fd, LOCK_EX | LOCK_NB) == 0 && is_ours(f.fd, directory) &&
            fstat(f.fd, &st) == 0) {
                f.device = st.st_dev;
                f.inode = st.st_ino;
                (void) (directory ? ownfile_remove_directory(r, &f) : ownfile_remove(r, &f));
        }
        if (f.fd >= 0)
                (void) close(f.fd);
}

int sweep_directory(struct run *r, const struct proto_setup *setup) {
        int fd, error = 0;
        DIR *d;

        run_enter(r, PHASE_LOOKUP);
        fd = openat(r->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        d = fd < 0 ? NULL : fdopendir(fd);
        if (!d) {
                error = -errno;
                if (fd >= 0)
                        (void) close(fd);
                run_leave(r);
                return error;
        }
        for (;;) {
                struct ownname n;
                struct dirent *e;

                errno = 0;
                e = readdir(d);
                if (!e) {
                        error = -errno;
                        break;
                }
                if (!ownname_parse(e->d_name, &n) || n.machine != r->machine || n.uid != geteuid() ||
                    is_wanted(&n, setup))
                        continue;
                sweep_entry(r, &n);
                run_enter(r, PHASE_LOOKUP);
        }
        (void) closedir(d);
        run_leave(r);
        return error;
}
