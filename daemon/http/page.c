/*
 * The page; see http/page.h.
 *
 * A row a target, the worst first; the numbers of its newest good runs. Colour
 * only repeats what a word says.
 */
#include "http/page.h"

#include <math.h>
#include <string.h>

#include "core/units.h"
#include "core/utf8.h"

static const char style[] =
        ":root{color-scheme:light dark;--line:#8884;--dim:#767676;--bad:#c01c28;--warn:#a15c00;--good:#1a7f37}"
        "@media(prefers-color-scheme:dark){:root{--dim:#9a9a9a;--bad:#ff7b72;--warn:#e3b341;--good:#56d364}}"
        "body{font:16px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem}"
        "h1{font-size:1.3rem;margin:0 0 .25rem}p{margin:.25rem 0 1rem}.dim{color:var(--dim)}"
        ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%}"
        "th{text-align:left;font-weight:600;font-size:.85rem;color:var(--dim)}"
        "th,td{padding:.45rem .75rem .45rem 0;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}"
        "td.n{font-variant-numeric:tabular-nums}td small{display:block;color:var(--dim)}td.path small{white-space:normal;"
        "overflow-wrap:anywhere;min-width:10rem}.s{font-weight:600}.bad{color:var(--bad)}.warn{color:var(--warn)}"
        ".good{color:var(--good)}.old td[data-l]{color:var(--dim)}code{font-size:.9em}pre{white-space:pre-wrap}a{color:inherit}"
        "footer{margin-top:1.5rem;font-size:.9rem}"
        /* On a phone a row is a card, and each number says what it is. */
        "@media(max-width:44rem){thead{display:none}table,tbody{display:block}"
        "tr{display:grid;grid-template-columns:repeat(3,1fr);gap:.4rem .75rem;padding:.75rem 0;border-bottom:1px solid var(--line)}"
        "td{padding:0;border:0;white-space:normal}td.path{grid-row:1;grid-column:1/3}td[data-l]::before{content:attr(data-l);display:block;"
        "font-size:.8rem;color:var(--dim)}}";

static void add_escaped(struct strbuf *b, const char *text) {
        while (*text != '\0') {
                size_t n = utf8_length(text);

                if (n == 0) {
                        strbuf_add(b, "\xef\xbf\xbd");
                        n = 1;
                } else if (*text == '<') {
                        strbuf_add(b, "&lt;");
                } else if (*text == '>') {
                        strbuf_add(b, "&gt;");
                } else if (*text == '&') {
                        strbuf_add(b, "&amp;");
                } else if (*text == '"') {
                        strbuf_add(b, "&quot;");
                } else if (*text == '\'') {
                        strbuf_add(b, "&#39;");
                } else {
                        strbuf_add_bytes(b, text, n);
                }
                text += n;
        }
}

/* A segment of a URL's path: all but unreserved characters percent-encoded, so nothing is left to escape. */
static void add_segment(struct strbuf *b, const char *text) {
        for (; *text != '\0'; text++) {
                char c = *text;

                if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("-._~", c))
                        strbuf_add_char(b, c);
                else
                        strbuf_printf(b, "%%%02X", (unsigned) (unsigned char) c);
        }
}

static const char *status_class(enum status status) {
        switch (status) {
        case STATUS_HUNG:
        case STATUS_FAILING:
        case STATUS_UNAVAILABLE:
                return "bad";
        case STATUS_SLOW:
        case STATUS_SUSPECT:
                return "warn";
        case STATUS_FINE:
                return "good";
        case STATUS_UNKNOWN:
        case STATUS_PAUSED:
        case STATUS_COUNT_:
                break;
        }
        return "dim";
}

static const char *verdict_class(enum verdict verdict) {
        return verdict == VERDICT_CREDIBLE ? "good" : verdict == VERDICT_SUSPECT ? "warn" : "";
}

/* The newest good result of the first test of @kind; NULL: none. */
static const struct result *last_of(const struct snapshot_target *t, enum kind kind) {
        for (size_t i = 0; i < t->n_tests; i++)
                if (t->tests[i].spec->kind == kind && t->tests[i].last_ok)
                        return t->tests[i].last_ok;
        return NULL;
}

static void add_duration(struct strbuf *b, uint64_t ns) {
        if (ns == HISTOGRAM_NONE)
                strbuf_add(b, "–");
        else
                units_add_duration(b, ns);
}

static void add_status(struct strbuf *b, const struct snapshot_target *t) {
        strbuf_printf(b, "<td><span class=\"s %s\">%s</span>", status_class(t->status), status_name(t->status));
        if (t->status == STATUS_HUNG) {
                strbuf_printf(b, "<small>in %s for ", t->phase == PHASE_NONE ? "its start" : phase_name(t->phase));
                units_add_duration(b, t->inflight_ns);
                strbuf_add(b, "</small>");
        } else if (t->state == STATE_RUNNING) {
                strbuf_add(b, "<small>running</small>");
        }
        strbuf_add(b, "</td>");
}

/* What the newest failed run of any test says; nothing when all are good. */
static void add_trouble(struct strbuf *b, const struct snapshot_target *t) {
        for (size_t i = 0; i < t->n_tests; i++) {
                const struct results *rs = t->tests[i].results;

                if (rs->count == 0 || result_is_ok(results_get(rs, 0)))
                        continue;

                struct strbuf text;
                const char *words;

                strbuf_init(&text);
                result_add_failure(&text, results_get(rs, 0));
                if (strbuf_finish(&text, &words) == 0) {
                        strbuf_add(b, "<small class=\"bad\">");
                        add_escaped(b, t->tests[i].name);
                        strbuf_add(b, ": ");
                        add_escaped(b, words);
                        strbuf_add(b, "</small>");
                }
                strbuf_done(&text);
                return;
        }
}

static void add_target_name(struct strbuf *b, const struct snapshot_target *t) {
        strbuf_add(b, "<td class=path><a href=\"api/v1/targets/");
        add_segment(b, t->name);
        strbuf_add(b, "\">");
        add_escaped(b, t->name);
        strbuf_add(b, "</a><small>");
        add_escaped(b, t->path);
        if (t->fstype[0] != '\0') {
                strbuf_add(b, " (");
                add_escaped(b, t->fstype);
                strbuf_add_char(b, ')');
        }
        strbuf_add(b, "</small>");
        add_trouble(b, t);
        strbuf_add(b, "</td>");
}

static void add_latency(struct strbuf *b, const struct result *r) {
        strbuf_add(b, "<td class=n data-l=\"sync p50\">");
        if (r) {
                add_duration(b, r->sync.p50_ns);
                strbuf_add(b, "<small>p99 ");
                add_duration(b, r->sync.p99_ns);
                strbuf_add(b, ", max ");
                add_duration(b, r->sync.max_ns);
                strbuf_add(b, "</small>");
        } else {
                strbuf_add(b, "–");
        }
        strbuf_add(b, "</td>");
}

static void add_commits(struct strbuf *b, const struct snapshot_target *t) {
        const struct result *commit = last_of(t, KIND_COMMIT), *create = last_of(t, KIND_CREATE);

        strbuf_add(b, "<td class=n data-l=commits>");
        if (commit && !isnan(commit->syncs_per_second)) {
                strbuf_add_fixed(b, commit->syncs_per_second, commit->syncs_per_second < 100 ? 1 : 0);
                strbuf_add(b, "/s");
        } else {
                strbuf_add(b, "–");
        }
        if (create && !isnan(create->syncs_per_second)) {
                strbuf_add(b, "<small>create ");
                strbuf_add_fixed(b, create->syncs_per_second, 2);
                strbuf_add(b, "/s</small>");
        }
        strbuf_add(b, "</td>");
}

static void add_age(struct strbuf *b, const struct snapshot *s, const struct result *r) {
        /* A clock that was set back makes no negative age. */
        if (s->now_realtime_ns < r->ended_realtime_ns + UNITS_NS_PER_SECOND) {
                strbuf_add(b, "just now");
                return;
        }
        units_add_duration(b, s->now_realtime_ns - r->ended_realtime_ns);
        strbuf_add(b, " ago");
}

/* It runs so seldom that its own age is told when something newer is there. */
static void add_stream(struct strbuf *b, const struct snapshot *s, const struct snapshot_target *t,
                       const struct result *newest) {
        const struct result *r = last_of(t, KIND_STREAM);

        strbuf_add(b, "<td class=n data-l=stream>");
        if (r && !isnan(r->stream_bytes_per_second)) {
                units_add_rate(b, r->stream_bytes_per_second);
                strbuf_add(b, "<small>");
                strbuf_add_fixed(b, r->stream_bytes_per_second / 1048576, r->stream_bytes_per_second < 1e8 ? 1 : 0);
                strbuf_add(b, " MiB/s</small>");
                if (r != newest) {
                        strbuf_add(b, "<small>");
                        add_age(b, s, r);
                        strbuf_add(b, "</small>");
                }
        } else {
                strbuf_add(b, "–");
        }
        strbuf_add(b, "</td>");
}

static const struct result *newest(const struct snapshot_target *t) {
        const struct result *found = NULL;

        for (size_t i = 0; i < t->n_tests; i++) {
                const struct result *r = t->tests[i].last_ok;

                if (r && (!found || r->ended_realtime_ns > found->ended_realtime_ns))
                        found = r;
        }
        return found;
}

/* With the reasons that set it. */
static void add_verdict(struct strbuf *b, const struct result *r) {
        const struct judgement *j = &r->judgement;
        const char *between = "<small>";

        strbuf_printf(b, "<span class=\"%s\">%s</span>", verdict_class(j->verdict), verdict_name(j->verdict));
        for (unsigned i = 0; i < CODE_COUNT_; i++)
                if ((j->codes & ~j->accepted & CODE_BIT(i)) != 0 && j->verdict != VERDICT_CREDIBLE &&
                    code_verdict((enum code) i) == j->verdict) {
                        strbuf_printf(b, "%s%s", between, code_name((enum code) i));
                        between = ", ";
                }
        if (between[0] == ',')
                strbuf_add(b, "</small>");
}

static void add_row(struct strbuf *b, const struct snapshot *s, const struct snapshot_target *t) {
        const struct result *last = newest(t), *pulse = last_of(t, KIND_PULSE), *commit = last_of(t, KIND_COMMIT);

        /* What is shown beside a trouble was measured before it. */
        strbuf_add(b, t->status <= STATUS_UNAVAILABLE ? "<tr class=old>" : "<tr>");
        add_status(b, t);
        add_target_name(b, t);
        /* Of many samples before that of few. */
        add_latency(b, commit ? commit : pulse);
        add_commits(b, t);
        add_stream(b, s, t, last);
        strbuf_add(b, "<td data-l=verdict>");
        if (last)
                add_verdict(b, last);
        else
                strbuf_add(b, "–");
        strbuf_add(b, "</td><td class=n data-l=\"last result\">");
        if (last)
                add_age(b, s, last);
        else
                strbuf_add(b, "never");
        strbuf_add(b, "</td></tr>\n");
}

static void add_summary(struct strbuf *b, const struct snapshot *s) {
        size_t counts[STATUS_COUNT_] = { 0 };
        bool first = true;

        for (size_t i = 0; i < s->n_targets; i++)
                counts[s->targets[i].status]++;
        strbuf_add(b, "<p>");
        for (unsigned i = 0; i < STATUS_COUNT_; i++) {
                if (counts[i] == 0)
                        continue;
                strbuf_printf(b, "%s<span class=\"s %s\">%zu %s</span>", first ? "" : ", ",
                              status_class((enum status) i), counts[i], status_name((enum status) i));
                first = false;
        }
        strbuf_add(b, "</p>\n");
}

static void add_table(struct strbuf *b, const struct snapshot *s) {
        add_summary(b, s);
        strbuf_add(b, "<div class=wide tabindex=0 role=region aria-label=\"Targets\"><table><thead><tr><th>status<th>target"
                      "<th>sync p50<th>commits<th>stream<th>verdict<th>last result</tr></thead><tbody>\n");
        for (unsigned status = 0; status < STATUS_COUNT_; status++)
                for (size_t i = 0; i < s->n_targets; i++)
                        if (s->targets[i].status == (enum status) status)
                                add_row(b, s, &s->targets[i]);
        strbuf_add(b, "</tbody></table></div>\n");
}

void page_add(struct strbuf *b, const struct snapshot *s) {
        strbuf_add(b, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>"
                      "<meta name=viewport content=\"width=device-width,initial-scale=1\">"
                      "<meta http-equiv=refresh content=10><title>syncprobe</title><style>");
        strbuf_add(b, style);
        strbuf_add(b, "</style></head>\n<body><h1>syncprobe</h1>\n");
        if (s->n_targets > 0)
                add_table(b, s);
        else
                strbuf_add(b, "<p>No target is configured yet. Name a directory in the configuration file and restart "
                              "the daemon:</p>\n<pre><code>targets = ( { name = \"vz\"; path = \"/var/lib/vz/.syncprobe\"; } );"
                              "</code></pre>\n");
        strbuf_add(b, "<footer class=dim><a href=\"metrics\">metrics</a> · <a href=\"api/v1/targets\">JSON</a> · syncprobe ");
        add_escaped(b, s->version);
        strbuf_add(b, "</footer></body></html>\n");
}
