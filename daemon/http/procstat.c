/*
 * /proc/self; see http/procstat.h. The fields are those of proc(5).
 */
#include "http/procstat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* All of a small file, as text. */
static int read_text(const char *path, char *text, size_t room) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n;

        if (fd < 0)
                return -errno;
        n = read(fd, text, room - 1);
        (void) close(fd);
        if (n <= 0)
                return n < 0 ? -errno : -EIO;
        text[n] = '\0';
        return 0;
}

/* The @number-th field of /proc/self/stat, 3 being the first behind the name. */
static unsigned long long stat_field(const char *behind_name, unsigned number) {
        const char *field = behind_name;

        for (unsigned i = 2; i < number && field; i++) {
                field = strchr(field, ' ');
                if (field)
                        field++;
        }
        return field ? strtoull(field, NULL, 10) : 0;
}

/* The process began @ticks after boot. */
static double start_time(double ticks_per_second, unsigned long long ticks) {
        struct timespec now, since_boot;

        clock_gettime(CLOCK_REALTIME, &now);
        clock_gettime(CLOCK_BOOTTIME, &since_boot);
        return (double) (now.tv_sec - since_boot.tv_sec) + (double) (now.tv_nsec - since_boot.tv_nsec) / 1e9 +
               (double) ticks / ticks_per_second;
}

static uint64_t count_descriptors(void) {
        DIR *d = opendir("/proc/self/fd");
        uint64_t count = 0;

        if (!d)
                return 0;
        while (readdir(d))
                count++;
        (void) closedir(d);
        return count > 3 ? count - 3 : 0; /* . and .. and this directory's own */
}

int procstat_read(struct procstat *ret) {
        double ticks_per_second = (double) sysconf(_SC_CLK_TCK);
        struct rlimit files;
        const char *behind_name;
        char text[1024];
        int r = read_text("/proc/self/stat", text, sizeof text);

        if (r < 0)
                return r;
        behind_name = strrchr(text, ')');
        if (!behind_name || behind_name[1] != ' ')
                return -EBADMSG;
        if (getrlimit(RLIMIT_NOFILE, &files) < 0)
                return -errno;
        behind_name++; /* a space: field 3 follows the next one */
        *ret = (struct procstat) {
                .cpu_seconds = (double) (stat_field(behind_name, 14) + stat_field(behind_name, 15)) / ticks_per_second,
                .start_time_seconds = start_time(ticks_per_second, stat_field(behind_name, 22)),
                .open_fds = count_descriptors(),
                .max_fds = (uint64_t) files.rlim_cur,
                .virtual_bytes = stat_field(behind_name, 23),
                .resident_bytes = stat_field(behind_name, 24) * (uint64_t) sysconf(_SC_PAGESIZE),
        };
        return 0;
}
