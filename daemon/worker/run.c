/*
 * What the kinds share; see worker/run.h.
 */
#include "worker/run.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/units.h"

/* A sleep is cut into pieces of this length, since the page's cancel word wakes nobody. */
#define SLEEP_PIECE_NS (50 * UNITS_NS_PER_MS)

int run_init(struct run *r) {
        const struct spec *s = r->spec;
        uint64_t seed = 0;
        int error;

        if (getrandom(&seed, sizeof seed, 0) != (ssize_t) sizeof seed)
                return -errno;
        error = pattern_new(&r->pattern, s->data, s->compressible_percent, seed);
        if (error < 0)
                return error;

        r->buffer_bytes = s->block_bytes > RUN_BUFFER_MIN_BYTES ? (size_t) s->block_bytes : RUN_BUFFER_MIN_BYTES;
        void *buffer = mmap(NULL, r->buffer_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (buffer == MAP_FAILED) {
                error = -errno;
                r->pattern = pattern_free(r->pattern);
                return error;
        }
        r->buffer = buffer;
        return 0;
}

void run_done(struct run *r) {
        r->pattern = pattern_free(r->pattern);
        if (r->buffer)
                (void) munmap(r->buffer, r->buffer_bytes);
        r->buffer = NULL;
}

void run_mark_started(struct run *r) {
        struct timespec t;

        clock_gettime(CLOCK_REALTIME, &t);
        r->report->started_realtime_ns = (uint64_t) t.tv_sec * UNITS_NS_PER_SECOND + (uint64_t) t.tv_nsec;
}

int run_write_all(int fd, const void *data, size_t bytes, uint64_t offset) {
        const uint8_t *from = data;

        while (bytes > 0) {
                ssize_t n = pwrite(fd, from, bytes, (off_t) offset);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0) /* not an error by the manual, and no progress either */
                        return -EIO;
                from += n;
                bytes -= (size_t) n;
                offset += (uint64_t) n;
        }
        return 0;
}

int run_sync(const struct run *r, int fd) {
        int n;

        do
                n = r->spec->sync == SYNC_FSYNC ? fsync(fd) : fdatasync(fd);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : 0;
}

int run_lay_out(struct run *r, int fd, uint64_t from, uint64_t size) {
        int error = 0;

        for (uint64_t at = from; at < size && error == 0;) {
                size_t n = size - at < RUN_BUFFER_MIN_BYTES ? (size_t) (size - at) : RUN_BUFFER_MIN_BYTES;

                if (run_is_cancelled(r))
                        return -ECANCELED;
                pattern_fill(r->pattern, r->buffer, n);
                run_enter(r, PHASE_WRITE);
                error = run_write_all(fd, r->buffer, n, at);
                run_leave(r);
                if (error == 0)
                        r->report->laid_out_bytes += n;
                at += n;
        }
        if (error < 0)
                return error;
        run_enter(r, PHASE_SYNC);
        error = run_sync(r, fd);
        run_leave(r);
        return error;
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

bool run_is_complete(struct run *r, uint64_t started_ns, uint64_t now_ns) {
        const struct spec *s = r->spec;

        if (s->count > 0 && s->kind != KIND_STREAM && r->report->samples >= s->count)
                return true;
        if (s->duration_ns > 0 && now_ns - started_ns >= s->duration_ns)
                return true;
        if (s->max_duration_ns > 0 && now_ns - started_ns >= s->max_duration_ns) {
                r->report->truncated = true;
                return true;
        }
        return false;
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
