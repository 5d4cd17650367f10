/*
 * log - lines for the administrator, on standard error, without ever waiting.
 *
 * A receiver that has stalled (a terminal stopped with ^S, a journal whose disk
 * hangs) costs the line, not the daemon: dropped lines are counted, and the
 * count is told by the first line that gets through. Under systemd each line bears
 * its priority in journald's "<N>" prefix.
 */
#ifndef SYNCPROBE_MAIN_LOG_H
#define SYNCPROBE_MAIN_LOG_H

#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR = 3, LOG_LEVEL_WARNING = 4, LOG_LEVEL_INFO = 6 }; /* syslog's numbers */

void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t log_dropped(void);

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)

#endif
