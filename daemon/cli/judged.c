/*
 * The verdict at a report's head; see cli/judged.h.
 */
#include "cli/judged.h"

#include <string.h>

#include "core/grounds.h"
#include "core/units.h"

#define BOLD "\033[1m"
#define PLAIN "\033[0m"
#define WIDTH 100

/* --- the first line: "Verdict: suspect (stream-zero), unverified (commit, create)" --- */

static bool any_ok(const struct report_item *items, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (result_is_ok(items[i].result))
                        return true;
        return false;
}

static bool all_have(const struct report_item *items, size_t n, enum verdict verdict) {
        for (size_t i = 0; i < n; i++)
                if (result_is_ok(items[i].result) && items[i].result->judgement.verdict != verdict)
                        return false;
        return true;
}

static void add_verdict(struct strbuf *b, const struct report_item *items, size_t n, enum verdict verdict, bool *first) {
        const char *between = " (";
        bool some = false;

        for (size_t i = 0; i < n; i++)
                some = some || (result_is_ok(items[i].result) && items[i].result->judgement.verdict == verdict);
        if (!some)
                return;
        strbuf_printf(b, "%s%s", *first ? "" : "; ", verdict_name(verdict));
        *first = false;
        if (all_have(items, n, verdict))
                return;
        for (size_t i = 0; i < n; i++)
                if (result_is_ok(items[i].result) && items[i].result->judgement.verdict == verdict) {
                        strbuf_printf(b, "%s%s", between, items[i].name);
                        between = ", ";
                }
        strbuf_add(b, ")");
}

/* --- the reasons, each once --- */

static bool has(const struct report_item *item, enum code code) {
        return (item->result->judgement.codes & CODE_BIT(code)) != 0;
}

static void write_text(struct strbuf *b, const struct report_item *item, enum code code) {
        strbuf_init(b);
        grounds_add_text(b, item->result, code);
}

/* Whether both say the same of it: a reason of the stack, not of the run. */
static bool is_same(const struct report_item *x, const struct report_item *y, enum code code) {
        struct strbuf a, b;
        const char *one, *other;
        bool same;

        if (!has(x, code) || !has(y, code))
                return false;
        write_text(&a, x, code);
        write_text(&b, y, code);
        same = strbuf_finish(&a, &one) == 0 && strbuf_finish(&b, &other) == 0 && strcmp(one, other) == 0;
        strbuf_done(&a);
        strbuf_done(&b);
        return same;
}

static bool was_said(const struct report_item *items, size_t i, enum code code) {
        for (size_t k = 0; k < i; k++)
                if (is_same(&items[k], &items[i], code))
                        return true;
        return false;
}

/* Columns that a UTF-8 text takes, as good as it gets for ours. */
static size_t columns(const char *text, size_t bytes) {
        size_t n = 0;

        for (size_t i = 0; i < bytes; i++)
                n += (text[i] & 0xC0) != 0x80;
        return n;
}

/* Breaks @text at blanks; the first line begins at column @at, the others at @indent. */
static void add_wrapped(struct strbuf *b, const char *text, size_t at, size_t indent) {
        size_t column = at;

        while (*text != '\0') {
                size_t bytes = strcspn(text, " "), width = columns(text, bytes);

                if (column > indent && column + 1 + width > WIDTH) {
                        strbuf_add(b, "\n");
                        strbuf_add_repeated(b, " ", indent);
                        column = indent;
                } else if (column > indent) {
                        strbuf_add(b, " ");
                        column++;
                }
                strbuf_add_bytes(b, text, bytes);
                column += width;
                text += bytes;
                text += strspn(text, " ");
        }
        strbuf_add(b, "\n");
}

static void add_reason(struct strbuf *b, const struct report_item *items, size_t n, size_t i, enum code code) {
        struct strbuf line, text;
        const char *between = "", *said;
        size_t same = 0, ok = 0;

        for (size_t k = 0; k < n; k++) {
                ok += result_is_ok(items[k].result);
                same += k == i || is_same(&items[i], &items[k], code);
        }
        strbuf_init(&line);
        if (ok > 1 && same == ok) {
                strbuf_add(&line, "all tests");
        } else {
                for (size_t k = i; k < n; k++)
                        if (k == i || is_same(&items[i], &items[k], code)) {
                                strbuf_printf(&line, "%s%s", between, items[k].name);
                                between = ", ";
                        }
        }
        strbuf_printf(&line, ": %s%s: ", code_name(code),
                      (items[i].result->judgement.accepted & CODE_BIT(code)) != 0 ? " (accepted)" : "");
        write_text(&text, &items[i], code);
        if (strbuf_finish(&text, &said) == 0)
                report_add_printable(&line, said);
        else
                b->error = text.error;
        strbuf_add(b, "  ");
        if (strbuf_finish(&line, &said) == 0)
                add_wrapped(b, said, 2, 4);
        else
                b->error = line.error;
        strbuf_done(&text);
        strbuf_done(&line);
}

/* --- what is believed, and is bad --- */

/* A good rate beside bad latencies is a bad storage: guests and databases wait for each sync. */
static void add_slow(struct strbuf *b, const struct report_item *items, size_t n) {
        for (size_t i = 0; i < n; i++) {
                const struct result *r = items[i].result;
                struct strbuf text;
                const char *said;

                if (!result_is_ok(r) || r->spec.kind != KIND_COMMIT || r->sync.p99_ns == HISTOGRAM_NONE ||
                    r->sync.p99_ns < REPORT_SLOW_P99_NS)
                        continue;
                strbuf_init(&text);
                strbuf_printf(&text, "%s's syncs have a p99 of ", items[i].name);
                units_add_duration(&text, r->sync.p99_ns);
                strbuf_add(&text, ", and etcd wants it under ");
                units_add_duration(&text, REPORT_SLOW_P99_NS);
                strbuf_add(&text, ": guests and databases wait for each of them, however fast a stream is");
                strbuf_add(b, "Slow: ");
                if (strbuf_finish(&text, &said) == 0)
                        add_wrapped(b, said, strlen("Slow: "), strlen("Slow: "));
                else
                        b->error = text.error;
                strbuf_done(&text);
        }
}

/* --- the last line --- */

/* Advice is for the worst: the gravest code of those that set the worst verdict. */
static const struct report_item *worst(const struct report_item *items, size_t n) {
        const struct report_item *found = NULL;
        uint32_t lowest = UINT32_MAX;

        for (size_t i = 0; i < n; i++) {
                const struct judgement *j = &items[i].result->judgement;
                uint32_t open = j->codes & ~j->accepted;

                if (!result_is_ok(items[i].result) || open == 0)
                        continue;
                open &= ~open + 1; /* its lowest bit */
                if (open < lowest) {
                        lowest = open;
                        found = &items[i];
                }
        }
        return found;
}

/* The random stream beside a suspect one of zeros, if it is not suspect itself. */
static const struct report_item *better_stream(const struct report_item *items, size_t n, const struct report_item *bad) {
        const uint32_t swallowed = CODE_BIT(CODE_NOT_ALLOCATED) | CODE_BIT(CODE_COMPRESSED) | CODE_BIT(CODE_DEVICE_BYTES_MISSING);

        if (bad->result->spec.data != DATA_ZERO || (bad->result->judgement.codes & swallowed) == 0 ||
            (bad->result->judgement.codes & (CODE_BIT(CODE_MEMORY_BACKED) | CODE_BIT(CODE_SYNC_DISABLED))) != 0)
                return NULL;
        for (size_t i = 0; i < n; i++)
                if (result_is_ok(items[i].result) && items[i].result->spec.kind == KIND_STREAM &&
                    items[i].result->spec.data == DATA_RANDOM && items[i].result->judgement.verdict != VERDICT_SUSPECT)
                        return &items[i];
        return NULL;
}

static void add_advice(struct strbuf *b, const struct report_item *items, size_t n, bool bold) {
        const struct report_item *bad = worst(items, n), *better;
        struct strbuf text;
        const char *said;

        if (!bad)
                return;
        strbuf_init(&text);
        better = better_stream(items, n, bad);
        if (better)
                strbuf_printf(&text, "take the rate of %s: the zeros of %s hardly reached a disk", better->name, bad->name);
        else
                grounds_add_advice(&text, bad->result);
        strbuf_add(b, bold ? BOLD "Next:" PLAIN " " : "Next: ");
        if (strbuf_finish(&text, &said) == 0)
                add_wrapped(b, said, strlen("Next: "), strlen("Next: "));
        else
                b->error = text.error;
        strbuf_done(&text);
}

void judged_add(struct strbuf *b, const struct report_item *items, size_t n, bool bold) {
        bool first = true;

        if (!any_ok(items, n))
                return;
        strbuf_add(b, bold ? BOLD "Verdict: " : "Verdict: ");
        for (unsigned v = VERDICT_COUNT_; v-- > 0;)
                add_verdict(b, items, n, (enum verdict) v, &first);
        strbuf_add(b, bold ? PLAIN "\n" : "\n");
        for (unsigned code = 0; code < CODE_COUNT_; code++)
                for (size_t i = 0; i < n; i++)
                        if (result_is_ok(items[i].result) && has(&items[i], (enum code) code) &&
                            !was_said(items, i, (enum code) code))
                                add_reason(b, items, n, i, (enum code) code);
        add_slow(b, items, n);
        add_advice(b, items, n, bold);
}
