/*
 * stream: one file from end to end and one fdatasync, as
 * `dd if=… of=FILE bs=block conv=fdatasync` does; elapsed is counted as dd
 * counts it, from before the first write to after the close, in one unbroken span.
 *
 * Eager write-back: every finished slice is started on its way at once
 * (sync_file_range), and no more than a window of them may wait, as much as drains
 * in 100 ms at the rate seen. One large flush at the end makes the small syncs of
 * every neighbour on the file system wait for seconds (measured: 5 s on ext4
 * and 6 s on xfs for 512 MiB at 100 MiB/s; in slices 0.14 s, at the same rate).
 * Lazy is dd to the letter.
 */
#include "worker/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/units.h"
#include "worker/ownfile.h"

#define SLICE_BYTES (UINT64_C(8) << 20)
#define WINDOW_MIN_BYTES (2 * SLICE_BYTES)
#define WINDOW_MAX_BYTES (UINT64_C(256) << 20)
#define WINDOW_DRAIN_NS (100 * UNITS_NS_PER_MS)

/* How often the free space is looked at again while writing. */
#define SPACE_CHECK_BYTES (UINT64_C(64) << 20)

struct stream {
        struct ownfile file;
        uint64_t end_bytes;      /* UINT64_MAX: until the duration is over */
        uint64_t begun_bytes;    /* write-back was started up to here */
        uint64_t drained_bytes;  /* and is known to be over up to here */
        uint64_t drain_started_ns;
        uint64_t unchecked_bytes;/* written since the last look at the free space */
        uint64_t excluded_ns;    /* spent on looking at it: never timed */
        bool no_write_back;      /* the file system has no sync_file_range */
};

/* A wait in here is a wait for the device: the phase is sync. An error is the
 * write-back's own, told once a descriptor: whoever overlooks it here gets
 * success from the fdatasync at the end. */
static int write_back(struct run *r, struct stream *s, uint64_t from, uint64_t to, unsigned flags) {
        int n;

        run_enter(r, PHASE_SYNC);
        do
                n = sync_file_range(s->file.fd, (off_t) from, (off_t) (to - from), flags);
        while (n < 0 && errno == EINTR);
        run_leave(r);
        if (n < 0 && (errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL || errno == ESPIPE)) {
                s->no_write_back = true;
                return 0;
        }
        return n < 0 ? -errno : 0;
}

static uint64_t window_bytes(const struct stream *s, uint64_t now_ns) {
        uint64_t window = WINDOW_MIN_BYTES;

        if (s->drained_bytes > 0 && now_ns > s->drain_started_ns)
                window = (uint64_t) ((double) s->drained_bytes / (double) (now_ns - s->drain_started_ns) *
                                     (double) WINDOW_DRAIN_NS);
        if (window < WINDOW_MIN_BYTES)
                return WINDOW_MIN_BYTES;
        return window < WINDOW_MAX_BYTES ? window : WINDOW_MAX_BYTES;
}

static int keep_write_back_going(struct run *r, struct stream *s, uint64_t written) {
        int error = 0;

        if (r->spec->writeback != WRITEBACK_EAGER || s->no_write_back || written - s->begun_bytes < SLICE_BYTES)
                return 0;
        if (s->begun_bytes == 0)
                s->drain_started_ns = run_now_ns();
        error = write_back(r, s, s->begun_bytes, written, SYNC_FILE_RANGE_WRITE);
        s->begun_bytes = written;
        while (error == 0 && !s->no_write_back &&
               s->begun_bytes - s->drained_bytes > window_bytes(s, run_now_ns())) {
                uint64_t to = s->drained_bytes + SLICE_BYTES;

                error = write_back(r, s, s->drained_bytes, to,
                                   SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                                           SYNC_FILE_RANGE_WAIT_AFTER);
                s->drained_bytes = to;
        }
        return error;
}

static enum proto_effect write_back_effect(const struct run *r, const struct stream *s) {
        if (r->spec->writeback != WRITEBACK_EAGER)
                return PROTO_EFFECT_UNKNOWN;
        /* ZFS accepts it and does nothing: it keeps its dirty data elsewhere. */
        if (s->no_write_back || s->begun_bytes == 0 || run_is_on_memory(r) || strcmp(r->report->fstype, "zfs") == 0)
                return PROTO_EFFECT_NONE;
        return PROTO_EFFECT_SEEN;
}

static int keep_rate(struct run *r, uint64_t written) {
        if (r->spec->max_rate_bytes == 0)
                return 0;
        return run_sleep_until(r, r->started_ns + (uint64_t) ((double) written / (double) r->spec->max_rate_bytes *
                                                              (double) UNITS_NS_PER_SECOND));
}

static int keep_space(struct run *r, struct stream *s, size_t bytes) {
        if (!run_is_asked_for_space(r))
                return 0;
        s->unchecked_bytes += bytes;
        if (s->unchecked_bytes < SPACE_CHECK_BYTES)
                return 0;

        uint64_t before = run_now_ns();
        int error = run_check_space(r, 0);

        s->unchecked_bytes = 0;
        s->excluded_ns += run_now_ns() - before;
        return error;
}

static int stream_write(struct run *r, struct stream *s) {
        size_t block = (size_t) r->spec->block_bytes;
        uint64_t offset = 0, now;
        int error = 0;

        while (r->written_bytes < s->end_bytes && error == 0) {
                size_t n = s->end_bytes - r->written_bytes < block
                                   ? (size_t) (s->end_bytes - r->written_bytes)
                                   : block;
                const void *data;
                uint64_t before;

                if (run_is_cancelled(r))
                        return -ECANCELED;
                data = pattern_next(r->pattern, n);
                before = run_now_ns();
                run_enter_at(r, PHASE_WRITE, before);
                error = run_write_all(s->file.fd, data, n, offset);
                now = run_now_ns();
                run_leave(r);
                if (error < 0)
                        return error;
                histogram_add(&r->page->write, now - before);
                r->written_bytes += n;
                offset += n;
                atomic_store_explicit(&r->page->written_bytes, r->written_bytes, memory_order_relaxed);

                error = keep_write_back_going(r, s, r->written_bytes);
                if (error == 0)
                        error = keep_space(r, s, n);
                if (error == 0)
                        error = keep_rate(r, r->written_bytes);
                if (run_is_complete(r, now))
                        break;
        }
        return error;
}

/* The timed part. */
static int stream_measure(struct run *r, struct stream *s) {
        uint64_t before, after;
        int error;

        watch_begin(r);
        run_start(r);
        error = stream_write(r, s);
        if (error < 0)
                return error;
        before = run_now_ns();
        run_enter_at(r, PHASE_SYNC, before);
        error = run_sync(r, s->file.fd);
        after = run_now_ns();
        run_leave(r);
        if (error < 0)
                return error;
        histogram_add(&r->page->sync, after - before);
        error = ownfile_close(r, &s->file);
        r->report->elapsed_ns = run_now_ns() - r->started_ns - s->excluded_ns;
        watch_end(r);
        r->samples = 1;
        atomic_store_explicit(&r->page->samples, 1, memory_order_relaxed);
        return error;
}

/* With reuse the file is there, whole, before the clock starts, in the first run as in every other. */
static int prepare_reuse(struct run *r, struct stream *s, bool kept) {
        struct stat st;
        bool created;
        int error;

        error = kept ? ownfile_open_kept(r, 0, &s->file, &created) : ownfile_create(r, 0, &s->file);
        if (error < 0)
                return error;
        if (fstat(s->file.fd, &st) < 0)
                return -errno;
        if ((uint64_t) st.st_size > s->end_bytes && ftruncate(s->file.fd, (off_t) s->end_bytes) < 0)
                return -errno;
        if ((uint64_t) st.st_size >= s->end_bytes)
                return 0;
        error = run_check_space(r, s->end_bytes - (uint64_t) st.st_size);
        if (error < 0)
                return error;
        return run_lay_out(r, s->file.fd, (uint64_t) st.st_size, s->end_bytes);
}

int stream_run(struct run *r) {
        const struct spec *spec = r->spec;
        bool kept = spec->reuse && (r->order->flags & PROTO_RUN_KEPT) != 0;
        struct stream s = {
                .file = OWNFILE_CLOSED,
                .end_bytes = spec->size_bytes > 0 ? spec->size_bytes : UINT64_MAX,
        };
        enum phase phase;
        int error, last = 0;

        error = run_check_space(r, spec->reuse ? 0 : spec->size_bytes);
        if (error < 0)
                return error;
        error = spec->reuse ? prepare_reuse(r, &s, kept) : ownfile_create(r, 0, &s.file);
        if (error == 0)
                error = stream_measure(r, &s);
        if (error == 0) {
                r->report->writeback = write_back_effect(r, &s);
                watch_file(r, &s.file);
        }
        phase = r->phase;
        if (kept) {
                (void) ownfile_close(r, &s.file);
                ownfile_drop_cache(r, &s.file);
        } else {
                last = ownfile_remove(r, &s.file);
        }
        if (error < 0)
                r->phase = phase;
        return error < 0 ? error : last;
}
