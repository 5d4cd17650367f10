/*
 * The least that a commit can cost: pwrite and fdatasync, nothing else.
 *
 *     bare_commit FILE COUNT
 *
 * Overwrites a 1 MiB file in blocks of 4 KiB; prints the nanoseconds of one commit.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096
#define BLOCKS 256

static double now(void) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

int main(int argc, char **argv) {
        long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
        int fd = count > 0 ? open(argv[1], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
        char *block = aligned_alloc(BLOCK, BLOCK);
        double start;

        if (fd < 0 || !block)
                return 1;
        memset(block, 'a', BLOCK);
        for (long i = 0; i < BLOCKS; i++)
                if (pwrite(fd, block, BLOCK, i * BLOCK) != BLOCK)
                        return 1;
        if (fdatasync(fd) < 0)
                return 1;
        start = now();
        for (long i = 0; i < count; i++)
                if (pwrite(fd, block, BLOCK, i % BLOCKS * BLOCK) != BLOCK || fdatasync(fd) < 0)
                        return 1;
        printf("%.2f\n", (now() - start) / (double) count);
        free(block);
        return close(fd) < 0 || unlink(argv[1]) < 0;
}
