/*
 * The progress line; see cli/progress.h.
 */
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/bars.h"
#include "cli/report.h"
#include "cli/screen.h"
#include "core/units.h"
#include "core/utf8.h"

#define WIDTH_FALLBACK 80
#define WIDTH_MIN 20
#define BAR_COLUMNS 20

/* A call that lasts longer is told with its age. */
#define CALL_WORTH_TELLING_NS UNITS_NS_PER_SECOND

/* Escape sequences of ECMA-48 that any terminal since the VT100 knows. */
#define ERASE_LINE "\r\033[K"

void progress_init(struct progress *p, bool wanted, bool utf8) {
        *p = (struct progress) { .shown = wanted && isatty(STDERR_FILENO) == 1, .utf8 = utf8 };
}

static double share_of(uint64_t done, uint64_t total) {
        return total > 0 ? (double) done / (double) total : 0;
}

/* How far the run has come: whatever ends it first. */
static double share_done(const struct progress_state *s) {
        uint64_t elapsed_ns = s->now_ns - s->started_ns;
        uint64_t done = s->spec->kind == KIND_STREAM ? s->worker.written_bytes : s->worker.samples;
        double share = share_of(done, s->worker.total), by_time = share_of(elapsed_ns, s->spec->duration_ns);

        if (by_time > share)
                share = by_time;
        return share < 1 ? share : 1;
}

static void add_rate(struct strbuf *b, const struct progress_state *s) {
        double seconds = (double) (s->now_ns - s->started_ns) / 1e9;

        if (seconds <= 0)
                return;
        if (s->spec->kind == KIND_STREAM) {
                units_add_rate(b, (double) s->worker.written_bytes / seconds);
        } else {
                report_add_number(b, (double) s->worker.samples / seconds);
                strbuf_add(b, "/s");
        }
}

static void add_text(struct strbuf *b, const struct progress_state *s, bool bar) {
        double share = share_done(s);
        uint64_t age_ns = s->now_ns - s->worker.since_ns;

        strbuf_add(b, s->test);
        if (bar) {
                size_t before;

                strbuf_add(b, " ");
                before = b->length;
                bars_add_bar(b, share, BAR_COLUMNS);
                if (b->error == 0) {
                        size_t columns = b->length > before ? utf8_columns(b->text + before) : 0;

                        strbuf_add_repeated(b, "░", BAR_COLUMNS - columns);
                }
        }
        strbuf_printf(b, " %3d %%  ", (int) (share * 100));
        add_rate(b, s);
        if (s->worker.phase != PHASE_NONE && age_ns >= CALL_WORTH_TELLING_NS) {
                strbuf_printf(b, "  in %s for ", phase_name(s->worker.phase));
                units_add_duration(b, age_ns / UNITS_NS_PER_SECOND * UNITS_NS_PER_SECOND);
        } else if (s->worker.phase != PHASE_NONE) {
                strbuf_printf(b, "  %s", phase_name(s->worker.phase));
        }
        strbuf_add(b, "  ");
        report_add_printable(b, s->path);
}

/* Ends the text after @width columns. */
static void cut(struct strbuf *b, unsigned width) {
        unsigned columns = 0;

        if (b->error < 0 || b->length == 0)
                return;
        for (char *at = b->text; *at != '\0'; at++) {
                if (((unsigned char) *at & 0xC0) == 0x80)
                        continue;
                if (columns == width) {
                        *at = '\0';
                        b->length = (size_t) (at - b->text);
                        return;
                }
                columns++;
        }
}

void progress_add_line(struct strbuf *b, const struct progress_state *s, unsigned width) {
        struct strbuf line;
        const char *text;

        strbuf_init(&line);
        add_text(&line, s, width > 3 * BAR_COLUMNS);
        cut(&line, width);
        if (strbuf_finish(&line, &text) == 0)
                strbuf_add(b, text);
        else
                b->error = line.error;
        strbuf_done(&line);
}

static unsigned terminal_width(void) {
        struct winsize size;

        if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
                return WIDTH_FALLBACK;
        return size.ws_col > WIDTH_MIN ? size.ws_col : WIDTH_MIN;
}

void progress_draw(struct progress *p, const struct progress_state *s) {
        const struct screen screen = { .utf8 = p->utf8 };
        struct strbuf b;

        if (!p->shown)
                return;
        strbuf_init(&b);
        strbuf_add(&b, ERASE_LINE);
        /* The last column stays free: some terminals wrap when it is written. */
        progress_add_line(&b, s, terminal_width() - 1);
        if (screen_write(&screen, stderr, &b) == 0)
                p->drawn = true;
}

void progress_erase(struct progress *p) {
        if (!p->drawn)
                return;
        fputs(ERASE_LINE, stderr);
        fflush(stderr);
        p->drawn = false;
}
