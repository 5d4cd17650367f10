/*
 * procstat - what this process costs, for the usual process_* metrics.
 */
#ifndef SYNCPROBE_HTTP_PROCSTAT_H
#define SYNCPROBE_HTTP_PROCSTAT_H

#include <stdint.h>

struct procstat {
        double cpu_seconds;
        double start_time_seconds; /* since the epoch */
        uint64_t open_fds, max_fds;
        uint64_t virtual_bytes, resident_bytes;
};

/* From /proc/self, which never sleeps on storage. 0 or -errno. */
int procstat_read(struct procstat *ret);

#endif
