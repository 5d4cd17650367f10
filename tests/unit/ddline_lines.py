#!/usr/bin/env python3
"""Makes ddline_lines.h: what the dd of this machine really prints.

dd runs under a preloaded library whose write() takes any number of bytes at no
cost and whose clock shows the wanted time at the end, so that its line can be
had for every size and time. Run by hand, when dd or the choice of lines changes:

    tests/unit/ddline_lines.py > tests/unit/ddline_lines.h
"""

import os
import random
import subprocess
import sys
import tempfile

PRELOAD = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static unsigned long long wanted(const char *name) { return strtoull(getenv(name), NULL, 10); }

/* One read of a byte, one write of which all those bytes are said to be written. */
ssize_t read(int fd, void *buffer, size_t n) {
        static int done;
        if (fd != 0 || done++)
                return 0;
        (void) buffer;
        return n;
}
ssize_t write(int fd, const void *buffer, size_t n) {
        (void) fd; (void) buffer;
        return n;
}
void *aligned_alloc(size_t alignment, size_t n) {
        (void) alignment; (void) n;
        void *p;
        return posix_memalign(&p, 65536, 65536) == 0 ? p : NULL;
}
int clock_gettime(clockid_t id, struct timespec *t) {
        static int calls;
        unsigned long long ns = 1000000000ull + (calls++ > 0 ? wanted("DD_NS") : 0);
        (void) id;
        t->tv_sec = ns / 1000000000;
        t->tv_nsec = ns % 1000000000;
        return 0;
}
"""


def dd_line(library, n_bytes, ns):
    run = subprocess.run(
        ["dd", f"bs={n_bytes}", "count=1"] if n_bytes else ["dd", "count=0"],
        env={"LD_PRELOAD": library, "DD_NS": str(ns), "LC_ALL": "C", "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return run.stderr.decode().splitlines()[-1]


def build(directory):
    source = os.path.join(directory, "fake.c")
    library = os.path.join(directory, "fake.so")
    with open(source, "w", encoding="ascii") as f:
        f.write(PRELOAD)
    subprocess.run(["cc", "-w", "-O", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def random_pair(rng):
    n_bytes = rng.choice([
        lambda: rng.randrange(1, 2000),
        lambda: int(10 ** rng.uniform(0, 18)),
        lambda: max(1, rng.choice([1000, 1024]) ** rng.randrange(1, 6) * rng.randrange(1, 2100) // 100
                    + rng.randrange(-1, 2)),
        lambda: 65536 * rng.randrange(1, 100000),
    ])()
    ns = rng.choice([
        lambda: int(10 ** rng.uniform(0, 13)),
        lambda: rng.randrange(1, 4000) * 10 ** 9,
        lambda: 10 ** 9 // rng.choice([1, 2, 4, 5, 8, 10, 16, 20, 1000, 3125]),
        lambda: rng.randrange(1, 10 ** 10),
    ])()
    return n_bytes, ns


NAMED = [(n, 1234567890) for n in (
    0, 1, 2, 999, 1000, 1001, 1023, 1024, 1025, 9949, 9950, 9951, 10239, 10240, 99949, 99950, 999499, 999500, 999999,
    1000000, 1048575, 1048576, 1073741824, 8589934592, 2 ** 40, 2 ** 50, 2 ** 60)] + [
    (1073741824, ns) for ns in (1, 36648200000, 7884320000, 631600000, 10 ** 9, 2 * 10 ** 9, 3 * 10 ** 9, 10 ** 14)] + [
    (512, 2560000000), (512, 714000), (1, 10 ** 9), (1, 3 * 10 ** 9), (15, 10 ** 10), (25, 10 ** 10), (35, 10 ** 10)]


def main():
    rng = random.Random(75)
    pairs = NAMED + [random_pair(rng) for _ in range(600)]
    with tempfile.TemporaryDirectory() as directory:
        library = build(directory)
        version = subprocess.run(["dd", "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
        print(f"/* Made by ddline_lines.py: what {version.splitlines()[0]} prints. */")
        for n_bytes, ns in pairs:
            print(f'{{ UINT64_C({n_bytes}), UINT64_C({ns}), "{dd_line(library, n_bytes, ns)}" }},')


if __name__ == "__main__":
    sys.exit(main())
