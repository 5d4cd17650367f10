/*
 * progress - one line on a terminal, redrawn in place and erased at the end.
 *
 * Writing it may block where the terminal does (Ctrl-S); the test goes on
 * meanwhile, in the worker.
 */
#ifndef SYNCPROBE_CLI_PROGRESS_H
#define SYNCPROBE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "child/workerlink.h"
#include "core/spec.h"
#include "core/strbuf.h"

struct progress {
        bool shown; /* whether to draw at all */
        bool utf8;
        bool drawn; /* something stands on the line */
};

/* What the line says. */
struct progress_state {
        const char *path, *test;
        const struct spec *spec;
        uint64_t now_ns, started_ns; /* CLOCK_MONOTONIC; of the first sample seen, or of the run */
        struct workerlink_progress worker;
};

/* On stderr, when that is a terminal and @wanted. */
void progress_init(struct progress *p, bool wanted, bool utf8);

void progress_draw(struct progress *p, const struct progress_state *s);
void progress_erase(struct progress *p);

/* The line's text, at most @width columns wide. Pure. */
void progress_add_line(struct strbuf *b, const struct progress_state *s, unsigned width);

#endif
