/*
 * A target and its worker; see main/target.h.
 *
 * The worker's life:   none → starting → ready ⇄ busy → ending → none
 *
 * It is `starting` until the answer to its setup; `ending` once its socket was
 * shut or it was killed, until the pidfd says that it is gone. A run begins in any state but
 * `ending`, and then waits for the start, if there is one, under the same deadline.
 */
#include "main/target.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>

#include "child/workerlink.h"
#include "core/strbuf.h"
#include "core/units.h"
#include "main/clock.h"
#include "main/log.h"
#include "main/status.h"
#include "main/under.h"

#define GROUP_BYTES (CONFIG_NAME_MAX + 16)

/* A worker that has nothing to do for so long is let go. */
#define REST_NS (60 * UNITS_NS_PER_SECOND)

/* A ready worker that is in no system call and does not answer either (stopped by a
 * signal, starved) has this much longer than its run may take. */
#define SILENCE_NS (60 * UNITS_NS_PER_SECOND)

enum worker { WORKER_NONE, WORKER_STARTING, WORKER_READY, WORKER_BUSY, WORKER_ENDING };

struct target {
        const struct target_host *host;
        const struct config_target *config;
        struct test *tests;
        char group[GROUP_BYTES];
        char fstype[PROTO_FSTYPE_BYTES];
        struct under under;
        enum reason trouble; /* why the newest run could not even begin, REASON_NONE if it could */
        bool failing;        /* the newest run failed: told once */

        enum worker worker;
        struct workerlink *link;
        uint64_t worker_started_ns;
        sd_event_source *on_socket, *on_exit, *on_exec, *on_deadline;

        struct test *running; /* the test whose run is in progress; NULL: none */
        uint64_t run_id;
        uint64_t run_started_ns, run_started_realtime_ns;
        bool overdue;       /* its failure has been told */
        bool killed;        /* SIGKILL was sent */
        bool begin_anew;    /* once its worker has gone: another mount stands at the path */
        bool begun_anew;    /* and that was done already: not for ever */
        uint64_t call_ns;   /* when the overdue call began */
        uint64_t stall_total_ns;
};

static void send_order(struct target *t);
static void begin_run(struct target *t);
static bool take_message(struct target *t);
static void finish_run(struct target *t, const struct proto_report *report, enum reason reason, enum phase phase,
                       int error);

/* --- telling --- */

static void tell_result(struct target *t, const struct test *test, const struct result *r) {
        struct strbuf b;
        const char *text;

        if (result_is_ok(r)) {
                if (t->failing)
                        log_info("target %s: test %s works again", t->config->name, test->config->name);
                t->failing = false;
                return;
        }
        if (t->failing)
                return; /* said when it began */
        t->failing = true;
        strbuf_init(&b);
        result_add_failure(&b, r);
        if (strbuf_finish(&b, &text) == 0)
                log_warning("target %s (%s): test %s failed: %s", t->config->name, t->config->path, test->config->name,
                            text);
        strbuf_done(&b);
}

/* --- the worker's end --- */

static void forget_worker(struct target *t) {
        t->on_socket = sd_event_source_disable_unref(t->on_socket);
        t->on_exit = sd_event_source_disable_unref(t->on_exit);
        t->on_exec = sd_event_source_disable_unref(t->on_exec);
        t->on_deadline = sd_event_source_disable_unref(t->on_deadline);
        t->link = workerlink_free(t->link);
        t->worker = WORKER_NONE;
        t->killed = false;
}

static void end_worker(struct target *t) {
        if (!t->link)
                return;
        t->on_socket = sd_event_source_disable_unref(t->on_socket);
        workerlink_end(t->link);
        t->worker = WORKER_ENDING;
}

void target_kill(struct target *t) {
        if (!t->link)
                return;
        (void) spawn_kill(workerlink_process(t->link), SIGKILL);
        t->killed = true;
        end_worker(t);
}

static void log_exit(const struct target *t, int status) {
        if (WIFSIGNALED(status) && !t->killed)
                log_error("target %s: its worker died of signal %d", t->config->name, WTERMSIG(status));
        else if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && t->worker != WORKER_ENDING)
                log_error("target %s: its worker ended with status %d", t->config->name, WEXITSTATUS(status));
}

static int on_exit_event(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        struct target *t = userdata;
        struct spawn *process = workerlink_process(t->link);
        struct workerlink_progress progress;
        int status, exec_error, r;

        (void) source;
        (void) fd;
        (void) events;
        r = spawn_reap(process, &status);
        if (r == 0)
                return 0;
        if (r < 0) /* somebody else has waited for it: gone all the same */
                status = 0;
        /* Its last words may have come with its end, and in this order be read after. */
        while (t->worker != WORKER_ENDING && take_message(t))
                ;
        exec_error = spawn_exec_error(process);
        if (exec_error < 0)
                log_error("cannot start %s: %s", t->host->worker_program, strerror(-exec_error));
        else
                log_exit(t, status);
        if (t->begin_anew && !t->overdue) {
                t->begin_anew = false;
                forget_worker(t);
                begin_run(t);
                return 0;
        }
        workerlink_progress(t->link, clock_monotonic_ns(), &progress);
        if (t->running)
                finish_run(t, NULL, t->overdue ? REASON_TIMEOUT : REASON_INTERNAL, progress.phase,
                           exec_error < 0 ? -exec_error : 0);
        forget_worker(t);
        t->host->on_free(t->host->userdata);
        return 0;
}

/* --- deadlines --- */

/* Since when the call in progress lasts (or the start of the worker); UINT64_MAX: none does. */
static uint64_t waiting_since_ns(const struct target *t, uint64_t now, enum phase *ret_phase) {
        struct workerlink_progress progress;

        *ret_phase = PHASE_NONE;
        if (!t->running || !t->link)
                return UINT64_MAX;
        workerlink_progress(t->link, now, &progress);
        *ret_phase = progress.phase;
        if (progress.phase != PHASE_NONE)
                return progress.since_ns;
        if (t->worker == WORKER_STARTING)
                return t->worker_started_ns;
        return UINT64_MAX;
}

static void set_deadline(struct target *t, uint64_t at_ns) {
        /* Errors are out of memory for the source, which exists already. */
        (void) sd_event_source_set_time(t->on_deadline, (at_ns + 999) / 1000);
        (void) sd_event_source_set_enabled(t->on_deadline, SD_EVENT_ONESHOT);
}

static void become_overdue(struct target *t, enum phase phase, uint64_t since, uint64_t now) {
        const struct test_ending ending = {
                .reason = REASON_TIMEOUT,
                .phase = phase,
                .error = ETIMEDOUT,
                .started_realtime_ns = t->run_started_realtime_ns,
                .now_realtime_ns = clock_realtime_ns(),
        };
        const struct result *result;

        t->overdue = true;
        t->call_ns = since;
        if (test_end_run(t->running, &ending, now, &result) < 0)
                log_error("target %s: out of memory for a result", t->config->name);
        log_warning("target %s (%s): hung: %s has not returned for %llu s (test %s)", t->config->name, t->config->path,
                    phase == PHASE_NONE ? "starting the worker" : phase_name(phase),
                    (unsigned long long) ((now - since) / UNITS_NS_PER_SECOND), t->running->config->name);
        t->failing = true;
}

/* When a worker that makes no system call is taken for hung as well. */
static uint64_t silence_ends_ns(const struct target *t) {
        const struct spec *s = &t->running->config->spec;
        uint64_t longest = s->max_duration_ns > 0 ? s->max_duration_ns : t->running->config->interval_ns;

        return t->run_started_ns + longest + t->config->deadline_ns + SILENCE_NS;
}

static int on_deadline_event(sd_event_source *source, uint64_t usec, void *userdata) {
        struct target *t = userdata;
        uint64_t now = clock_monotonic_ns(), since;
        enum phase phase;

        (void) source;
        (void) usec;
        if (!t->running)
                return 0;
        since = waiting_since_ns(t, now, &phase);
        if (since == UINT64_MAX) {
                if (now < silence_ends_ns(t)) {
                        set_deadline(t, now + t->config->deadline_ns);
                        return 0;
                }
                since = t->run_started_ns;
        }
        if (!t->overdue && now - since >= t->config->deadline_ns)
                become_overdue(t, phase, since, now);
        if (t->overdue && now - since >= t->config->kill_after_ns) {
                if (!t->killed)
                        log_warning("target %s: killing its worker; until the kernel lets it go, the target is stuck",
                                    t->config->name);
                target_kill(t);
                return 0;
        }
        set_deadline(t, since + (t->overdue ? t->config->kill_after_ns : t->config->deadline_ns));
        return 0;
}

/* --- what the worker says --- */

static void take_ready(struct target *t, const struct proto_ready *ready) {
        char group[GROUP_BYTES] = { 0 };

        if (ready->reason != REASON_NONE) {
                finish_run(t, NULL, ready->reason, ready->phase, ready->error);
                end_worker(t);
                return;
        }
        (void) memcpy(t->fstype, ready->fstype, sizeof t->fstype);
        if (!t->config->group) {
                struct strbuf b;
                const char *text;

                strbuf_init(&b);
                strbuf_printf(&b, "dev:%llx", (unsigned long long) ready->device);
                if (strbuf_finish(&b, &text) == 0)
                        (void) strncpy(group, text, sizeof group - 1);
                strbuf_done(&b);
                (void) memcpy(t->group, group, sizeof t->group);
        }
        t->worker = WORKER_READY;
        /* The first run at a place waits for what lies under it: a result without evidence helps nobody. */
        if (!under_found(&t->under, ready, clock_monotonic_ns()) && t->running)
                send_order(t);
}

static void on_under_known(void *userdata) {
        struct target *t = userdata;

        if (t->running && t->worker == WORKER_READY)
                send_order(t);
}

static void take_report(struct target *t, const struct proto_report *report) {
        if (!t->running || report->id != t->run_id) {
                log_error("target %s: its worker answers what was not asked", t->config->name);
                target_kill(t);
                return;
        }
        t->worker = WORKER_READY;
        if (report->changed && !t->begun_anew && !t->overdue) {
                log_info("target %s: another directory or mount stands at %s now", t->config->name, t->config->path);
                t->begin_anew = t->begun_anew = true;
                end_worker(t);
                return;
        }
        finish_run(t, report, report->reason, report->phase, report->error);
}

/* Takes one message; whether there was one. */
static bool take_message(struct target *t) {
        union proto_message m;
        int r = workerlink_receive(t->link, &m);

        if (r == 0)
                return false;
        if (r == -ECONNRESET) { /* it is ending: the pidfd tells the rest */
                t->on_socket = sd_event_source_disable_unref(t->on_socket);
                return false;
        }
        if (r < 0) {
                log_error("target %s: its worker sent something malformed", t->config->name);
                target_kill(t);
        } else if (m.header.type == PROTO_READY && t->worker == WORKER_STARTING) {
                take_ready(t, &m.ready);
        } else if (m.header.type == PROTO_REPORT && t->worker == WORKER_BUSY) {
                take_report(t, &m.report);
        } else {
                log_error("target %s: its worker spoke out of turn", t->config->name);
                target_kill(t);
        }
        return true;
}

static int on_socket_event(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        (void) source;
        (void) fd;
        (void) events;
        (void) take_message(userdata);
        return 0;
}

/* --- a run --- */

static void finish_run(struct target *t, const struct proto_report *report, enum reason reason, enum phase phase,
                       int error) {
        struct test *test = t->running;
        static struct histogram sync, write; /* large, and the loop is one thread */
        uint64_t now = clock_monotonic_ns();
        struct test_ending ending = {
                .report = report,
                .reason = reason,
                .phase = phase,
                .error = error,
                .started_realtime_ns = t->run_started_realtime_ns,
                .now_realtime_ns = clock_realtime_ns(),
                .late = t->overdue,
                .stack = t->under.stack,
        };
        const struct result *result;

        /* Of a worker that died amid a sample, a bucket may be ahead of its sum;
         * what does not hang together is not counted. */
        if (workerlink_histograms(t->link, true, &sync, &write) == 0 && t->worker != WORKER_STARTING) {
                ending.sync = &sync;
                ending.write = &write;
        } else if (report) {
                ending.report = NULL;
                ending.reason = REASON_INTERNAL;
        }
        if (t->overdue) {
                t->stall_total_ns += now - t->call_ns;
                log_info("target %s: %s after %llu s", t->config->name,
                         report ? "the hung call has returned" : "the hung worker has gone",
                         (unsigned long long) ((now - t->call_ns) / UNITS_NS_PER_SECOND));
        }
        t->trouble = reason != REASON_NONE && (phase == PHASE_LOOKUP || phase == PHASE_CREATE) ? reason : REASON_NONE;
        t->running = NULL;
        if (test_end_run(test, &ending, now, &result) < 0)
                log_error("target %s: out of memory for a result", t->config->name);
        if (result)
                tell_result(t, test, result);
        t->overdue = false;
        t->begin_anew = t->begun_anew = false;
        if (t->on_deadline)
                (void) sd_event_source_set_enabled(t->on_deadline, SD_EVENT_OFF);
        t->host->on_free(t->host->userdata);
}

static void send_order(struct target *t) {
        const struct config_test *config = t->running->config;
        union proto_message m;
        int r;

        proto_init(&m, PROTO_RUN);
        m.run.id = ++t->run_id;
        m.run.spec = config->spec;
        m.run.min_free_bytes = t->config->min_free_bytes;
        m.run.min_free_percent = t->config->min_free_percent;
        if (config->spec.kind == KIND_PULSE) {
                m.run.spec.count = 1; /* the schedule is ours */
                m.run.min_free_bytes = m.run.min_free_percent = 0;
        }
        if (config->spec.kind == KIND_PULSE || config->spec.reuse) {
                m.run.flags |= PROTO_RUN_KEPT;
                m.run.kept_token = t->running->kept_token;
        }
        under_refresh(&t->under, clock_monotonic_ns());
        evidence_fill_order(&m.run, t->under.stack);
        r = workerlink_send(t->link, &m);
        if (r < 0) {
                log_error("target %s: cannot reach its worker: %s", t->config->name, strerror(-r));
                target_kill(t);
                return;
        }
        t->worker = WORKER_BUSY;
}

static int add_sources(struct target *t) {
        struct spawn *process = workerlink_process(t->link);
        sd_event *event = t->host->event;
        int r;

        r = sd_event_add_io(event, &t->on_exit, process->pidfd, EPOLLIN, on_exit_event, t);
        if (r >= 0)
                r = sd_event_add_io(event, &t->on_socket, workerlink_socket(t->link), EPOLLIN, on_socket_event, t);
        if (r >= 0)
                r = sd_event_add_time(event, &t->on_deadline, CLOCK_MONOTONIC, UINT64_MAX, 1000, on_deadline_event, t);
        if (r < 0)
                return r;
        (void) sd_event_source_set_description(t->on_exit, "worker-exit");
        (void) sd_event_source_set_description(t->on_socket, "worker-socket");
        (void) sd_event_source_set_description(t->on_deadline, "worker-deadline");
        return 0;
}

static int start_worker(struct target *t) {
        union proto_message m;
        int r;

        r = workerlink_new(&t->link, t->host->worker_program, t->config->name);
        if (r < 0)
                return r;
        t->worker = WORKER_STARTING;
        t->worker_started_ns = clock_monotonic_ns();
        r = add_sources(t);
        if (r == 0) {
                proto_init(&m, PROTO_SETUP);
                (void) strncpy(m.setup.path, t->config->path, sizeof m.setup.path - 1);
                (void) strncpy(m.setup.machine, t->host->machine, sizeof m.setup.machine - 1);
                m.setup.owner_check = t->config->owner_check;
                m.setup.kept_count = t->host->kept_tokens(t->host->userdata, t->config->path, m.setup.kept);
                r = workerlink_send(t->link, &m);
        }
        if (r < 0) {
                (void) spawn_kill(workerlink_process(t->link), SIGKILL);
                forget_worker(t);
        }
        return r;
}

/* Gets the run that is to be going: in the worker that is there, or in a new one. */
static void begin_run(struct target *t) {
        uint64_t now = clock_monotonic_ns();
        struct test *test = t->running;
        int r = 0;

        if (t->worker == WORKER_NONE)
                r = start_worker(t);
        else if (t->worker == WORKER_READY && !(t->under.asking && !t->under.stack))
                send_order(t);
        if (r < 0) {
                const struct test_ending ending = {
                        .reason = REASON_INTERNAL, .error = -r,
                        .started_realtime_ns = t->run_started_realtime_ns,
                        .now_realtime_ns = t->run_started_realtime_ns,
                };
                const struct result *result;

                log_error("target %s: cannot start a worker: %s", t->config->name, strerror(-r));
                t->running = NULL;
                (void) test_end_run(test, &ending, now, &result);
                return;
        }
        if (t->on_deadline)
                set_deadline(t, now + t->config->deadline_ns);
}

void target_start(struct target *t, struct test *test) {
        t->running = test;
        t->run_started_ns = clock_monotonic_ns();
        t->run_started_realtime_ns = clock_realtime_ns();
        begin_run(t);
}

/* --- for the scheduler --- */

bool target_is_busy(const struct target *t) {
        return t->running || t->worker == WORKER_ENDING;
}

bool target_is_hung(const struct target *t) {
        return t->overdue || t->killed;
}

void target_rest(struct target *t, uint64_t next_ns, uint64_t now) {
        if (t->worker == WORKER_READY && !t->running && next_ns > now && next_ns - now > REST_NS)
                end_worker(t);
}

void target_stop(struct target *t) {
        end_worker(t);
}

bool target_has_process(const struct target *t) {
        return t->link != NULL;
}

void target_end_window(struct target *t, struct test *test) {
        const struct result *result;

        if (test_end_window(test, clock_monotonic_ns(), clock_realtime_ns(), t->under.stack, &result) < 0)
                log_error("target %s: out of memory for a result", t->config->name);
        if (result)
                tell_result(t, test, result);
}

const struct config_target *target_config(const struct target *t) {
        return t->config;
}

const char *target_group(const struct target *t) {
        return t->group;
}

struct test *target_tests(struct target *t, size_t *ret_n) {
        *ret_n = t->config->n_tests;
        return t->tests;
}

/* --- life --- */

int target_new(struct target **ret, const struct target_host *host, const struct config_target *config) {
        struct target *t = calloc(1, sizeof *t);
        int r = 0;

        if (!t)
                return -ENOMEM;
        t->host = host;
        t->config = config;
        under_init(&t->under, host->mapper, on_under_known, t);
        if (config->group)
                (void) strncpy(t->group, config->group, sizeof t->group - 1);
        t->tests = calloc(config->n_tests, sizeof *t->tests);
        if (!t->tests)
                r = -ENOMEM;
        for (size_t i = 0; i < config->n_tests && r == 0; i++)
                r = test_init(&t->tests[i], &config->tests[i], config, host->machine, clock_monotonic_ns());
        if (r < 0) {
                target_free(t);
                return r;
        }
        *ret = t;
        return 0;
}

struct target *target_free(struct target *t) {
        if (!t)
                return NULL;
        if (t->link)
                (void) spawn_kill(workerlink_process(t->link), SIGKILL);
        forget_worker(t);
        under_done(&t->under);
        for (size_t i = 0; t->tests && i < t->config->n_tests; i++)
                test_done(&t->tests[i]);
        free(t->tests);
        free(t);
        return NULL;
}

/* --- for people --- */

static enum state state_of(const struct target *t) {
        if (t->killed)
                return STATE_STUCK;
        if (t->overdue)
                return STATE_OVERDUE;
        if (t->running)
                return STATE_RUNNING;
        return t->trouble != REASON_NONE ? STATE_UNAVAILABLE : STATE_IDLE;
}

void target_snapshot(struct target *t, uint64_t now, uint64_t now_realtime_ns, struct snapshot_target *ret,
                     struct snapshot_test *tests) {
        uint64_t since;

        *ret = (struct snapshot_target) {
                .name = t->config->name,
                .path = t->config->path,
                .fstype = t->under.stack && t->under.stack->fstype[0] != '\0' ? t->under.stack->fstype : t->fstype,
                .source = t->under.stack ? t->under.stack->source : "",
                .stack = t->under.stack,
                .n_labels = t->config->n_labels,
                .state = state_of(t),
                .status = status_worst(target_is_hung(t), t->trouble != REASON_NONE, t->tests, t->config->n_tests),
                .stall_total_ns = t->stall_total_ns + (t->overdue ? now - t->call_ns : 0),
                .deadline_ns = t->config->deadline_ns,
                .tests = tests,
                .n_tests = t->config->n_tests,
        };
        ret->labels = (const struct snapshot_label *) (const void *) t->config->labels;
        since = waiting_since_ns(t, now, &ret->phase);
        ret->inflight_ns = since == UINT64_MAX ? 0 : now - since;
        for (size_t i = 0; i < t->config->n_tests; i++)
                test_snapshot(&t->tests[i], now, now_realtime_ns, &tests[i]);
}
