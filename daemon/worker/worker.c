/*
 * syncprobe-worker: does every call that touches a target, and nothing else.
 *
 * One setup, then one run after the other. Between runs no descriptor, working
 * directory or mapping lies below the target, so that umount never finds it busy.
 * It may hang in any system call for ever: its parent watches, and does not wait.
 */
#include "worker/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/commit.h"
#include "worker/create.h"
#include "worker/mapper.h"
#include "worker/pulse.h"
#include "worker/sandbox.h"
#include "worker/stream.h"
#include "worker/sweep.h"
#include "worker/target.h"

volatile sig_atomic_t run_terminated;

struct worker {
        struct proto_page *page;
        struct proto_setup setup;
        struct target target;
        uint32_t machine;
};

static void on_terminate(int signal) {
        (void) signal;
        run_terminated = 1;
}

static void set_up_signals(void) {
        struct sigaction terminate = { .sa_handler = on_terminate }; /* no SA_RESTART: sleeps end */
        struct sigaction ignore = { .sa_handler = SIG_IGN };

        (void) sigaction(SIGTERM, &terminate, NULL);
        (void) sigaction(SIGINT, &ignore, NULL);
        (void) sigaction(SIGHUP, &ignore, NULL);
        (void) sigaction(SIGPIPE, &ignore, NULL);
        (void) sigaction(SIGXFSZ, &ignore, NULL); /* a file size limit is EFBIG, and a failed run */
}

/* The type of the message, 0 at EOF or SIGTERM, or -errno. */
static int receive(union proto_message *m) {
        ssize_t n;

        do
                n = recv(PROTO_SOCKET_FD, m, sizeof *m, MSG_TRUNC);
        while (n < 0 && errno == EINTR && !run_terminated);
        if (n == 0 || run_terminated)
                return 0;
        return n < 0 ? -errno : proto_check(m, (size_t) n);
}

static int answer(const union proto_message *m) {
        ssize_t n;

        do
                n = send(PROTO_SOCKET_FD, m, m->header.length, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : 0;
}

static enum reason reason_of(int error) {
        return reason_from_errno(-error);
}

/* Looks the target up, closes the sandbox around it, and tells the parent. */
static int handle_setup(struct worker *w, const struct proto_setup *setup) {
        union proto_message m;
        struct run r = { .page = w->page };
        struct target_view view;
        char eight[9] = { 0 };
        int error;

        w->setup = *setup;
        w->target = (struct target) { .setup = &w->setup };
        (void) memcpy(eight, setup->machine, 8);
        w->machine = (uint32_t) strtoul(eight, NULL, 16);

        proto_init(&m, PROTO_READY);
        error = target_open(&r, &w->target, &view);
        (void) memcpy(m.ready.path, w->target.path, sizeof m.ready.path);
        if (error == 0) {
                m.ready.device = view.device;
                m.ready.mount_id = w->target.mount;
                (void) memcpy(m.ready.fstype, view.fstype, sizeof m.ready.fstype);
                if (chdir("/") < 0)
                        error = -errno;
                if (error == 0)
                        error = sandbox_enter(view.base);
                run_enter(&r, PHASE_CLOSE);
                target_close(&view);
                run_leave(&r);
        }
        if (error < 0) {
                m.ready.reason = reason_of(error);
                m.ready.error = -error;
                m.ready.phase = r.phase;
        }
        int sent = answer(&m);

        return error < 0 ? error : sent;
}

static int (*const kinds[KIND_COUNT_])(struct run *) = {
        [KIND_STREAM] = stream_run,
        [KIND_COMMIT] = commit_run,
        [KIND_CREATE] = create_run,
        [KIND_PULSE] = pulse_run,
};

static int run_kind(struct run *r) {
        int error = run_init(r);

        if (error == 0)
                error = kinds[r->spec->kind](r);
        run_done(r);
        return error;
}

static void begin_page(struct proto_page *page) {
        atomic_store_explicit(&page->samples, 0, memory_order_relaxed);
        atomic_store_explicit(&page->written_bytes, 0, memory_order_relaxed);
        atomic_store_explicit(&page->progress_total, 0, memory_order_relaxed);
        histogram_reset(&page->sync);
        histogram_reset(&page->write);
}

/* A lookup, a sweep, a run, in the directory opened for just this. */
static int handle_order(struct worker *w, struct run *r) {
        struct target_view view;
        int error = target_open(r, &w->target, &view);

        /* EACCES, where there was none: so Landlock answers below a mount made since. */
        if (error == -EXDEV || error == -EACCES) {
                r->report->changed = true;
                return -ESTALE;
        }
        if (error < 0)
                return error;
        r->directory = view.fd;
        r->report->device = view.device;
        (void) memcpy(r->report->fstype, view.fstype, sizeof view.fstype);
        if ((r->order->flags & PROTO_RUN_LOOKUP) == 0) {
                if (r->spec->kind != KIND_PULSE)
                        error = sweep_directory(r, &w->setup);
                if (error == 0)
                        watch_others(r);
                if (error == 0)
                        error = run_kind(r);
                if (error == 0)
                        watch_others(r);
        }

        enum phase phase = r->phase;

        run_enter(r, PHASE_CLOSE);
        target_close(&view);
        run_leave(r);
        r->phase = phase;
        return error;
}

static int handle_run(struct worker *w, const struct proto_run *order) {
        union proto_message m;
        struct run r = { .page = w->page, .order = order, .spec = &order->spec, .machine = w->machine };
        int error;

        proto_init(&m, PROTO_REPORT);
        r.report = &m.report;
        m.report.id = order->id;
        proto_evidence_init(&m.report.evidence);
        begin_page(w->page);
        run_start(&r); /* and again where the timed part begins */

        error = handle_order(w, &r);
        m.report.samples = r.samples;
        m.report.written_bytes = r.written_bytes;
        if (error < 0) {
                bool skipped = error == -ENOSPC && r.phase == PHASE_LOOKUP && m.report.written_bytes == 0 &&
                               run_is_asked_for_space(&r);

                m.report.outcome = skipped ? OUTCOME_SKIPPED : OUTCOME_FAILED;
                m.report.reason = skipped ? REASON_NONE : reason_of(error);
                m.report.error = -error;
                m.report.phase = r.phase;
        }
        return answer(&m);
}

/* The other role. */
static int handle_map(const struct proto_map *map) {
        static union proto_message m; /* large */

        mapper_answer(map, &m);
        return answer(&m);
}

int worker_main(void) {
        struct worker w = { .page = NULL };
        union proto_message m;
        void *page;
        int type;

        set_up_signals();
        if (sandbox_prepare() < 0)
                return EXIT_FAILURE;
        page = mmap(NULL, sizeof *w.page, PROT_READ | PROT_WRITE, MAP_SHARED, PROTO_PAGE_FD, 0);
        if (page == MAP_FAILED)
                return EXIT_FAILURE;
        w.page = page;
        (void) close(PROTO_PAGE_FD);

        type = receive(&m);
        if (type == PROTO_MAP)
                return handle_map(&m.map) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        if (type != PROTO_SETUP || handle_setup(&w, &m.setup) < 0)
                return EXIT_FAILURE;
        while ((type = receive(&m)) == PROTO_RUN) {
                struct proto_run order = m.run;

                if (handle_run(&w, &order) < 0)
                        return EXIT_FAILURE;
        }
        return type == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
