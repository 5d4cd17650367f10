/*
 * syncprobed put together; see main/daemon.h.
 *
 * Everything that may wait for a disk (configuration, state directory, finding
 * the worker program) is done before the loop begins, and nothing of it after.
 */
#include "main/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "child/libexec.h"
#include "child/machine.h"
#include "core/units.h"
#include "main/clock.h"
#include "main/config.h"
#include "main/effective.h"
#include "main/endpoint.h"
#include "main/log.h"
#include "main/notify.h"
#include "main/options.h"
#include "main/scheduler.h"
#include "main/statedir.h"

/* How long workers get to end tidily; a hung one does not hold up a stop. */
#define STOP_NS (800 * UNITS_NS_PER_MS)
/* How often a READY that systemd did not take is offered again. */
#define NOTIFY_AGAIN_USEC UINT64_C(100000)

struct daemon {
        struct config *config;
        char *worker_program;
        char machine[PROTO_MACHINE_BYTES];
        int state_fd;
        sd_event *event;
        sd_event_source *on_stop_timeout, *on_notify;
        struct scheduler *scheduler;
        struct endpoint *endpoint;
        struct notify notify;
        struct snapshot snapshot;
        bool stopping;
};

/* --- before the loop --- */

static int load_config(const char *path, struct config **ret) {
        char *error;
        int r = config_load(path, ret, &error);

        if (r < 0)
                log_error("%s", error ? error : strerror(-r));
        free(error);
        return r;
}

static int check(const char *path) {
        struct config *config;
        struct strbuf b;
        const char *text;
        int status = EXIT_FAILURE;

        if (load_config(path, &config) < 0)
                return EXIT_FAILURE;
        strbuf_init(&b);
        effective_add(&b, config);
        if (strbuf_finish(&b, &text) == 0 && fputs(text, stdout) >= 0 && fflush(stdout) == 0)
                status = EXIT_SUCCESS;
        strbuf_done(&b);
        config_free(config);
        return status;
}

static void lock_pages(void) {
#ifndef __SANITIZE_ADDRESS__
        /* A page fault is a storage call too. Not every user may; then it is best effort. */
        if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) < 0)
                log_info("memory stays unlocked: %s", strerror(errno));
#endif
}

/* --- signals, and the end --- */

static void on_stopped(void *userdata) {
        struct daemon *d = userdata;

        (void) sd_event_exit(d->event, 0);
}

static int on_stop_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        struct daemon *d = userdata;

        (void) source;
        (void) usec;
        scheduler_kill(d->scheduler);
        return sd_event_exit(d->event, 0);
}

static int on_stop_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        struct daemon *d = userdata;

        (void) source;
        if (d->stopping)
                return 0;
        d->stopping = true;
        log_info("stopping on signal %u", info->ssi_signo);
        notify_stopping(&d->notify);
        d->endpoint = endpoint_free(d->endpoint);
        if (sd_event_add_time_relative(d->event, &d->on_stop_timeout, CLOCK_MONOTONIC, STOP_NS / 1000, 1000,
                                       on_stop_timeout, d) < 0)
                return sd_event_exit(d->event, 0);
        scheduler_stop(d->scheduler, on_stopped, d);
        return 0;
}

static int on_reload_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        (void) source;
        (void) info;
        (void) userdata;
        log_warning("this version does not reload its configuration: restart it instead");
        return 0;
}

static int add_signals(struct daemon *d) {
        static const struct {
                int number;
                sd_event_signal_handler_t handler;
        } signals[] = {
                { SIGTERM, on_stop_signal },
                { SIGINT, on_stop_signal },
                { SIGHUP, on_reload_signal },
        };
        int r = 0;

        for (size_t i = 0; i < sizeof signals / sizeof signals[0] && r >= 0; i++)
                r = sd_event_add_signal(d->event, NULL, signals[i].number, signals[i].handler, d);
        return r;
}

/* From the first instruction on: a signal during start is kept for the loop. */
static void block_signals(void) {
        struct sigaction ignore = { .sa_handler = SIG_IGN }, standard = { .sa_handler = SIG_DFL };
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGHUP);
        (void) sigprocmask(SIG_BLOCK, &set, NULL);
        (void) sigaction(SIGCHLD, &standard, NULL); /* ignored, by whoever started us, it would reap our children */
        (void) sigaction(SIGPIPE, &ignore, NULL);
        (void) sigaction(SIGUSR1, &ignore, NULL);
        (void) sigaction(SIGUSR2, &ignore, NULL);
}

/* --- running --- */

static int give_snapshot(void *userdata, const struct snapshot **ret) {
        struct daemon *d = userdata;

        d->snapshot.ready = !d->stopping;
        d->snapshot.log_messages_dropped = log_dropped();
        scheduler_snapshot(d->scheduler, &d->snapshot);
        *ret = &d->snapshot;
        return 0;
}

static int on_notify_again(sd_event_source *source, uint64_t usec, void *userdata) {
        struct daemon *d = userdata;

        (void) usec;
        if (notify_flush(&d->notify))
                return 0;
        (void) sd_event_source_set_time_relative(source, NOTIFY_AGAIN_USEC);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int say_ready(struct daemon *d) {
        char status[128];

        if (d->config->n_targets == 0)
                (void) snprintf(status, sizeof status, "No target is configured yet");
        else
                (void) snprintf(status, sizeof status, "Testing %zu target%s", d->config->n_targets,
                                d->config->n_targets == 1 ? "" : "s");
        log_info("ready: %s", status);
        notify_ready(&d->notify, status);
        return sd_event_add_time_relative(d->event, &d->on_notify, CLOCK_MONOTONIC, NOTIFY_AGAIN_USEC, 0,
                                          on_notify_again, d);
}

static int set_up(struct daemon *d, const struct options *options) {
        int r;

        if (options->state) {
                r = statedir_open(options->state, &d->state_fd);
                if (r < 0) {
                        log_error("state directory %s: %s", options->state,
                                  r == -EBUSY ? "another syncprobed uses it" : strerror(-r));
                        return r;
                }
        }
        machine_id(d->machine);
        r = libexec_find("syncprobe-worker", &d->worker_program);
        if (r < 0) {
                log_error("cannot find syncprobe-worker beside this program, in $SYNCPROBE_LIBEXEC or in %s",
                          PKGLIBEXECDIR);
                return r;
        }
        r = sd_event_new(&d->event);
        if (r >= 0)
                r = add_signals(d);
        if (r >= 0)
                r = scheduler_new(&d->scheduler, d->event, d->config, d->worker_program, d->machine);
        if (r < 0) {
                log_error("cannot start: %s", strerror(-r));
                return r;
        }
        return endpoint_new(&d->endpoint, d->event, d->config, give_snapshot, d); /* tells its errors itself */
}

static int run(struct daemon *d, const struct options *options) {
        int r;

        r = notify_init(&d->notify);
        if (r < 0)
                log_warning("cannot tell systemd anything: %s", strerror(-r));
        r = set_up(d, options);
        if (r < 0)
                return r;
        d->snapshot = (struct snapshot) {
                .version = VERSION,
                .started_realtime_ns = clock_realtime_ns(),
                .reload_successful = true,
                .reloaded_realtime_ns = clock_realtime_ns(),
        };
        lock_pages();
        scheduler_start(d->scheduler);
        r = say_ready(d);
        return r < 0 ? r : sd_event_loop(d->event);
}

static void tear_down(struct daemon *d) {
        endpoint_free(d->endpoint);
        scheduler_free(d->scheduler);
        sd_event_source_disable_unref(d->on_stop_timeout);
        sd_event_source_disable_unref(d->on_notify);
        notify_done(&d->notify);
        sd_event_unref(d->event);
        free(d->worker_program);
        config_free(d->config);
        if (d->state_fd >= 0)
                close(d->state_fd);
}

int daemon_main(int argc, char **argv) {
        struct daemon d = { .state_fd = -1, .notify = { .socket = -1 } };
        struct options options;
        int status, r;

        block_signals();
        if (options_parse(&options, argc, argv, &status) != 0)
                return status;
        if (options.check)
                return check(options.config);
        if (load_config(options.config, &d.config) < 0)
                return EXIT_FAILURE;
        r = run(&d, &options);
        tear_down(&d);
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
