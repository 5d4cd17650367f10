/*
 * The paths of the endpoint; see http/routes.h.
 */
#include "http/routes.h"

#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "http/api.h"
#include "http/metrics.h"
#include "http/page.h"
#include "http/procstat.h"

#define TYPE_JSON "application/json; charset=utf-8"
#define TYPE_HTML "text/html; charset=utf-8"
#define TYPE_PLAIN "text/plain; charset=utf-8"
#define TYPE_PROMETHEUS "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

#define TARGETS "/api/v1/targets"

void routes_refuse(struct routes_reply *ret, unsigned status, const char *text) {
        ret->status = status;
        ret->content_type = TYPE_JSON;
        api_add_error(&ret->body, text);
}

static void answer_metrics(struct routes_reply *ret, const struct routes_request *request, const struct snapshot *s) {
        bool openmetrics = request->accept && strstr(request->accept, "application/openmetrics-text") != NULL;
        struct procstat process;

        ret->content_type = openmetrics ? TYPE_OPENMETRICS : TYPE_PROMETHEUS;
        metrics_add(&ret->body, s, procstat_read(&process) == 0 ? &process : NULL, openmetrics);
}

static void answer_plain(struct routes_reply *ret, bool good, const char *yes, const char *no) {
        ret->status = good ? 200 : 503;
        ret->content_type = TYPE_PLAIN;
        strbuf_add(&ret->body, good ? yes : no);
}

/* The query's page. Returns what is wrong with it, or NULL. */
static const char *read_page(const struct routes_request *request, struct api_page *ret) {
        *ret = (struct api_page) { .until_ns = UINT64_MAX, .limit = API_LIMIT_DEFAULT };
        if (request->since && api_parse_time(request->since, &ret->since_ns) < 0)
                return "since is neither RFC 3339 nor seconds since 1970";
        if (request->until && api_parse_time(request->until, &ret->until_ns) < 0)
                return "until is neither RFC 3339 nor seconds since 1970";
        if (request->limit && (units_parse_count(request->limit, &ret->limit) < 0 || ret->limit < 1 ||
                               ret->limit > API_LIMIT_MAX))
                return "limit is no number from 1 to 1000";
        return NULL;
}

/* Cuts "NAME", or "NAME/tests/TEST/results", into its names. */
static bool split_target_path(char *rest, const char **ret_target, const char **ret_test) {
        char *slash = strchr(rest, '/'), *test;

        *ret_target = rest;
        *ret_test = NULL;
        if (!slash)
                return true;
        *slash = '\0';
        if (strncmp(slash + 1, "tests/", 6) != 0)
                return false;
        test = slash + 1 + 6;
        slash = strchr(test, '/');
        if (!slash || strcmp(slash, "/results") != 0)
                return false;
        *slash = '\0';
        *ret_test = test;
        return true;
}

static void answer_target(struct routes_reply *ret, const struct routes_request *request, const struct snapshot *s) {
        char *rest = strdup(request->path + strlen(TARGETS "/"));
        const char *target_name, *test_name, *wrong;
        const struct snapshot_target *target;
        const struct snapshot_test *test;
        struct api_page page;

        if (!rest) {
                routes_refuse(ret, 503, "out of memory");
                return;
        }
        if (!split_target_path(rest, &target_name, &test_name)) {
                routes_refuse(ret, 404, "there is nothing at this path");
        } else if (!(target = api_find_target(s, target_name))) {
                routes_refuse(ret, 404, "no target has this name");
        } else if (!test_name) {
                api_add_target(&ret->body, target);
        } else if (!(test = api_find_test(target, test_name))) {
                routes_refuse(ret, 404, "the target has no test of this name");
        } else if ((wrong = read_page(request, &page))) {
                routes_refuse(ret, 400, wrong);
        } else {
                api_add_results(&ret->body, target, test, &page);
        }
        free(rest);
}

void routes_answer(struct routes_reply *ret, const struct routes_request *request, const struct snapshot *s) {
        const char *path = request->path;

        *ret = (struct routes_reply) { .status = 200, .content_type = TYPE_JSON };
        strbuf_init(&ret->body);
        if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
                ret->allow = "GET, HEAD";
                routes_refuse(ret, 405, "over this address everything is read-only");
        } else if (strcmp(path, "/") == 0) {
                ret->content_type = TYPE_HTML;
                page_add(&ret->body, s);
        } else if (strcmp(path, "/metrics") == 0) {
                answer_metrics(ret, request, s);
        } else if (strcmp(path, "/-/healthy") == 0) {
                answer_plain(ret, true, "syncprobe is healthy.\n", "");
        } else if (strcmp(path, "/-/ready") == 0) {
                answer_plain(ret, s->ready, "syncprobe is ready.\n", "syncprobe is not ready.\n");
        } else if (strcmp(path, "/api/v1/status") == 0) {
                api_add_status(&ret->body, s);
        } else if (strcmp(path, TARGETS) == 0) {
                api_add_targets(&ret->body, s);
        } else if (strncmp(path, TARGETS "/", strlen(TARGETS "/")) == 0) {
                answer_target(ret, request, s);
        } else {
                routes_refuse(ret, 404, "there is nothing at this path");
        }
}
