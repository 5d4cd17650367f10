/*
 * pveperf's own sequence of system calls for FSYNCS/SECOND, without perl.
 *
 *     pveperf_calls DIRECTORY COUNT
 *
 * Creates or truncates one of 300 files in turn, fsyncs it while its 4001 bytes are
 * still in perl's buffer, writes and closes; prints files a second.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FILES 300
#define BYTES 4001

static double now(void) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
        long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
        char data[BYTES], name[32];
        double start, elapsed;

        if (count < 1 || chdir(argv[1]) < 0)
                return 1;
        memset(data, 'a', sizeof data);
        start = now();
        for (long i = 1; i <= count; i++) {
                (void) snprintf(name, sizeof name, "tf_%ld.dat", i % FILES);
                int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

                if (fd < 0 || fsync(fd) < 0 || write(fd, data, BYTES) != BYTES || close(fd) < 0)
                        return 1;
        }
        elapsed = now() - start;
        for (long i = 0; i < FILES; i++) {
                (void) snprintf(name, sizeof name, "tf_%ld.dat", i);
                (void) unlink(name);
        }
        printf("%.2f\n", (double) count / elapsed);
        return 0;
}
