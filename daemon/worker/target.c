/*
 * The look-up of a target; see worker/target.h.
 */
#include "worker/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The magic numbers that statfs(2) lists, and those of linux/magic.h that it
 * lacks; @owners: whether files there have owners of their own. */
static const struct {
        uint32_t magic;
        const char *name;
        bool no_owners;
} filesystems[] = {
        { 0xef53, "ext4", false },         { 0x58465342, "xfs", false },      { 0x9123683e, "btrfs", false },
        { 0x2fc12fc1, "zfs", false },      { 0x01021994, "tmpfs", false },    { 0x858458f6, "ramfs", false },
        { 0x6969, "nfs", false },          { 0xff534d42, "cifs", true },      { 0xfe534d42, "smb2", true },
        { 0x517b, "smb", true },           { 0x65735546, "fuse", false },     { 0x794c7630, "overlay", false },
        { 0x00c36400, "ceph", false },     { 0x01161970, "gfs2", false },     { 0x7461636f, "ocfs2", false },
        { 0xf2f52010, "f2fs", false },     { 0x4d44, "vfat", true },          { 0x2011bab0, "exfat", true },
        { 0x5346544e, "ntfs", true },      { 0x3153464a, "jfs", false },      { 0x52654973, "reiserfs", false },
        { 0xca451a4e, "bcachefs", false }, { 0x73717368, "squashfs", false }, { 0x958458f6, "hugetlbfs", false },
        { 0x3434, "nilfs2", false },       { 0x9660, "iso9660", false },      { 0x01021997, "9p", false },
        { 0x0bd00bd0, "lustre", false },   { 0x47504653, "gpfs", false },
};

static int open_directory(int at, const char *path, uint64_t resolve) {
        struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC, .resolve = resolve };
        long fd;

        do
                fd = syscall(SYS_openat2, at, path, &how, sizeof how);
        while (fd < 0 && (errno == EINTR || errno == EAGAIN));
        return fd < 0 ? -errno : (int) fd;
}

/* Symbolic links are followed once, here; from then on the resolved path counts. */
static int resolve_path(struct target *t) {
        char link[64];
        int fd = open_directory(AT_FDCWD, t->setup->path, 0);

        if (fd < 0)
                return fd;
        (void) snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, t->path, sizeof t->path - 1);
        int error = n < 0 ? -errno : 0;

        (void) close(fd);
        if (error == 0)
                t->path[n] = '\0';
        return error;
}

static const char *filesystem_name(uint32_t magic, bool *ret_no_owners) {
        for (size_t i = 0; i < sizeof filesystems / sizeof filesystems[0]; i++)
                if (filesystems[i].magic == magic) {
                        *ret_no_owners = filesystems[i].no_owners;
                        return filesystems[i].name;
                }
        *ret_no_owners = false;
        return NULL;
}

/* Only root or we may own the directory, and only they may change it, or else
 * (sticky) what they made in it. */
static int check_owner(const struct statx *s) {
        if (s->stx_uid != 0 && s->stx_uid != geteuid())
                return -EKEYREJECTED;
        if ((s->stx_mode & S_IWOTH) != 0 && (s->stx_mode & S_ISVTX) == 0)
                return -EKEYREJECTED;
        return 0;
}

static int inspect(struct target *t, struct target_view *v) {
        struct statx s;
        struct statfs fs;
        bool no_owners;
        const char *name;

        if (statx(v->base, "", AT_EMPTY_PATH, STATX_BASIC_STATS | 0x1000u /* STATX_MNT_ID */, &s) < 0 ||
            fstatfs(v->base, &fs) < 0)
                return -errno;
        v->device = makedev(s.stx_dev_major, s.stx_dev_minor);

        uint64_t mount = (s.stx_mask & 0x1000u) != 0 ? s.stx_mnt_id : 0;

        if (t->known && (t->device != v->device || t->inode != s.stx_ino || t->mount != mount))
                return -EXDEV;
        t->known = true;
        t->device = v->device;
        t->inode = s.stx_ino;
        t->mount = mount;

        name = filesystem_name((uint32_t) fs.f_type, &no_owners);
        if (name)
                (void) snprintf(v->fstype, sizeof v->fstype, "%s", name);
        else
                (void) snprintf(v->fstype, sizeof v->fstype, "unknown-%x", (unsigned) fs.f_type);
        return t->setup->owner_check && !no_owners ? check_owner(&s) : 0;
}

/* A directory named after this machine, where `prepare` made one, is ours alone. */
static int enter_machine_directory(const struct target *t, struct target_view *v) {
        int fd;

        if (t->setup->machine[0] == '\0')
                return 0;
        fd = open_directory(v->base, t->setup->machine, RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_NO_XDEV);
        if (fd >= 0)
                v->fd = fd;
        return fd >= 0 || fd == -ENOENT ? 0 : fd;
}

int target_open(struct run *r, struct target *t, struct target_view *ret) {
        struct target_view v = { .fd = -1, .base = -1 };
        int error = 0;

        run_enter(r, PHASE_LOOKUP);
        if (t->path[0] == '\0') {
                if (t->setup->follow)
                        error = resolve_path(t);
                else
                        (void) memcpy(t->path, t->setup->path, sizeof t->path);
        }
        if (error == 0)
                error = v.base = v.fd = open_directory(AT_FDCWD, t->path, RESOLVE_NO_SYMLINKS);
        if (error >= 0)
                error = inspect(t, &v);
        if (error == 0)
                error = enter_machine_directory(t, &v);
        run_leave(r);
        if (error < 0) {
                target_close(&v);
                return error;
        }
        *ret = v;
        return 0;
}

void target_close(struct target_view *v) {
        if (v->fd >= 0 && v->fd != v->base)
                (void) close(v->fd);
        if (v->base >= 0)
                (void) close(v->base);
        v->fd = v->base = -1;
}
