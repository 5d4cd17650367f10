/*
 * Throw-away children; see main/mapper.h.
 */
#include "main/mapper.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

#include "child/workerlink.h"
#include "core/proto.h"
#include "core/units.h"
#include "main/clock.h"
#include "main/log.h"

#define CHILDREN_MAX 2
/* From the question on, the time in the queue included: a run may be waiting for it. */
#define ANSWER_NS (5 * UNITS_NS_PER_SECOND)

struct request {
        struct request *next;
        struct mapper_place place;
        mapper_fn on_answer;
        void *userdata;
        uint64_t end_ns;
};

struct child {
        struct mapper *mapper;
        struct workerlink *link; /* NULL: the place is free */
        struct request *request; /* owned; NULL: answered, given up or forgotten, and the child is to end */
        sd_event_source *on_socket, *on_exit;
};

struct mapper {
        sd_event *event;
        const char *worker_program;
        struct request *queue; /* owned, the oldest first */
        struct child children[CHILDREN_MAX];
        sd_event_source *on_time;
};

static void start_waiting(struct mapper *m);

/* --- answers --- */

static void answer(struct request *r, const struct stack *stack) {
        mapper_fn on_answer = r->on_answer;
        void *userdata = r->userdata;

        free(r);
        on_answer(userdata, stack);
}

static void arm(struct mapper *m) {
        uint64_t end = UINT64_MAX;

        for (struct request *r = m->queue; r; r = r->next)
                end = r->end_ns < end ? r->end_ns : end;
        for (size_t i = 0; i < CHILDREN_MAX; i++)
                if (m->children[i].request && m->children[i].request->end_ns < end)
                        end = m->children[i].request->end_ns;
        if (end == UINT64_MAX) {
                (void) sd_event_source_set_enabled(m->on_time, SD_EVENT_OFF);
                return;
        }
        (void) sd_event_source_set_time(m->on_time, (end + 999) / 1000);
        (void) sd_event_source_set_enabled(m->on_time, SD_EVENT_ONESHOT);
}

/* --- children --- */

static void forget_child(struct child *c) {
        c->on_socket = sd_event_source_disable_unref(c->on_socket);
        c->on_exit = sd_event_source_disable_unref(c->on_exit);
        c->link = workerlink_free(c->link);
}

/* What the child was to find is answered; it has no more to say. */
static void finish_child(struct child *c, const struct stack *stack) {
        struct request *r = c->request;

        c->request = NULL;
        c->on_socket = sd_event_source_disable_unref(c->on_socket);
        if (!stack)
                (void) spawn_kill(workerlink_process(c->link), SIGKILL);
        if (r)
                answer(r, stack);
}

static int on_socket_event(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        struct child *c = userdata;
        static union proto_message m; /* large, and the loop is one thread */
        int r = workerlink_receive(c->link, &m);

        (void) source;
        (void) fd;
        (void) events;
        if (r == 0)
                return 0;
        finish_child(c, r > 0 && m.header.type == PROTO_STACK ? &m.stack.stack : NULL);
        return 0;
}

static int on_exit_event(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        struct child *c = userdata;
        struct mapper *m = c->mapper;
        int status;

        (void) source;
        (void) fd;
        (void) events;
        if (spawn_reap(workerlink_process(c->link), &status) == 0)
                return 0;
        /* Its answer may have come with its end, and in this order be read after. */
        if (c->request)
                (void) on_socket_event(NULL, -1, 0, c);
        if (c->request)
                finish_child(c, NULL);
        forget_child(c);
        start_waiting(m);
        return 0;
}

static int start_child(struct child *c, struct request *r) {
        union proto_message m;
        int error = workerlink_new(&c->link, c->mapper->worker_program, "map");

        if (error < 0)
                return error;
        error = sd_event_add_io(c->mapper->event, &c->on_exit, workerlink_process(c->link)->pidfd, EPOLLIN, on_exit_event, c);
        if (error >= 0)
                error = sd_event_add_io(c->mapper->event, &c->on_socket, workerlink_socket(c->link), EPOLLIN, on_socket_event, c);
        if (error >= 0) {
                proto_init(&m, PROTO_MAP);
                m.map.device = r->place.device;
                m.map.mount_id = r->place.mount_id;
                (void) strncpy(m.map.path, r->place.path, sizeof m.map.path - 1);
                error = workerlink_send(c->link, &m);
        }
        if (error < 0) {
                (void) spawn_kill(workerlink_process(c->link), SIGKILL);
                forget_child(c);
                return error;
        }
        c->request = r;
        return 0;
}

static void start_waiting(struct mapper *m) {
        for (size_t i = 0; i < CHILDREN_MAX && m->queue; i++) {
                struct request *r = m->queue;
                int error;

                if (m->children[i].link)
                        continue;
                m->queue = r->next;
                error = start_child(&m->children[i], r);
                if (error < 0) {
                        log_error("cannot start the child that maps %s: %s", r->place.path, strerror(-error));
                        answer(r, NULL);
                }
        }
        arm(m);
}

/* --- time --- */

static int on_time_event(sd_event_source *source, uint64_t usec, void *userdata) {
        struct mapper *m = userdata;
        uint64_t now = clock_monotonic_ns();

        (void) source;
        (void) usec;
        for (size_t i = 0; i < CHILDREN_MAX; i++)
                if (m->children[i].request && m->children[i].request->end_ns <= now) {
                        log_warning("what lies under %s was not found in time", m->children[i].request->place.path);
                        finish_child(&m->children[i], NULL);
                }
        for (struct request **at = &m->queue; *at;) {
                struct request *r = *at;

                if (r->end_ns > now) {
                        at = &r->next;
                        continue;
                }
                *at = r->next;
                answer(r, NULL);
        }
        start_waiting(m);
        return 0;
}

/* --- for targets --- */

int mapper_ask(struct mapper *m, const struct mapper_place *place, mapper_fn on_answer, void *userdata) {
        struct request *r = malloc(sizeof *r), **end = &m->queue;

        if (!r)
                return -ENOMEM;
        *r = (struct request) {
                .place = *place,
                .on_answer = on_answer,
                .userdata = userdata,
                .end_ns = clock_monotonic_ns() + ANSWER_NS,
        };
        while (*end)
                end = &(*end)->next;
        *end = r;
        /* Started from the loop: a failure must not answer before we return. */
        (void) sd_event_source_set_time(m->on_time, 0);
        (void) sd_event_source_set_enabled(m->on_time, SD_EVENT_ONESHOT);
        return 0;
}

void mapper_forget(struct mapper *m, const void *userdata) {
        for (size_t i = 0; i < CHILDREN_MAX; i++)
                if (m->children[i].request && m->children[i].request->userdata == userdata) {
                        free(m->children[i].request);
                        m->children[i].request = NULL;
                        finish_child(&m->children[i], NULL);
                }
        for (struct request **at = &m->queue; *at;) {
                struct request *r = *at;

                if (r->userdata != userdata) {
                        at = &r->next;
                        continue;
                }
                *at = r->next;
                free(r);
        }
}

int mapper_new(struct mapper **ret, struct sd_event *event, const char *worker_program) {
        struct mapper *m = calloc(1, sizeof *m);
        int r;

        if (!m)
                return -ENOMEM;
        m->event = sd_event_ref(event);
        m->worker_program = worker_program;
        for (size_t i = 0; i < CHILDREN_MAX; i++)
                m->children[i].mapper = m;
        r = sd_event_add_time(event, &m->on_time, CLOCK_MONOTONIC, 0, 1000, on_time_event, m);
        if (r >= 0)
                r = sd_event_source_set_enabled(m->on_time, SD_EVENT_OFF);
        if (r < 0) {
                mapper_free(m);
                return r;
        }
        (void) sd_event_source_set_description(m->on_time, "mapper");
        *ret = m;
        return 0;
}

struct mapper *mapper_free(struct mapper *m) {
        if (!m)
                return NULL;
        for (size_t i = 0; i < CHILDREN_MAX; i++) {
                free(m->children[i].request);
                if (m->children[i].link)
                        (void) spawn_kill(workerlink_process(m->children[i].link), SIGKILL);
                forget_child(&m->children[i]);
        }
        while (m->queue) {
                struct request *r = m->queue;

                m->queue = r->next;
                free(r);
        }
        sd_event_source_disable_unref(m->on_time);
        sd_event_unref(m->event);
        free(m);
        return NULL;
}
