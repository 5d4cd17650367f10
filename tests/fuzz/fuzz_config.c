/*
 * Any file as a configuration: read or refused with its place, nothing worse.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "main/config.h"
#include "main/effective.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libconfig 1.5 leaks the string that a syntax error cut short. */
const char *__lsan_default_suppressions(void) {
        return "leak:libconfig.so\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        int fd = memfd_create("config", MFD_CLOEXEC);
        struct config *config;
        struct strbuf b;
        char path[64], *error;

        if (fd < 0 || write(fd, data, size) != (ssize_t) size)
                abort();
        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (config_load(path, &config, &error) == 0) {
                strbuf_init(&b);
                effective_add(&b, config);
                strbuf_done(&b);
                config_free(config);
        } else if (!error) {
                abort();
        }
        free(error);
        (void) close(fd);
        return 0;
}
