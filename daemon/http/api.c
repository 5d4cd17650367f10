/*
 * The JSON documents; see http/api.h.
 *
 * Built with jansson, whose functions take NULL for a value that could not be
 * made and fail in turn: so only the last step is checked.
 */
#include "http/api.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/evidence_json.h"
#include "core/json.h"
#include "core/result_json.h"
#include "core/units.h"

/* Adds a member; a failure frees the object and makes it NULL, and stays. */
static void put(json_t **object, const char *key, json_t *value) {
        if (!*object) {
                json_decref(value);
                return;
        }
        if (json_object_set_new(*object, key, value) < 0) {
                json_decref(*object);
                *object = NULL;
        }
}

static void append(json_t **array, json_t *value) {
        if (!*array) {
                json_decref(value);
                return;
        }
        if (json_array_append_new(*array, value) < 0) {
                json_decref(*array);
                *array = NULL;
        }
}

static json_t *count(uint64_t n) {
        return json_integer((json_int_t) n);
}

static json_t *timestamp(uint64_t realtime_ns) {
        struct strbuf b;
        const char *text;
        json_t *ret = NULL;

        if (realtime_ns == 0)
                return json_null();
        strbuf_init(&b);
        units_add_timestamp(&b, realtime_ns);
        if (strbuf_finish(&b, &text) == 0)
                ret = json_string(text);
        strbuf_done(&b);
        return ret;
}

/* Ends a document: its text and a newline. Takes the reference. */
static void finish(struct strbuf *b, json_t *document) {
        char *text = document ? json_dumps(document, JSON_FLAGS_COMPACT) : NULL;

        json_decref(document);
        if (!text) {
                b->error = -ENOMEM;
                return;
        }
        strbuf_add(b, text);
        strbuf_add_char(b, '\n');
        free(text);
}

static uint64_t total_skips(const struct snapshot_test *test) {
        uint64_t total = 0;

        for (unsigned i = 0; i < SKIP_COUNT_; i++)
                total += test->skips[i];
        return total;
}

static json_t *test_object(const struct snapshot_target *t, const struct snapshot_test *test) {
        json_t *o = json_object();
        const struct results *rs = test->results;

        put(&o, "name", json_text(test->name));
        put(&o, "kind", json_string(kind_name(test->spec->kind)));
        put(&o, "interval_seconds", json_seconds(test->interval_ns));
        put(&o, "next_run", timestamp(test->next_run_realtime_ns));
        put(&o, "last", rs->count > 0 ? result_to_json(results_get(rs, 0), t->name, test->name) : json_null());
        put(&o, "last_ok", test->last_ok ? result_to_json(test->last_ok, t->name, test->name) : json_null());
        put(&o, "runs", count(test->runs_ok + test->runs_failed));
        put(&o, "failures", count(test->runs_failed));
        put(&o, "skipped", count(total_skips(test)));
        put(&o, "syncs_lost", count(test->syncs_lost));
        put(&o, "pulses_missed", count(test->pulses_missed));
        put(&o, "written_bytes", count(test->written_bytes));
        return o;
}

static json_t *target_object(const struct snapshot_target *t) {
        json_t *o = json_object(), *labels = json_object(), *tests = json_array();

        for (size_t i = 0; i < t->n_labels; i++)
                put(&labels, t->labels[i].name, json_text(t->labels[i].value));
        for (size_t i = 0; i < t->n_tests; i++)
                append(&tests, test_object(t, &t->tests[i]));
        put(&o, "name", json_text(t->name));
        put(&o, "path", json_text(t->path));
        put(&o, "status", json_string(status_name(t->status)));
        put(&o, "state", json_string(state_name(t->state)));
        put(&o, "phase", t->phase == PHASE_NONE ? json_null() : json_string(phase_name(t->phase)));
        put(&o, "inflight_seconds", json_seconds(t->inflight_ns));
        put(&o, "fstype", t->fstype[0] != '\0' ? json_text(t->fstype) : json_null());
        put(&o, "source", t->source[0] != '\0' ? json_text(t->source) : json_null());
        put(&o, "labels", labels);
        put(&o, "tests", tests);
        return o;
}

void api_add_targets(struct strbuf *b, const struct snapshot *s) {
        json_t *document = json_object(), *targets = json_array();

        for (size_t i = 0; i < s->n_targets; i++)
                append(&targets, target_object(&s->targets[i]));
        put(&document, "targets", targets);
        finish(b, document);
}

void api_add_target(struct strbuf *b, const struct snapshot_target *t) {
        json_t *document = target_object(t);

        put(&document, "stack", stack_to_json(t->stack));
        finish(b, document);
}

void api_add_status(struct strbuf *b, const struct snapshot *s) {
        json_t *document = json_object(), *targets = json_object(), *config = json_object();
        uint64_t counts[STATUS_COUNT_] = { 0 };
        enum status worst = STATUS_FINE;

        for (size_t i = 0; i < s->n_targets; i++) {
                counts[s->targets[i].status]++;
                if (s->targets[i].status < worst)
                        worst = s->targets[i].status;
        }
        for (unsigned i = 0; i < STATUS_COUNT_; i++)
                put(&targets, status_name((enum status) i), count(counts[i]));
        put(&config, "last_reload_successful", json_boolean(s->reload_successful));
        put(&config, "last_reload", timestamp(s->reloaded_realtime_ns));
        put(&document, "version", json_text(s->version));
        put(&document, "started", timestamp(s->started_realtime_ns));
        put(&document, "status", json_string(status_name(worst)));
        put(&document, "targets", targets);
        put(&document, "store", json_null()); /* this version keeps results in memory alone */
        put(&document, "config", config);
        finish(b, document);
}

static json_t *next_url(const struct api_page *page, uint64_t until_ns) {
        struct strbuf b;
        const char *text;
        json_t *ret = NULL;

        strbuf_init(&b);
        strbuf_printf(&b, "results?since=%llu.%09llu&until=%llu.%09llu&limit=%llu",
                      (unsigned long long) (page->since_ns / UNITS_NS_PER_SECOND),
                      (unsigned long long) (page->since_ns % UNITS_NS_PER_SECOND),
                      (unsigned long long) (until_ns / UNITS_NS_PER_SECOND),
                      (unsigned long long) (until_ns % UNITS_NS_PER_SECOND), (unsigned long long) page->limit);
        if (strbuf_finish(&b, &text) == 0)
                ret = json_string(text);
        strbuf_done(&b);
        return ret;
}

void api_add_results(struct strbuf *b, const struct snapshot_target *t, const struct snapshot_test *test,
                     const struct api_page *page) {
        json_t *document = json_object(), *results = json_array(), *next = json_null();
        uint64_t given = 0, last_ns = 0;

        for (size_t i = 0; i < test->results->count; i++) {
                const struct result *r = results_get(test->results, i);

                if (r->started_realtime_ns < page->since_ns || r->started_realtime_ns >= page->until_ns)
                        continue;
                if (given == page->limit) {
                        json_decref(next);
                        next = next_url(page, last_ns);
                        break;
                }
                append(&results, result_to_json(r, t->name, test->name));
                last_ns = r->started_realtime_ns;
                given++;
        }
        put(&document, "results", results);
        put(&document, "next", next);
        finish(b, document);
}

void api_add_error(struct strbuf *b, const char *text) {
        json_t *document = json_object();

        put(&document, "error", json_text(text));
        finish(b, document);
}

/* ".123456789" and fewer digits, or nothing; *text is moved behind them. */
static int parse_fraction(const char **text, uint64_t *ret_ns) {
        uint64_t ns = 0, unit = UNITS_NS_PER_SECOND;

        if (**text == '.') {
                (*text)++;
                if (**text < '0' || **text > '9')
                        return -EINVAL;
                for (; **text >= '0' && **text <= '9'; (*text)++) {
                        unit /= 10;
                        ns += unit * (uint64_t) (**text - '0');
                }
        }
        *ret_ns = ns;
        return 0;
}

static int parse_epoch(const char *text, uint64_t *ret_ns) {
        uint64_t seconds = 0, fraction;
        size_t digits = strspn(text, "0123456789");

        if (digits == 0 || digits > 10) /* until the year 2286 */
                return -EINVAL;
        for (size_t i = 0; i < digits; i++)
                seconds = seconds * 10 + (uint64_t) (text[i] - '0');
        text += digits;
        if (parse_fraction(&text, &fraction) < 0 || *text != '\0')
                return -EINVAL;
        *ret_ns = seconds * UNITS_NS_PER_SECOND + fraction;
        return 0;
}

/* A number of exactly @digits digits, followed by @then unless that is 0; *text is moved behind. */
static bool take_number(const char **text, unsigned digits, char then, unsigned *ret) {
        unsigned number = 0;

        for (; digits > 0; digits--, (*text)++) {
                if (**text < '0' || **text > '9')
                        return false;
                number = number * 10 + (unsigned) (**text - '0');
        }
        *ret = number;
        if (then == '\0')
                return true;
        return *(*text)++ == then;
}

/* "Z", "+01:00" or "-01:00" to the end of the text, as seconds east. */
static int parse_zone(const char *text, int64_t *ret_seconds) {
        unsigned hours, minutes;
        bool west = text[0] == '-';

        if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0) {
                *ret_seconds = 0;
                return 0;
        }
        /* A space is what a + becomes in a URL that was not escaped. */
        if (text[0] == '\0' || !strchr("+- ", text[0]))
                return -EINVAL;
        text++;
        if (!take_number(&text, 2, ':', &hours) || !take_number(&text, 2, '\0', &minutes) || *text != '\0' ||
            hours > 23 || minutes > 59)
                return -EINVAL;
        *ret_seconds = (west ? -1 : 1) * (int64_t) (hours * 3600 + minutes * 60);
        return 0;
}

int api_parse_time(const char *text, uint64_t *ret_ns) {
        unsigned year, month, day, hour, minute, second;
        uint64_t fraction;
        int64_t seconds, east;

        if (parse_epoch(text, ret_ns) == 0)
                return 0;
        if (!take_number(&text, 4, '-', &year) || !take_number(&text, 2, '-', &month) ||
            !take_number(&text, 2, '\0', &day) || (*text != 'T' && *text != 't'))
                return -EINVAL;
        text++;
        if (!take_number(&text, 2, ':', &hour) || !take_number(&text, 2, ':', &minute) ||
            !take_number(&text, 2, '\0', &second) || parse_fraction(&text, &fraction) < 0 ||
            parse_zone(text, &east) < 0)
                return -EINVAL;
        if (year < 1970 || year > 2286 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 ||
            minute > 59 || second > 60)
                return -EINVAL;

        struct tm tm = {
                .tm_year = (int) year - 1900, .tm_mon = (int) month - 1, .tm_mday = (int) day,
                .tm_hour = (int) hour, .tm_min = (int) minute, .tm_sec = (int) second,
        };

        seconds = (int64_t) timegm(&tm) - east;
        if (seconds < 0)
                return -EINVAL;
        *ret_ns = (uint64_t) seconds * UNITS_NS_PER_SECOND + fraction;
        return 0;
}

const struct snapshot_target *api_find_target(const struct snapshot *s, const char *name) {
        for (size_t i = 0; i < s->n_targets; i++)
                if (strcmp(s->targets[i].name, name) == 0)
                        return &s->targets[i];
        return NULL;
}

const struct snapshot_test *api_find_test(const struct snapshot_target *t, const char *name) {
        for (size_t i = 0; i < t->n_tests; i++)
                if (strcmp(t->tests[i].name, name) == 0)
                        return &t->tests[i];
        return NULL;
}
