/*
 * Finding the helper programs; see child/libexec.h for the order.
 */
#include "child/libexec.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/strbuf.h"

static int try_directory(const char *directory, size_t length, const char *program, char **ret) {
        struct strbuf b;
        char *path;
        int r;

        strbuf_init(&b);
        strbuf_add_bytes(&b, directory, length);
        strbuf_add_char(&b, '/');
        strbuf_add(&b, program);
        r = strbuf_steal(&b, &path);
        if (r < 0)
                return r;
        if (access(path, X_OK) < 0) {
                free(path);
                return -ENOENT;
        }
        *ret = path;
        return 0;
}

int libexec_find(const char *program, char **ret) {
        const char *directory = secure_getenv("SYNCPROBE_LIBEXEC");
        char self[PATH_MAX];
        int r = -ENOENT;

        if (directory && directory[0] == '/')
                r = try_directory(directory, strlen(directory), program, ret);
        if (r != -ENOENT)
                return r;

        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

        if (n > 0) {
                self[n] = '\0';
                r = try_directory(self, (size_t) (strrchr(self, '/') - self), program, ret);
                if (r != -ENOENT)
                        return r;
        }
        return try_directory(PKGLIBEXECDIR, strlen(PKGLIBEXECDIR), program, ret);
}
