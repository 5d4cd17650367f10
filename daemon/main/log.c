/*
 * The log; see main/log.h.
 *
 * A line is at most PIPE_BUF bytes: when poll() says that a pipe or socket takes data, so
 * much goes in whole and at once. O_NONBLOCK is not set on standard error, since
 * whoever shares the terminal would get it too.
 */
#include "main/log.h"

#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t dropped, dropped_told;

static void write_line(enum log_level level, const char *text) {
        struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
        static int prefixed = -1;
        char line[PIPE_BUF];
        int n;

        if (prefixed < 0)
                prefixed = getenv("JOURNAL_STREAM") != NULL;
        n = prefixed ? snprintf(line, sizeof line, "<%d>%s\n", (int) level, text)
                     : snprintf(line, sizeof line, "syncprobed: %s\n", text);
        if (n < 0 || n >= (int) sizeof line || poll(&p, 1, 0) != 1 || (p.revents & POLLOUT) == 0 || write(STDERR_FILENO, line, (size_t) n) != n)
                dropped++;
}

void log_write(enum log_level level, const char *format, ...) {
        char text[PIPE_BUF - 32]; /* room for what write_line() puts around it */
        va_list arguments;
        uint64_t before = dropped;

        va_start(arguments, format);
        (void) vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        write_line(level, text);
        if (dropped == before && dropped != dropped_told) {
                (void) snprintf(text, sizeof text, "%llu log lines were dropped: their receiver had stalled",
                                (unsigned long long) (dropped - dropped_told));
                dropped_told = dropped;
                write_line(LOG_LEVEL_WARNING, text);
        }
}

uint64_t log_dropped(void) {
        return dropped;
}
