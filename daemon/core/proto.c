/*
 * Checks of the messages between worker and parent; see core/proto.h.
 */
#include "core/proto.h"

#include <errno.h>
#include <string.h>

size_t proto_size(enum proto_type type) {
        switch (type) {
        case PROTO_SETUP:
                return sizeof(struct proto_setup);
        case PROTO_READY:
                return sizeof(struct proto_ready);
        case PROTO_RUN:
                return sizeof(struct proto_run);
        case PROTO_REPORT:
                return sizeof(struct proto_report);
        case PROTO_MAP:
                return sizeof(struct proto_map);
        case PROTO_STACK:
                return sizeof(struct proto_stack);
        }
        return 0;
}

void proto_init(union proto_message *m, enum proto_type type) {
        memset(m, 0, sizeof *m);
        m->header = (struct proto_header) {
                .magic = PROTO_MAGIC,
                .version = PROTO_VERSION,
                .type = (uint16_t) type,
                .length = (uint32_t) proto_size(type),
        };
}

void proto_evidence_init(struct proto_evidence *e) {
        *e = (struct proto_evidence) {
                .distinct_bytes = PROTO_UNKNOWN, .allocated_bytes = PROTO_UNKNOWN, .extent_bytes = PROTO_UNKNOWN,
                .encoded_bytes = PROTO_UNKNOWN, .delayed_bytes = PROTO_UNKNOWN, .other_bytes = PROTO_UNKNOWN,
                .waited_ns = PROTO_UNKNOWN, .stolen_ns = PROTO_UNKNOWN,
        };
        for (size_t i = 0; i < STACK_LEAVES_MAX; i++)
                e->leaves[i] = (struct proto_counters) { PROTO_UNKNOWN, PROTO_UNKNOWN };
}

/* What a message says is read as bytes and integers first: an enumeration or a
 * bool outside its range must not even be loaded as one. */
static bool enum_in_range(const void *field, unsigned count) {
        unsigned value;

        memcpy(&value, field, sizeof value);
        return value < count;
}

static bool is_bool(const bool *field) {
        unsigned char value;

        memcpy(&value, field, sizeof value);
        return value <= 1;
}

static bool is_string(const char *text, size_t room) {
        return memchr(text, '\0', room) != NULL;
}

static bool check_setup(const struct proto_setup *s) {
        return is_string(s->path, sizeof s->path) && s->path[0] != '\0' &&
               is_string(s->machine, sizeof s->machine) && is_bool(&s->follow) && is_bool(&s->owner_check) &&
               s->kept_count <= PROTO_KEPT_MAX;
}

static bool check_ready(const struct proto_ready *r) {
        return enum_in_range(&r->reason, REASON_COUNT_) && enum_in_range(&r->phase, PHASE_COUNT_) &&
               r->error >= 0 && is_string(r->fstype, sizeof r->fstype) && is_string(r->path, sizeof r->path);
}

/* Names go into paths below /sys. */
static bool check_leaf(const struct proto_leaf *l) {
        return is_string(l->name, sizeof l->name) && l->name[0] != '\0' && l->name[0] != '.' && !strchr(l->name, '/');
}

static bool check_run(const struct proto_run *r) {
        if (r->n_leaves > STACK_LEAVES_MAX)
                return false;
        for (size_t i = 0; i < r->n_leaves; i++)
                if (!check_leaf(&r->leaves[i]))
                        return false;
        if ((r->flags & ~(uint32_t) (PROTO_RUN_LOOKUP | PROTO_RUN_KEPT)) != 0)
                return false;
        if (!is_bool(&r->spec.direct) || !is_bool(&r->spec.reuse) || !is_bool(&r->spec.durable))
                return false;
        if (!enum_in_range(&r->spec.kind, KIND_COUNT_) || !enum_in_range(&r->spec.layout, LAYOUT_COUNT_) ||
            !enum_in_range(&r->spec.sync, SYNC_COUNT_) || !enum_in_range(&r->spec.data, DATA_COUNT_) ||
            !enum_in_range(&r->spec.writeback, WRITEBACK_COUNT_))
                return false;
        return (r->flags & PROTO_RUN_LOOKUP) || spec_is_valid(&r->spec);
}

static bool check_report(const struct proto_report *r) {
        if (!enum_in_range(&r->outcome, OUTCOME_COUNT_) || !enum_in_range(&r->reason, REASON_COUNT_) ||
            !enum_in_range(&r->phase, PHASE_COUNT_) || !enum_in_range(&r->writeback, PROTO_EFFECT_COUNT_))
                return false;
        if (!is_bool(&r->truncated) || !is_bool(&r->changed) || r->error < 0 ||
            !is_string(r->fstype, sizeof r->fstype))
                return false;
        /* Success has no reason, and failure has one. */
        return (r->outcome == OUTCOME_FAILED) == (r->reason != REASON_NONE);
}

int proto_check(const union proto_message *m, size_t bytes) {
        if (bytes < sizeof m->header || m->header.magic != PROTO_MAGIC)
                return -EBADMSG;
        if (m->header.version != PROTO_VERSION)
                return -EPROTONOSUPPORT;

        size_t size = proto_size((enum proto_type) m->header.type);

        if (size == 0 || m->header.length != bytes || bytes != size)
                return -EBADMSG;

        bool good = false;

        switch ((enum proto_type) m->header.type) {
        case PROTO_SETUP:
                good = check_setup(&m->setup);
                break;
        case PROTO_READY:
                good = check_ready(&m->ready);
                break;
        case PROTO_RUN:
                good = check_run(&m->run);
                break;
        case PROTO_REPORT:
                good = check_report(&m->report);
                break;
        case PROTO_MAP:
                good = is_string(m->map.path, sizeof m->map.path) && m->map.path[0] != '\0';
                break;
        case PROTO_STACK:
                good = stack_is_valid(&m->stack.stack);
                break;
        }
        return good ? m->header.type : -EBADMSG;
}
