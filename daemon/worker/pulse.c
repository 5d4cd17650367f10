/*
 * pulse: one 4 KiB overwrite commit every period, the heartbeat of a storage.
 *
 * The small file is opened, checked and closed around each sample, so that
 * nothing is held below the target in between, and a target that was replaced, emptied
 * or unmounted meanwhile is noticed by the very next sample. The daemon orders the
 * samples one by one (count 1, a kept file); the command line orders them all
 * at once: then one more descriptor holds the file's lock, so that nobody takes it for
 * a left-over between two samples, and the file goes at the end.
 */
#include "worker/pulse.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/ownfile.h"

/* Lays the file out where it is short or has holes, as a new one is. */
static int ensure_laid_out(struct run *r, const struct ownfile *f) {
        struct stat st;

        if (fstat(f->fd, &st) < 0)
                return -errno;
        if ((uint64_t) st.st_size >= r->spec->size_bytes)
                return 0;
        return run_lay_out(r, f->fd, 0, r->spec->size_bytes);
}

static int pulse_once(struct run *r, struct ownfile *f) {
        uint64_t blocks = r->spec->size_bytes / r->spec->block_bytes;
        uint64_t offset = blocks > 1 ? r->samples % blocks * r->spec->block_bytes : 0;
        const void *data = pattern_next(r->pattern, (size_t) r->spec->block_bytes);
        uint64_t before, between, after;
        int error;

        before = run_now_ns();
        run_enter_at(r, PHASE_WRITE, before);
        error = run_write_all(f->fd, data, (size_t) r->spec->block_bytes, offset);
        between = run_now_ns();
        if (error == 0) {
                run_enter_at(r, PHASE_SYNC, between);
                error = run_sync(r, f->fd);
        }
        after = run_now_ns();
        run_leave(r);
        if (error < 0)
                return error;
        histogram_add(&r->page->write, between - before);
        histogram_add(&r->page->sync, after - between);
        error = ownfile_close(r, f);
        if (error == 0)
                run_count_sample(r, r->spec->block_bytes);
        return error;
}

static int pulse_samples(struct run *r, struct ownfile *f) {
        int error = 0;

        for (uint64_t turn = 1;; turn++) {
                if (run_is_cancelled(r)) {
                        error = -ECANCELED;
                        break;
                }
                if (f->fd < 0)
                        error = ownfile_reopen(r, 0, f);
                if (error == 0)
                        error = pulse_once(r, f);
                if (error < 0 || run_is_complete(r, run_now_ns()))
                        break;
                error = run_sleep_until(r, r->started_ns + turn * r->spec->period_ns);
                if (error < 0)
                        break;
        }
        r->report->elapsed_ns = run_now_ns() - r->started_ns;
        return error;
}

int pulse_run(struct run *r) {
        bool kept = (r->order->flags & PROTO_RUN_KEPT) != 0, created = false;
        struct ownfile f = OWNFILE_CLOSED;
        int error, lock = -1;
        enum phase phase;

        error = kept ? ownfile_open_kept(r, 0, &f, &created) : ownfile_create(r, 0, &f);
        if (error < 0)
                return error;
        if (!kept)
                lock = fcntl(f.fd, F_DUPFD_CLOEXEC, 0);
        error = !kept && lock < 0 ? -errno : ensure_laid_out(r, &f);
        if (error == 0) {
                watch_begin(r);
                run_start(r);
                error = pulse_samples(r, &f);
                watch_end(r);
        }
        phase = r->phase;
        if (lock >= 0)
                (void) close(lock);
        if (kept) {
                (void) ownfile_close(r, &f); /* a no-op after a good sample */
        } else {
                int last = ownfile_remove(r, &f);

                if (error == 0)
                        return last;
        }
        r->phase = phase;
        return error;
}
