/*
 * commit: small writes, each made durable before the next; what a database's
 * log, etcd and a guest's journal wait for. As fio --fdatasync=1 --rw=write.
 *
 * Every sample syncs bytes that it has just made dirty: a sync alone proves
 * nothing. Data are made between the timed calls. Three clock readings a sample:
 * before the write, between, and after the sync.
 */
#include "worker/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "worker/ownfile.h"

static int open_flags(const struct spec *s) {
        return (s->direct ? O_DIRECT : 0) | (s->sync == SYNC_DSYNC ? O_DSYNC : 0);
}

/* Before the timed part: the blocks that overwrite goes over, or the extents that prealloc fills. */
static int prepare_file(struct run *r, const struct ownfile *f) {
        const struct spec *s = r->spec;
        int n;

        if (s->layout == LAYOUT_OVERWRITE)
                return run_lay_out(r, f->fd, 0, s->size_bytes / s->block_bytes * s->block_bytes);
        if (s->layout == LAYOUT_APPEND)
                return 0;

        run_enter(r, PHASE_CREATE);
        do
                n = fallocate(f->fd, 0, 0, (off_t) s->size_bytes);
        while (n < 0 && errno == EINTR);
        n = n < 0 ? -errno : run_sync(r, f->fd);
        run_leave(r);
        return n;
}

/* One sample; *ret_now: when it was over. The call stays announced until the next
 * one is: what lies between takes less than a microsecond. */
static int commit_once(struct run *r, int fd, uint64_t offset, uint64_t *ret_now) {
        const struct spec *s = r->spec;
        const void *data = pattern_next(r->pattern, (size_t) s->block_bytes);
        uint64_t before, between, after;
        int error;

        before = run_now_ns();
        run_enter_at(r, PHASE_WRITE, before);
        error = run_write_all(fd, data, (size_t) s->block_bytes, offset);
        between = run_now_ns();
        if (s->sync == SYNC_DSYNC) { /* the write itself is the sync */
                if (error < 0)
                        return error;
                histogram_add(&r->page->sync, between - before);
                *ret_now = between;
                return 0;
        }
        if (error == 0) {
                run_enter_at(r, PHASE_SYNC, between);
                error = run_sync(r, fd);
        }
        after = run_now_ns();
        if (error < 0)
                return error;
        histogram_add(&r->page->write, between - before);
        histogram_add(&r->page->sync, after - between);
        *ret_now = after;
        return 0;
}

static int commit_samples(struct run *r, int fd) {
        const struct spec *s = r->spec;
        uint64_t blocks = s->layout == LAYOUT_APPEND ? UINT64_MAX : s->size_bytes / s->block_bytes;
        uint64_t now = r->started_ns, block = 0;
        bool cached = !run_is_on_memory(r);
        int error = 0;

        do {
                if (run_is_cancelled(r)) {
                        error = -ECANCELED;
                        break;
                }
                error = commit_once(r, fd, block * s->block_bytes, &now);
                if (error < 0)
                        break;
                run_count_sample(r, s->block_bytes);
                if (++block == blocks) {
                        if (s->layout == LAYOUT_PREALLOC) /* going round would overwrite: another test */
                                break;
                        block = 0;
                        /* Each round begins with none of the file cached, as fio's do: overwriting
                         * pages of the round before makes a sync some percent slower. */
                        if (cached)
                                (void) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
                }
        } while (!run_is_complete(r, now));
        run_leave(r);
        r->report->elapsed_ns = now - r->started_ns;
        return error;
}

int commit_run(struct run *r) {
        struct ownfile f = OWNFILE_CLOSED;
        int error, last;
        enum phase phase;

        error = run_check_space(r, spec_file_bytes(r->spec));
        if (error < 0)
                return error;
        error = ownfile_create(r, open_flags(r->spec), &f);
        if (error < 0)
                return error;
        error = prepare_file(r, &f);
        if (error == 0) {
                watch_begin(r);
                run_start(r);
                error = commit_samples(r, f.fd);
                watch_end(r);
        }
        if (error == 0)
                error = ownfile_close(r, &f);
        if (error == 0)
                watch_file(r, &f);
        phase = r->phase;
        last = ownfile_remove(r, &f);
        if (error < 0)
                r->phase = phase;
        return error < 0 ? error : last;
}
