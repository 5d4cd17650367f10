/*
 * The machine's id; see child/machine.h.
 */
#include "child/machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/hash.h"

#define DIGITS (PROTO_MACHINE_BYTES - 1)

static bool read_id(const char *path, char ret[PROTO_MACHINE_BYTES]) {
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        ssize_t n;

        if (fd < 0)
                return false;
        memset(ret, 0, PROTO_MACHINE_BYTES);
        n = read(fd, ret, DIGITS);
        (void) close(fd);
        return n == DIGITS && strspn(ret, "0123456789abcdef") == DIGITS;
}

void machine_id(char ret[PROTO_MACHINE_BYTES]) {
        char host[256] = "";
        const char *words[] = { "syncprobe", host };
        uint64_t hash;

        if (read_id("/etc/machine-id", ret) || read_id("/var/lib/dbus/machine-id", ret))
                return;
        (void) gethostname(host, sizeof host - 1);
        hash = hash_words(words, 2);
        (void) snprintf(ret, PROTO_MACHINE_BYTES, "%016llx%016llx", (unsigned long long) hash,
                        (unsigned long long) ~hash);
}
