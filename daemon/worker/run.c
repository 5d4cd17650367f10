/*
 * What the kinds share; see worker/run.h.
 */
#include "worker/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/units.h"

/* A sleep is cut into pieces of this length, since the page's cancel word wakes nobody. */
#define SLEEP_PIECE_NS (50 * UNITS_NS_PER_MS)

int run_init(struct run *r) {
        const struct spec *s = r->spec;
        uint64_t seed = 0;

        if (getrandom(&seed, sizeof seed, 0) != (ssize_t) sizeof seed)
                return -errno;
        return pattern_new(&r->pattern, s->data, s->compressible_percent,
                           s->block_bytes > RUN_LAYOUT_BYTES ? (size_t) s->block_bytes : RUN_LAYOUT_BYTES, seed);
}

void run_done(struct run *r) {
        r->pattern = pattern_free(r->pattern);
}

static uint64_t earlier(uint64_t a, uint64_t b) {
        return a < b ? a : b;
}

void run_start(struct run *r) {
        const struct spec *s = r->spec;
        uint64_t total = s->kind == KIND_STREAM ? s->size_bytes : s->count;
        struct timespec t;

        clock_gettime(CLOCK_REALTIME, &t);
        r->report->started_realtime_ns = (uint64_t) t.tv_sec * UNITS_NS_PER_SECOND + (uint64_t) t.tv_nsec;
        atomic_store_explicit(&r->page->progress_total, total, memory_order_relaxed);
        r->started_ns = run_now_ns();
        r->stop_samples = s->count > 0 && s->kind != KIND_STREAM ? s->count : UINT64_MAX;
        r->stop_ns = earlier(s->duration_ns > 0 ? r->started_ns + s->duration_ns : UINT64_MAX,
                             s->max_duration_ns > 0 ? r->started_ns + s->max_duration_ns : UINT64_MAX);
}

bool run_is_over_at(struct run *r, uint64_t now_ns) {
        const struct spec *s = r->spec;
        bool reached = r->samples >= r->stop_samples || (s->duration_ns > 0 && now_ns - r->started_ns >= s->duration_ns);

        if (!reached)
                r->report->truncated = true;
        return true;
}

int run_write_rest(int fd, const void *data, size_t bytes, uint64_t offset, ssize_t written) {
        const uint8_t *from = data;

        for (;;) {
                if (written < 0 && errno != EINTR)
                        return -errno;
                if (written == 0) /* not an error by the manual, and no progress either */
                        return -EIO;
                if (written > 0) {
                        from += written;
                        bytes -= (size_t) written;
                        offset += (uint64_t) written;
                }
                if (bytes == 0)
                        return 0;
                written = pwrite(fd, from, bytes, (off_t) offset);
        }
}

int run_lay_out(struct run *r, int fd, uint64_t from, uint64_t size) {
        int error = 0;

        for (uint64_t at = from; at < size && error == 0;) {
                size_t n = size - at < RUN_LAYOUT_BYTES ? (size_t) (size - at) : RUN_LAYOUT_BYTES;
                const void *data;

                if (run_is_cancelled(r))
                        return -ECANCELED;
                data = pattern_next(r->pattern, n);
                run_enter(r, PHASE_WRITE);
                error = run_write_all(fd, data, n, at);
                run_leave(r);
                if (error == 0)
                        r->report->laid_out_bytes += n;
                at += n;
        }
        if (error < 0)
                return error;
        run_enter(r, PHASE_SYNC);
        error = run_sync(r, fd);
        if (error == 0) /* fio does so too: an overwrite in the large folios of this writing is another test */
                (void) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        run_leave(r);
        return error;
}

bool run_is_on_memory(const struct run *r) {
        return strcmp(r->report->fstype, "tmpfs") == 0 || strcmp(r->report->fstype, "ramfs") == 0;
}

int run_sleep_until(struct run *r, uint64_t until_ns) {
        for (;;) {
                uint64_t now = run_now_ns();

                if (run_is_cancelled(r))
                        return -ECANCELED;
                if (now >= until_ns)
                        return 0;

                uint64_t piece = until_ns - now < SLEEP_PIECE_NS ? until_ns - now : SLEEP_PIECE_NS;
                struct timespec t = { .tv_nsec = (long) piece };

                (void) clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
        }
}

/* What has to stay free: the smaller of what the order names. */
static uint64_t floor_bytes(const struct proto_run *order, const struct statfs *s) {
        uint64_t share = (uint64_t) s->f_blocks / 100 * order->min_free_percent * (uint64_t) s->f_bsize;

        if (order->min_free_percent == 0)
                return order->min_free_bytes;
        return order->min_free_bytes > 0 && order->min_free_bytes < share ? order->min_free_bytes : share;
}

int run_check_space(struct run *r, uint64_t bytes) {
        struct statfs s;
        int n;

        if (!run_is_asked_for_space(r))
                return 0;
        run_enter(r, PHASE_LOOKUP);
        do
                n = fstatfs(r->directory, &s);
        while (n < 0 && errno == EINTR);
        run_leave(r);
        if (n < 0)
                return -errno;

        uint64_t available = (uint64_t) s.f_bavail * (uint64_t) s.f_bsize;

        /* Twice: the file, and room for what others write meanwhile. */
        if (available / 2 < bytes || available - bytes < floor_bytes(r->order, &s))
                return -ENOSPC;
        return 0;
}
