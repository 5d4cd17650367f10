/*
 * Runs on one path; see cli/probe.h.
 *
 * Every wait is one poll on the worker's socket (its end shows there too) and
 * the signals. Nothing here touches the path itself, so that a dead storage
 * hangs the worker and never us: Ctrl-C always works.
 */
#include "cli/probe.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "child/machine.h"
#include "child/workerlink.h"
#include "core/units.h"

#define DRAW_EVERY_MS 100
/* A worker that tidies up for longer is told of. */
#define PATIENCE_NS UNITS_NS_PER_SECOND
/* How long the end of a worker is waited for once it has nothing to do. */
#define END_MS 5000
/* How long the child that maps the stack may take: zpool and zfs hang with their pool. */
#define MAP_NS (10 * UNITS_NS_PER_SECOND)

struct probe {
        const char *program, *given;
        struct interrupt *interrupt;
        struct progress *progress;
        struct workerlink *link; /* NULL: no worker */
        uint64_t next_id;
        bool refused;
        bool abandoned; /* the worker is left to itself */
        uint64_t interrupted_ns;
        char path[PROTO_PATH_BYTES];
        char fstype[PROTO_FSTYPE_BYTES];
        uint64_t device, mount_id;
        uint32_t accepted; /* CODE_BIT()s */
        struct stack *stack; /* owned; NULL: not mapped, or could not be */
};

/* What is known of a run that has no report. */
struct failure {
        bool reported; /* it has one */
        enum reason reason;
        enum phase phase;
        int error;
};

static uint64_t now_ns(clockid_t clock) {
        struct timespec t;

        clock_gettime(clock, &t);
        return (uint64_t) t.tv_sec * UNITS_NS_PER_SECOND + (uint64_t) t.tv_nsec;
}

int probe_new(struct probe **ret, const char *program, const char *path, struct interrupt *interrupt,
              struct progress *progress) {
        struct probe *p = malloc(sizeof *p);

        if (!p)
                return -ENOMEM;
        *p = (struct probe) {
                .program = program,
                .given = path,
                .interrupt = interrupt,
                .progress = progress,
        };
        *ret = p;
        return 0;
}

/* Takes the worker's end; *ret_status as waitpid's, -1 where it did not end in time. */
static void drop_worker(struct probe *p, int *ret_status) {
        struct workerlink *l = p->link;
        int status = -1;

        if (l && !p->abandoned) {
                struct pollfd ended = { .fd = workerlink_process(l)->pidfd, .events = POLLIN };

                workerlink_end(l);
                (void) poll(&ended, 1, END_MS);
                if (spawn_reap(workerlink_process(l), &status) != 1)
                        status = -1;
        }
        p->link = workerlink_free(l);
        if (ret_status)
                *ret_status = status;
}

struct probe *probe_free(struct probe *p) {
        if (p) {
                drop_worker(p, NULL);
                stack_unref(p->stack);
        }
        free(p);
        return NULL;
}

const char *probe_path(const struct probe *p) {
        return p->path[0] != '\0' ? p->path : p->given;
}

const char *probe_fstype(const struct probe *p) {
        return p->fstype;
}

struct stack *probe_stack(const struct probe *p) {
        return p->stack;
}

void probe_accept(struct probe *p, uint32_t codes) {
        p->accepted = codes;
}

bool probe_is_refused(const struct probe *p) {
        return p->refused;
}

/* --- waiting -------------------------------------------------------------- */

static void tell_call(const struct probe *p, const char *before, const char *after) {
        struct workerlink_progress w = { 0 };
        struct strbuf age;
        const char *text;
        uint64_t now = now_ns(CLOCK_MONOTONIC);

        workerlink_progress(p->link, now, &w);
        if (w.phase == PHASE_NONE) {
                fprintf(stderr, "syncprobe: %sthe worker on %s is busy%s\n", before, probe_path(p), after);
                return;
        }
        strbuf_init(&age);
        units_add_duration(&age, now - w.since_ns);
        if (strbuf_finish(&age, &text) < 0)
                text = "some time";
        fprintf(stderr, "syncprobe: %sthe worker on %s has been in a system call (%s) for %s%s\n", before,
                probe_path(p), phase_name(w.phase), text, after);
        strbuf_done(&age);
}

/* After a signal: the run is asked to end; the next signal ends the waiting. */
static int take_signals(struct probe *p) {
        unsigned before = p->interrupt->count;

        interrupt_read(p->interrupt);
        if (p->interrupt->count == before)
                return 0;
        progress_erase(p->progress);
        if (before == 0 && p->interrupt->count == 1) {
                workerlink_cancel(p->link);
                p->interrupted_ns = now_ns(CLOCK_MONOTONIC);
                return 0;
        }
        tell_call(p, "leaving, although ",
                  "; what it leaves behind is removed by the next run there");
        p->abandoned = true;
        return -ECANCELED;
}

static void grow_impatient(struct probe *p) {
        if (p->interrupted_ns == 0 || now_ns(CLOCK_MONOTONIC) - p->interrupted_ns < PATIENCE_NS)
                return;
        tell_call(p, "stopping, but ", "; Ctrl-C leaves without it");
        p->interrupted_ns = UINT64_MAX; /* once is enough */
}

static void draw(struct probe *p, struct progress_state *s) {
        if (!s || !p->progress->shown || p->interrupt->count > 0)
                return;
        s->now_ns = now_ns(CLOCK_MONOTONIC);
        workerlink_progress(p->link, s->now_ns, &s->worker);
        if (s->worker.samples == 0 && s->worker.written_bytes == 0)
                s->started_ns = s->now_ns; /* laying out is not measured */
        s->path = probe_path(p);
        progress_draw(p->progress, s);
}

/*
 * The worker's next message. Returns 0; -ECANCELED (a second signal); or what
 * workerlink_receive() says of a worker that has gone or lies.
 */
static int await_message(struct probe *p, union proto_message *ret, struct progress_state *state) {
        for (;;) {
                struct pollfd fds[] = {
                        { .fd = workerlink_socket(p->link), .events = POLLIN },
                        { .fd = p->interrupt->fd, .events = POLLIN },
                };
                bool ticking = p->progress->shown || p->interrupt->count > 0;
                int r = workerlink_receive(p->link, ret);

                if (r != 0)
                        return r > 0 ? 0 : r;
                r = take_signals(p);
                if (r < 0)
                        return r;
                draw(p, state);
                grow_impatient(p);
                if (poll(fds, 2, ticking ? DRAW_EVERY_MS : -1) < 0 && errno != EINTR)
                        return -errno;
        }
}

/* --- the worker ------------------------------------------------------------- */

/* Of a worker that ended without a word, or said what cannot be. Tells, and drops it. */
static void explain_end(struct probe *p, int error, struct failure *f) {
        int exec_error = spawn_exec_error(workerlink_process(p->link)), status;
        struct workerlink_progress w;

        workerlink_progress(p->link, now_ns(CLOCK_MONOTONIC), &w);
        *f = (struct failure) { .reason = REASON_INTERNAL, .phase = w.phase };
        progress_erase(p->progress);
        if (error != -ECONNRESET)
                (void) spawn_kill(workerlink_process(p->link), SIGKILL);
        drop_worker(p, &status);
        if (exec_error < 0)
                fprintf(stderr, "syncprobe: cannot start %s: %s\n", p->program, strerror(-exec_error));
        else if (error != -ECONNRESET)
                fprintf(stderr, "syncprobe: the worker on %s sent what cannot be: %s\n", probe_path(p), strerror(-error));
        else if (status != -1 && WIFSIGNALED(status))
                fprintf(stderr, "syncprobe: the worker on %s was killed by signal %d\n", probe_path(p), WTERMSIG(status));
        else
                fprintf(stderr, "syncprobe: the worker on %s ended unasked\n", probe_path(p));
}

/* The answer of the child that maps. 0; -ETIMEDOUT; or as workerlink_receive(). A signal ends the waiting. */
static int await_stack(struct probe *p, struct workerlink *child, union proto_message *ret) {
        uint64_t end = now_ns(CLOCK_MONOTONIC) + MAP_NS, now;

        while ((now = now_ns(CLOCK_MONOTONIC)) < end) {
                struct pollfd fds[] = {
                        { .fd = workerlink_socket(child), .events = POLLIN },
                        { .fd = p->interrupt->fd, .events = POLLIN },
                };
                int r = workerlink_receive(child, ret);

                if (r != 0)
                        return r > 0 ? 0 : r;
                interrupt_read(p->interrupt);
                if (p->interrupt->count > 0)
                        return -EINTR;
                if (poll(fds, 2, (int) ((end - now) / UNITS_NS_PER_MS) + 1) < 0 && errno != EINTR)
                        return -errno;
        }
        return -ETIMEDOUT;
}

/*
 * Finds out what lies under the path, by a child of its own, since zpool and zfs may
 * hang. Without an answer the results say that nobody looked.
 */
static void map_stack(struct probe *p) {
        struct workerlink *child;
        union proto_message m;
        struct pollfd ended = { .events = POLLIN };
        int r, status;

        p->stack = stack_unref(p->stack);
        r = workerlink_new(&child, p->program, "map");
        if (r < 0)
                return;
        proto_init(&m, PROTO_MAP);
        m.map.device = p->device;
        m.map.mount_id = p->mount_id;
        memcpy(m.map.path, p->path, sizeof m.map.path);
        r = workerlink_send(child, &m);
        if (r == 0)
                r = await_stack(p, child, &m);
        if (r == 0 && m.header.type == PROTO_STACK)
                (void) stack_new(&p->stack, &m.stack.stack);
        else if (r == -ETIMEDOUT)
                fprintf(stderr, "syncprobe: what lies under %s could not be found within %u s\n", probe_path(p),
                        (unsigned) (MAP_NS / UNITS_NS_PER_SECOND));
        if (r < 0)
                (void) spawn_kill(workerlink_process(child), SIGKILL);
        ended.fd = workerlink_process(child)->pidfd;
        (void) poll(&ended, 1, r < 0 ? 0 : END_MS);
        (void) spawn_reap(workerlink_process(child), &status);
        workerlink_free(child);
}

/* Sets the worker up. 0; -ECANCELED, -EINTR; or -ENODATA with *f saying why not. */
static int start_worker(struct probe *p, struct progress_state *state, struct failure *f) {
        union proto_message m;
        int r;

        *f = (struct failure) { .reason = REASON_INTERNAL };
        p->refused = false;
        if (strlen(p->given) >= sizeof m.setup.path) {
                *f = (struct failure) { .reason = REASON_NOTFOUND, .phase = PHASE_LOOKUP, .error = ENAMETOOLONG };
                p->refused = true;
                return -ENODATA;
        }
        r = workerlink_new(&p->link, p->program, p->given);
        if (r < 0) {
                f->error = -r;
                return -ENODATA;
        }
        proto_init(&m, PROTO_SETUP);
        memcpy(m.setup.path, p->given, strlen(p->given) + 1);
        machine_id(m.setup.machine);
        m.setup.follow = true;
        r = workerlink_send(p->link, &m);
        if (r == 0 || r == -EPIPE)
                r = await_message(p, &m, state);
        if (r == -ECANCELED)
                return r;
        if (r == 0 && m.header.type != PROTO_READY)
                r = -EBADMSG;
        if (r < 0) {
                explain_end(p, r, f);
                return -ENODATA;
        }
        if (m.ready.path[0] != '\0')
                memcpy(p->path, m.ready.path, sizeof p->path);
        memcpy(p->fstype, m.ready.fstype, sizeof p->fstype);
        if (m.ready.reason != REASON_NONE) {
                *f = (struct failure) { .reason = m.ready.reason, .phase = m.ready.phase, .error = m.ready.error };
                p->refused = true;
                drop_worker(p, NULL);
                return -ENODATA;
        }
        p->device = m.ready.device;
        p->mount_id = m.ready.mount_id;
        if (p->interrupt->count == 0)
                map_stack(p);
        return p->interrupt->count > 0 ? -EINTR : 0;
}

/* --- one run ---------------------------------------------------------------- */

/* Orders the run and takes its report. As start_worker(). */
static int order_run(struct probe *p, const struct spec *spec, uint64_t min_free_bytes, struct progress_state *state,
                     union proto_message *ret, struct failure *f) {
        union proto_message m;
        uint64_t id = ++p->next_id;
        int r;

        proto_init(&m, PROTO_RUN);
        m.run.id = id;
        m.run.min_free_bytes = min_free_bytes;
        m.run.spec = *spec;
        evidence_fill_order(&m.run, p->stack);
        r = workerlink_send(p->link, &m);
        if (r == 0 || r == -EPIPE)
                r = await_message(p, ret, state);
        if (r == -ECANCELED)
                return r;
        if (r == 0 && (ret->header.type != PROTO_REPORT || ret->report.id != id))
                r = -EBADMSG;
        if (r < 0) {
                explain_end(p, r, f);
                return -ENODATA;
        }
        return 0;
}

static int run_once(struct probe *p, const struct spec *spec, uint64_t min_free_bytes, struct progress_state *state,
                    struct result *ret, struct histogram *ret_sync, struct failure *f) {
        union proto_message m;
        struct histogram write;
        int r = 0;

        proto_init(&m, PROTO_REPORT);
        if (!p->link)
                r = start_worker(p, state, f);
        if (r == 0)
                r = order_run(p, spec, min_free_bytes, state, &m, f);
        if (r == 0 && m.report.changed) {
                /* Another directory stands there now: once more, with a worker that knows it. */
                drop_worker(p, NULL);
                r = start_worker(p, state, f);
                if (r == 0)
                        r = order_run(p, spec, min_free_bytes, state, &m, f);
        }
        if (r < 0)
                return r;
        if (workerlink_histograms(p->link, true, ret_sync, &write) < 0) {
                explain_end(p, -EBADMSG, f);
                return -ENODATA;
        }
        result_from_report(ret, spec, &m.report, ret_sync, &write);
        ret->ended_realtime_ns = now_ns(CLOCK_REALTIME);
        (void) result_judge(ret, p->stack, &m.report.evidence, p->accepted); /* judged all the same */
        f->reported = true;
        return p->interrupt->count > 0 ? -EINTR : 0;
}

int probe_run(struct probe *p, const struct spec *spec, const char *test, uint64_t min_free_bytes,
              struct result *ret, struct histogram *ret_sync) {
        struct progress_state state = { .test = test, .spec = spec, .started_ns = now_ns(CLOCK_MONOTONIC) };
        struct failure f = { .reason = REASON_INTERNAL };
        uint64_t started = now_ns(CLOCK_REALTIME);
        int r;

        histogram_reset(ret_sync);
        r = run_once(p, spec, min_free_bytes, &state, ret, ret_sync, &f);
        progress_erase(p->progress);
        if (!f.reported) {
                if (r == -EINTR || r == -ECANCELED)
                        f = (struct failure) { .reason = REASON_INTERRUPTED };
                result_from_failure(ret, spec, f.reason, f.phase, f.error, started, now_ns(CLOCK_REALTIME));
                memcpy(ret->fstype, p->fstype, sizeof ret->fstype);
        }
        return r == -ENODATA ? 0 : r;
}

int probe_look(struct probe *p, struct result *ret) {
        struct spec spec;
        struct failure f = { .reason = REASON_INTERNAL };
        uint64_t started = now_ns(CLOCK_REALTIME);
        int r = p->link ? 0 : start_worker(p, NULL, &f);

        if (r == 0)
                return 0;
        spec_init(&spec, KIND_PULSE);
        result_from_failure(ret, &spec, f.reason, f.phase, f.error, started, now_ns(CLOCK_REALTIME));
        return r;
}
