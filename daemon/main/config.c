/*
 * The configuration file; see main/config.h.
 *
 * A value of any scalar type is turned into text and read by the one parser of
 * its quantity, so that 5, 5.0 and "5s" cannot be told apart by accident.
 */
#include "main/config.h"

#include <ctype.h>
#include <errno.h>
#include <libconfig.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/strbuf.h"
#include "core/units.h"
#include "core/verdict.h"

/* gcc 12's analyzer loses sight of what hangs in the arrays of targets and tests.
 * Leaks here are looked for by failing each allocation under ASan and valgrind. */
#if defined __GNUC__ && !defined __clang__
#  pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

#define DEFAULT_LISTEN "127.0.0.1:10075"
#define DEFAULT_DEADLINE_NS (30 * UNITS_NS_PER_SECOND)
#define DEFAULT_KILL_AFTER_NS (300 * UNITS_NS_PER_SECOND)
#define DEFAULT_MIN_FREE_PERCENT 5
#define DEFAULT_MIN_FREE_BYTES (UINT64_C(20) << 30)
#define INTERVAL_MIN_NS UNITS_NS_PER_SECOND
#define STREAM_MAX_DURATION_NS (60 * UNITS_NS_PER_SECOND)

/* Where an error was found, and the error. */
struct parser {
        const char *path;
        struct strbuf error; /* empty: none so far */
};

static int fail(struct parser *p, const config_setting_t *where, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static int fail(struct parser *p, const config_setting_t *where, const char *format, ...) {
        const char *file = where ? config_setting_source_file(where) : NULL;
        unsigned line = where ? config_setting_source_line(where) : 0;
        va_list arguments;

        strbuf_done(&p->error);
        strbuf_printf(&p->error, "%s:%u: ", file ? file : p->path, line);
        va_start(arguments, format);
        strbuf_vprintf(&p->error, format, arguments);
        va_end(arguments);
        return -EINVAL;
}

/* The text of a scalar, in @b. */
static int scalar_text(struct parser *p, const config_setting_t *s, struct strbuf *b, const char **ret) {
        switch (config_setting_type(s)) {
        case CONFIG_TYPE_STRING:
                strbuf_add(b, config_setting_get_string(s));
                break;
        case CONFIG_TYPE_INT:
                strbuf_printf(b, "%d", config_setting_get_int(s));
                break;
        case CONFIG_TYPE_INT64:
                strbuf_printf(b, "%lld", config_setting_get_int64(s));
                break;
        case CONFIG_TYPE_FLOAT:
                strbuf_add_double(b, config_setting_get_float(s), 17);
                break;
        case CONFIG_TYPE_BOOL:
                strbuf_add(b, config_setting_get_bool(s) ? "true" : "false");
                break;
        default:
                return fail(p, s, "%s must be a single value, not a group, list or array",
                            config_setting_name(s) ? config_setting_name(s) : "an element");
        }
        return strbuf_finish(b, ret);
}

typedef int (*value_fn)(struct parser *p, const config_setting_t *s, const char *text, void *ret);

/* Reads one scalar through @parse. */
static int read_scalar(struct parser *p, const config_setting_t *s, value_fn parse, void *ret) {
        struct strbuf b;
        const char *text = "";
        int r;

        strbuf_init(&b);
        r = scalar_text(p, s, &b, &text);
        if (r == 0)
                r = parse(p, s, text, ret);
        strbuf_done(&b);
        return r;
}

static int parse_duration(struct parser *p, const config_setting_t *s, const char *text, void *ret) {
        int r = units_parse_duration(text, ret);

        if (r == 0 && *(uint64_t *) ret == 0)
                r = -ERANGE;
        if (r < 0)
                return fail(p, s, "%s = %s is no duration above 0; write for example \"30s\", \"5m\" or \"6h\"",
                            config_setting_name(s), text);
        return 0;
}

static int parse_bool(struct parser *p, const config_setting_t *s, const char *text, void *ret) {
        if (config_setting_type(s) == CONFIG_TYPE_BOOL || config_setting_type(s) == CONFIG_TYPE_STRING)
                if (units_parse_bool(text, ret) == 0)
                        return 0;
        return fail(p, s, "%s = %s must be true or false", config_setting_name(s), text);
}

static int copy_text(struct parser *p, const config_setting_t *s, const char *text, char **ret) {
        char *copy;

        if (config_setting_type(s) != CONFIG_TYPE_STRING)
                return fail(p, s, "%s must be a string in double quotes",
                            config_setting_name(s) ? config_setting_name(s) : "an element");
        copy = strdup(text);
        if (!copy)
                return -ENOMEM;
        free(*ret);
        *ret = copy;
        return 0;
}

/* Names stand in URLs, labels and ps. */
static int parse_name(struct parser *p, const config_setting_t *s, const char *text, void *ret) {
        size_t n = strlen(text);

        for (size_t i = 0; i < n; i++)
                if (!isalnum((unsigned char) text[i]) && (i == 0 || !strchr("._-+:@", text[i])))
                        return fail(p, s, "%s may hold letters, digits and . _ - + : @ and begins with a letter or digit",
                                    config_setting_name(s));
        if (n == 0 || n > CONFIG_NAME_MAX)
                return fail(p, s, "%s must be 1 to %d characters long", config_setting_name(s), CONFIG_NAME_MAX);
        return copy_text(p, s, text, ret);
}

static int parse_path(struct parser *p, const config_setting_t *s, const char *text, void *ret) {
        if (text[0] != '/')
                return fail(p, s, "path must be absolute: it begins with /");
        if (strlen(text) >= PATH_MAX)
                return fail(p, s, "path is longer than %d bytes", PATH_MAX - 1);
        for (const char *c = text; *c != '\0'; c++)
                if (iscntrl((unsigned char) *c))
                        return fail(p, s, "path holds a control character");
        return copy_text(p, s, text, ret);
}

static int parse_any_text(struct parser *p, const config_setting_t *s, const char *text, void *ret) {
        return copy_text(p, s, text, ret);
}

static int parse_min_free_one(struct parser *p, const config_setting_t *s, const char *text, void *ret) {
        struct config_target *t = ret;
        size_t n = strlen(text);

        if (n > 1 && text[n - 1] == '%') {
                char *number = strdup(text);
                uint64_t percent = 0;
                int r;

                if (!number)
                        return -ENOMEM;
                number[n - 1] = '\0';
                r = units_parse_count(number, &percent);
                free(number);
                if (r == 0 && percent >= 1 && percent <= 99) {
                        t->min_free_percent = (unsigned) percent;
                        return 0;
                }
        } else if (units_parse_size(text, &t->min_free_bytes) == 0 && t->min_free_bytes > 0) {
                return 0;
        }
        return fail(p, s, "min_free = %s is neither a share like \"5%%\" (1 to 99) nor a size like \"10GiB\"", text);
}

static int read_min_free(struct parser *p, const config_setting_t *s, struct config_target *t) {
        int n = config_setting_is_aggregate(s) ? config_setting_length(s) : 1, r = 0;

        if (config_setting_is_group(s) || n < 1)
                return fail(p, s, "min_free takes one string or a list of them");
        t->min_free_bytes = 0;
        t->min_free_percent = 0;
        if (!config_setting_is_aggregate(s))
                return read_scalar(p, s, parse_min_free_one, t);
        for (int i = 0; i < n && r == 0; i++)
                r = read_scalar(p, config_setting_get_elem(s, (unsigned) i), parse_min_free_one, t);
        return r;
}

static int parse_accept_one(struct parser *p, const config_setting_t *s, const char *text, void *ret) {
        struct config_target *t = ret;
        enum code code;

        if (code_parse(text, &code) < 0 || !code_can_be_accepted(code))
                return fail(p, s, "accept takes controller-cache-unseen, host-cache-unseen, device-unseen, "
                                  "faster-than-medium and no-flush, not \"%s\"", text);
        t->accepted |= CODE_BIT(code);
        return 0;
}

static int read_accept(struct parser *p, const config_setting_t *s, struct config_target *t) {
        int r = 0;

        if (config_setting_is_group(s))
                return fail(p, s, "accept takes one reason or a list of them");
        if (!config_setting_is_aggregate(s))
                return read_scalar(p, s, parse_accept_one, t);
        for (int i = 0; i < config_setting_length(s) && r == 0; i++)
                r = read_scalar(p, config_setting_get_elem(s, (unsigned) i), parse_accept_one, t);
        return r;
}

/* A label's name as Prometheus wants it, and none of our own. */
static bool label_name_is_good(const char *name) {
        static const char *const reserved[] = { "target", "test", "path", "fstype", "source" };

        if (!isalpha((unsigned char) name[0]) || strlen(name) > CONFIG_NAME_MAX)
                return false;
        for (const char *c = name; *c != '\0'; c++)
                if (!isalnum((unsigned char) *c) && *c != '_')
                        return false;
        for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
                if (strcmp(name, reserved[i]) == 0)
                        return false;
        return true;
}

static int read_labels(struct parser *p, const config_setting_t *s, struct config_target *t) {
        int n = config_setting_length(s), r = 0;

        if (!config_setting_is_group(s))
                return fail(p, s, "labels must be a group: labels = { storage = \"local\"; };");
        if (n > CONFIG_LABELS_MAX)
                return fail(p, s, "at most %d labels, here are %d", CONFIG_LABELS_MAX, n);
        for (int i = 0; i < n && r == 0; i++) {
                const config_setting_t *e = config_setting_get_elem(s, (unsigned) i);
                struct config_label *l = &t->labels[i];

                if (!label_name_is_good(config_setting_name(e)))
                        return fail(p, e, "%s cannot be a label: letters, digits and _, beginning with a letter, and none "
                                    "of target, test, path, fstype, source", config_setting_name(e));
                t->n_labels = (size_t) i + 1;
                l->name = strdup(config_setting_name(e));
                if (!l->name)
                        return -ENOMEM;
                r = read_scalar(p, e, parse_any_text, &l->value);
        }
        return r;
}

/* --- tests --- */

static uint64_t default_interval_ns(enum kind kind) {
        switch (kind) {
        case KIND_PULSE:
                return 60 * UNITS_NS_PER_SECOND;
        case KIND_COMMIT:
                return UNITS_NS_PER_SECOND * 15 * 60;
        case KIND_STREAM:
                return UNITS_NS_PER_SECOND * 24 * 3600;
        case KIND_CREATE:
        case KIND_COUNT_:
                break;
        }
        return UNITS_NS_PER_SECOND * 3600;
}

struct spec_value {
        struct spec *spec;
        enum spec_key key;
};

static int parse_spec_value(struct parser *p, const config_setting_t *s, const char *text, void *ret) {
        struct spec_value *v = ret;
        char error[SPEC_ERROR_BYTES];
        int r;

        if (spec_key_is_flag(v->key) != (config_setting_type(s) == CONFIG_TYPE_BOOL) &&
            config_setting_type(s) != CONFIG_TYPE_STRING)
                return fail(p, s, spec_key_is_flag(v->key) ? "%s must be true or false" : "%s cannot be true or false",
                            config_setting_name(s));
        r = spec_set(v->spec, v->key, text, error);
        return r < 0 ? fail(p, s, "%s", error) : 0;
}

static int parse_kind(struct parser *p, const config_setting_t *s, const char *text, void *ret) {
        if (kind_parse(text, ret) < 0)
                return fail(p, s, "kind = \"%s\" is none of stream, commit, create, pulse", text);
        return 0;
}

static int read_test_key(struct parser *p, const config_setting_t *e, struct config_test *t) {
        const char *name = config_setting_name(e);
        struct spec_value value = { .spec = &t->spec };

        if (strcmp(name, "kind") == 0)
                return 0; /* read first */
        if (strcmp(name, "name") == 0)
                return read_scalar(p, e, parse_name, &t->name);
        if (strcmp(name, "interval") == 0)
                return read_scalar(p, e, parse_duration, &t->interval_ns);
        if (strchr(name, '-') || spec_key_parse(name, &value.key) < 0)
                return fail(p, e, "%s is no key of a test; see syncprobe.conf(5)", name);
        return read_scalar(p, e, parse_spec_value, &value);
}

static int finish_test(struct parser *p, const config_setting_t *s, struct config_test *t) {
        char error[SPEC_ERROR_BYTES];

        if (spec_finish(&t->spec, error) < 0)
                return fail(p, s, "%s", error);
        if (t->interval_ns < INTERVAL_MIN_NS)
                return fail(p, s, "interval is shorter than 1 s");
        if (t->spec.kind == KIND_PULSE && t->spec.period_ns > t->interval_ns)
                return fail(p, s, "period is longer than interval: no pulse would fall into it");
        if (t->spec.max_duration_ns == 0)
                t->spec.max_duration_ns =
                        t->spec.kind == KIND_STREAM ? STREAM_MAX_DURATION_NS : t->interval_ns / 2;
        if (!t->name) {
                t->name = strdup(spec_default_name(&t->spec));
                if (!t->name)
                        return -ENOMEM;
        }
        return 0;
}

static int read_test(struct parser *p, const config_setting_t *s, struct config_test *t) {
        const config_setting_t *k = config_setting_is_group(s) ? config_setting_get_member(s, "kind") : NULL;
        enum kind kind = KIND_COUNT_;
        int r = 0;

        if (!config_setting_is_group(s))
                return fail(p, s, "a test must be a group: { kind = \"commit\"; interval = \"15m\"; }");
        if (!k)
                return fail(p, s, "a test needs its kind: stream, commit, create or pulse");
        r = read_scalar(p, k, parse_kind, &kind);
        if (r < 0)
                return r;
        spec_init(&t->spec, kind);
        t->interval_ns = default_interval_ns(kind);
        for (int i = 0; i < config_setting_length(s) && r == 0; i++)
                r = read_test_key(p, config_setting_get_elem(s, (unsigned) i), t);
        return r < 0 ? r : finish_test(p, s, t);
}

static bool same_name(const char *a, const char *b) {
        return a && b && strcmp(a, b) == 0;
}

static int check_test_name(struct parser *p, const config_setting_t *s, const struct config_target *t,
                           const struct config_test *new) {
        for (size_t i = 0; i < t->n_tests; i++)
                if (&t->tests[i] != new && same_name(t->tests[i].name, new->name))
                        return fail(p, s, "the target has two tests named %s; give one of them another name = \"…\"",
                                    new->name);
        return 0;
}

static int read_tests(struct parser *p, const config_setting_t *s, struct config_target *t) {
        int n = config_setting_length(s), r = 0;

        if (!config_setting_is_list(s) || n < 1 || n > CONFIG_TESTS_MAX)
                return fail(p, s, "tests must be a list of 1 to %d groups in parentheses", CONFIG_TESTS_MAX);
        t->tests = calloc((size_t) n, sizeof *t->tests);
        if (!t->tests)
                return -ENOMEM;
        for (int i = 0; i < n && r == 0; i++) {
                const config_setting_t *e = config_setting_get_elem(s, (unsigned) i);

                t->n_tests = (size_t) i + 1;
                r = read_test(p, e, &t->tests[i]);
                if (r == 0)
                        r = check_test_name(p, e, t, &t->tests[i]);
        }
        return r;
}

/* What a target is tested with when it names no tests. */
static int add_default_tests(struct parser *p, const config_setting_t *s, struct config_target *t) {
        static const enum kind kinds[] = { KIND_PULSE, KIND_COMMIT, KIND_STREAM };
        int r = 0;

        t->tests = calloc(3, sizeof *t->tests);
        if (!t->tests)
                return -ENOMEM;
        for (size_t i = 0; i < 3 && r == 0; i++) {
                t->n_tests = i + 1;
                spec_init(&t->tests[i].spec, kinds[i]);
                t->tests[i].interval_ns = default_interval_ns(kinds[i]);
                r = finish_test(p, s, &t->tests[i]);
        }
        return r;
}

/* --- targets --- */

static int read_target_key(struct parser *p, const config_setting_t *e, struct config_target *t) {
        const struct {
                const char *name;
                value_fn parse;                                                              /* a scalar, or */
                int (*read)(struct parser *, const config_setting_t *, struct config_target *); /* anything else */
                void *ret;
        } keys[] = {
                { "name", parse_name, NULL, &t->name },
                { "path", parse_path, NULL, &t->path },
                { "group", parse_name, NULL, &t->group },
                { "deadline", parse_duration, NULL, &t->deadline_ns },
                { "kill_after", parse_duration, NULL, &t->kill_after_ns },
                { "owner_check", parse_bool, NULL, &t->owner_check },
                { "min_free", NULL, read_min_free, NULL },
                { "accept", NULL, read_accept, NULL },
                { "labels", NULL, read_labels, NULL },
                { "tests", NULL, read_tests, NULL },
        };

        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
                if (strcmp(config_setting_name(e), keys[i].name) == 0)
                        return keys[i].parse ? read_scalar(p, e, keys[i].parse, keys[i].ret) : keys[i].read(p, e, t);
        return fail(p, e, "%s is no key of a target; see syncprobe.conf(5)", config_setting_name(e));
}

static int read_target(struct parser *p, const config_setting_t *s, struct config_target *t) {
        int r = 0;

        if (!config_setting_is_group(s))
                return fail(p, s, "a target must be a group: { name = \"vz\"; path = \"/…\"; }");
        *t = (struct config_target) {
                .deadline_ns = DEFAULT_DEADLINE_NS,
                .kill_after_ns = DEFAULT_KILL_AFTER_NS,
                .min_free_bytes = DEFAULT_MIN_FREE_BYTES,
                .min_free_percent = DEFAULT_MIN_FREE_PERCENT,
                .owner_check = true,
        };
        for (int i = 0; i < config_setting_length(s) && r == 0; i++)
                r = read_target_key(p, config_setting_get_elem(s, (unsigned) i), t);
        if (r < 0)
                return r;
        if (!t->name || !t->path)
                return fail(p, s, "a target needs %s", t->name ? "a path" : "a name");
        if (t->kill_after_ns <= t->deadline_ns)
                return fail(p, s, "kill_after must be longer than deadline");
        return t->tests ? 0 : add_default_tests(p, s, t);
}

static int read_targets(struct parser *p, const config_setting_t *s, struct config *c) {
        int n = config_setting_length(s), r = 0;

        if (!config_setting_is_list(s) || n > CONFIG_TARGETS_MAX)
                return fail(p, s, "targets must be a list of at most %d groups in parentheses", CONFIG_TARGETS_MAX);
        if (n == 0)
                return 0;
        c->targets = calloc((size_t) n, sizeof *c->targets);
        if (!c->targets)
                return -ENOMEM;
        for (int i = 0; i < n && r == 0; i++) {
                const config_setting_t *e = config_setting_get_elem(s, (unsigned) i);

                c->n_targets = (size_t) i + 1;
                r = read_target(p, e, &c->targets[i]);
                for (int k = 0; k < i && r == 0; k++)
                        if (same_name(c->targets[k].name, c->targets[i].name))
                                r = fail(p, e, "two targets are named %s", c->targets[i].name);
        }
        return r;
}

static int read_listen(struct parser *p, const config_setting_t *s, struct config *c) {
        bool one = !config_setting_is_aggregate(s);
        int n = one ? 1 : config_setting_length(s), r = 0;

        if (config_setting_is_group(s) || n < 1)
                return fail(p, s, "listen must be an address like \"127.0.0.1:10075\" or a list of them");
        c->listen = calloc((size_t) n, sizeof *c->listen);
        if (!c->listen)
                return -ENOMEM;
        for (int i = 0; i < n && r == 0; i++) {
                c->n_listen = (size_t) i + 1;
                r = read_scalar(p, one ? s : config_setting_get_elem(s, (unsigned) i), parse_any_text, &c->listen[i]);
        }
        return r;
}

static int read_root(struct parser *p, const config_setting_t *root, struct config *c) {
        int r = 0;

        for (int i = 0; i < config_setting_length(root) && r == 0; i++) {
                const config_setting_t *e = config_setting_get_elem(root, (unsigned) i);

                if (strcmp(config_setting_name(e), "listen") == 0)
                        r = read_listen(p, e, c);
                else if (strcmp(config_setting_name(e), "targets") == 0)
                        r = read_targets(p, e, c);
                else
                        r = fail(p, e, "%s is no key here; there are listen and targets", config_setting_name(e));
        }
        if (r < 0 || c->listen)
                return r;
        c->listen = calloc(1, sizeof *c->listen);
        if (c->listen)
                c->listen[0] = strdup(DEFAULT_LISTEN);
        if (!c->listen || !c->listen[0])
                return -ENOMEM;
        c->n_listen = 1;
        return 0;
}

static int read_file(struct parser *p, config_t *file) {
        const char *slash = strrchr(p->path, '/');
        char *directory = slash ? strndup(p->path, (size_t) (slash - p->path) + (slash == p->path)) : strdup(".");

        if (!directory)
                return -ENOMEM;
        config_set_include_dir(file, directory);
        free(directory);
        errno = 0;
        if (config_read_file(file, p->path) == CONFIG_TRUE)
                return 0;
        if (config_error_type(file) == CONFIG_ERR_FILE_IO) {
                strbuf_printf(&p->error, "%s: cannot be read: %s", p->path, strerror(errno != 0 ? errno : EIO));
                return errno != 0 ? -errno : -EIO;
        }
        strbuf_printf(&p->error, "%s:%d: %s", config_error_file(file) ? config_error_file(file) : p->path,
                      config_error_line(file), config_error_text(file));
        return -EINVAL;
}

int config_load(const char *path, struct config **ret, char **ret_error) {
        struct config *c = calloc(1, sizeof *c);
        struct parser p = { .path = path };
        config_t file;
        int r;

        *ret_error = NULL;
        if (!c)
                return -ENOMEM;
        config_init(&file);
        strbuf_init(&p.error);
        r = read_file(&p, &file);
        if (r == 0)
                r = read_root(&p, config_root_setting(&file), c);
        config_destroy(&file);
        if (r < 0) {
                config_free(c);
                if (r != -ENOMEM && strbuf_steal(&p.error, ret_error) < 0)
                        *ret_error = NULL;
                strbuf_done(&p.error);
                return r;
        }
        strbuf_done(&p.error);
        *ret = c;
        return 0;
}

static void free_target(struct config_target *t) {
        free(t->name);
        free(t->path);
        free(t->group);
        for (size_t i = 0; i < t->n_labels; i++) {
                free(t->labels[i].name);
                free(t->labels[i].value);
        }
        for (size_t i = 0; i < t->n_tests; i++)
                free(t->tests[i].name);
        free(t->tests);
}

struct config *config_free(struct config *c) {
        if (!c)
                return NULL;
        for (size_t i = 0; i < c->n_listen; i++)
                free(c->listen[i]);
        free(c->listen);
        for (size_t i = 0; i < c->n_targets; i++)
                free_target(&c->targets[i]);
        free(c->targets);
        free(c);
        return NULL;
}
