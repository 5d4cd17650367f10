/*
 * create: what Proxmox's pveperf does for its FSYNCS/SECOND.
 *
 * For three seconds it creates or truncates one of 300 files in turn, prints 4001
 * bytes into perl's buffer, calls fsync while they are still in the buffer, and
 * closes, which writes them. So the system calls are open, fsync, write, close, and each
 * fsync makes a new or emptied file durable and never its data. The figure is
 * files / elapsed. `durable` gives the order that one would expect: open, write,
 * fsync, close. Both work in a private directory, removed afterwards (not timed).
 */
#include "worker/create.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "worker/ownfile.h"

/* The data of one file, and the sync, each timed. */
static int timed_write(struct run *r, int fd, const void *data) {
        uint64_t before = run_now_ns();

        run_enter_at(r, PHASE_WRITE, before);
        int error = run_write_all(fd, data, SPEC_CREATE_BLOCK_BYTES, 0);
        if (error == 0)
                histogram_add(&r->page->write, run_now_ns() - before);
        return error;
}

static int timed_sync(struct run *r, int fd) {
        uint64_t before = run_now_ns();
        int n;

        run_enter_at(r, PHASE_SYNC, before);
        do
                n = fsync(fd);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        histogram_add(&r->page->sync, run_now_ns() - before);
        return 0;
}

static int create_once(struct run *r, int directory, unsigned i, const void *data) {
        char name[OWNFILE_MEMBER_BYTES];
        struct ownfile f = OWNFILE_CLOSED;
        int error;

        ownfile_member_name(name, i);
        run_enter(r, PHASE_CREATE);
        do
                f.fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        while (f.fd < 0 && errno == EINTR);
        if (f.fd < 0)
                return -errno;
        if (r->spec->durable) {
                error = timed_write(r, f.fd, data);
                if (error == 0)
                        error = timed_sync(r, f.fd);
        } else {
                error = timed_sync(r, f.fd);
                if (error == 0)
                        error = timed_write(r, f.fd, data);
        }
        if (error < 0) {
                (void) close(f.fd);
                return error;
        }
        return ownfile_close(r, &f);
}

static int create_samples(struct run *r, int directory) {
        uint64_t now = r->started_ns;
        int error = 0;

        /* From 1, as pveperf counts. */
        for (unsigned i = 1; error == 0; i++) {
                if (run_is_cancelled(r)) {
                        error = -ECANCELED;
                        break;
                }
                error = create_once(r, directory, i, pattern_next(r->pattern, SPEC_CREATE_BLOCK_BYTES));
                now = run_now_ns();
                if (error < 0)
                        break;
                run_count_sample(r, SPEC_CREATE_BLOCK_BYTES);
                if (run_is_complete(r, now))
                        break;
        }
        r->report->elapsed_ns = now - r->started_ns;
        return error;
}

int create_run(struct run *r) {
        struct ownfile d = OWNFILE_CLOSED;
        int error, last;
        enum phase phase;

        error = run_check_space(r, spec_file_bytes(r->spec));
        if (error < 0)
                return error;
        error = ownfile_create_directory(r, &d);
        if (error < 0)
                return error;
        watch_begin(r);
        run_start(r);
        error = create_samples(r, d.fd);
        run_leave(r);
        watch_end(r);
        phase = r->phase;
        last = ownfile_remove_directory(r, &d);
        if (error < 0)
                r->phase = phase;
        return error < 0 ? error : last;
}
