/*
 * ownfile - the files that a run makes, and no others.
 *
 * Made with O_CREAT|O_EXCL|O_NOFOLLOW below the opened directory under a name
 * of core/ownname.h, with one link, locked (flock) for as long as they are
 * open, so that a left-over is told from a living one, and unlinked at the end.
 * Not O_TMPFILE and not unlinked early: btrfs long skipped the log sync of
 * files without a link (such a test measures nothing), and NFS and FUSE rename
 * them to names that no one finds again.
 *
 * All functions announce their phases through run.h, and block as it does.
 */
#ifndef SYNCPROBE_WORKER_OWNFILE_H
#define SYNCPROBE_WORKER_OWNFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/ownname.h"
#include "worker/run.h"

struct ownfile {
        int fd; /* -1 while closed */
        char name[OWNNAME_BYTES];
        dev_t device;
        ino_t inode;
};

#define OWNFILE_CLOSED ((struct ownfile) { .fd = -1 })

/* A new empty file; @flags are added to those of open (O_DIRECT, O_DSYNC). */
int ownfile_create(struct run *r, int flags, struct ownfile *ret);

/*
 * The kept file of order->kept_token, made if it is not there (*ret_created).
 * What stands under its name and is not a regular file of ours with one link is
 * left alone: -EEXIST.
 */
int ownfile_open_kept(struct run *r, int flags, struct ownfile *ret, bool *ret_created);

/* A file of before, opened again; -ESTALE where another stands under the name. */
int ownfile_reopen(struct run *r, int flags, struct ownfile *f);

/* Closes; a kernel that reports a lost write only here is heard. */
int ownfile_close(struct run *r, struct ownfile *f);

/* Closes (an error is not told) and removes the file, if it still is the one that
 * was made. One retry, so that a passing fault leaves nothing behind; the first
 * error is returned all the same. Nothing to do if there was none. */
int ownfile_remove(struct run *r, struct ownfile *f);

/* st_blocks * 512 of the closed file, or PROTO_UNKNOWN. */
uint64_t ownfile_allocated_bytes(struct run *r, const struct ownfile *f);

/* Drops the file's own pages from the page cache. */
void ownfile_drop_cache(struct run *r, struct ownfile *f);

/* A new private directory of mode 0700, opened and locked; -errno. */
int ownfile_create_directory(struct run *r, struct ownfile *ret);
/* Removes it with its files tf_0.dat … tf_299.dat, and nothing else in it. */
int ownfile_remove_directory(struct run *r, struct ownfile *d);
/* The i-th of those names. */
#define OWNFILE_MEMBER_BYTES 16
void ownfile_member_name(char out[OWNFILE_MEMBER_BYTES], unsigned i);

#endif
