/*
 * The table of mounts; see worker/mountinfo.h.
 */
#include "worker/mountinfo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_MAX_BYTES ((size_t) 16 << 20)

void mount_unescape(char *text) {
        char *to = text;

        for (const char *from = text; *from != '\0';) {
                if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' &&
                    from[3] >= '0' && from[3] <= '7') {
                        *to++ = (char) ((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
                        from += 4;
                } else {
                        *to++ = *from++;
                }
        }
        *to = '\0';
}

/* id parent major:minor root mount-point options [tag…] - fstype source super-options */
static bool parse_line(char *line, struct mount *ret) {
        char *rest = line, *fields[6], *device_end, *fstype, *source;

        for (size_t i = 0; i < 6; i++) {
                fields[i] = strsep(&rest, " ");
                if (!fields[i] || !rest)
                        return false;
        }
        *ret = (struct mount) {
                .id = strtoull(fields[0], NULL, 10),
                .major = (uint32_t) strtoul(fields[2], &device_end, 10),
                .root = fields[3],
                .mount_point = fields[4],
                .options = fields[5],
        };
        if (*device_end != ':')
                return false;
        ret->minor = (uint32_t) strtoul(device_end + 1, NULL, 10);
        while (rest && strcmp(strsep(&rest, " "), "-") != 0)
                ;
        if (!rest)
                return false;
        fstype = strsep(&rest, " ");
        if (!rest)
                return false;
        source = strsep(&rest, " ");
        mount_unescape(fields[3]);
        mount_unescape(fields[4]);
        mount_unescape(fstype);
        mount_unescape(source);
        ret->fstype = fstype;
        ret->source = source;
        ret->super_options = rest ? rest : "";
        return true;
}

int mountinfo_read(struct mountinfo *ret, const struct sysroot *root) {
        struct mountinfo m = { .n = 0 };
        size_t lines = 1;
        char *rest, *line;
        int r = sysroot_read_all(root, "/proc/self/mountinfo", TABLE_MAX_BYTES, &m.text);

        if (r < 0)
                return r;
        for (const char *c = m.text; *c != '\0'; c++)
                lines += *c == '\n';
        m.mounts = calloc(lines, sizeof *m.mounts);
        if (!m.mounts) {
                free(m.text);
                return -ENOMEM;
        }
        rest = m.text;
        while ((line = strsep(&rest, "\n")))
                if (parse_line(line, &m.mounts[m.n]))
                        m.n++;
        *ret = m;
        return 0;
}

void mountinfo_done(struct mountinfo *m) {
        free(m->text);
        free(m->mounts);
        *m = (struct mountinfo) { .n = 0 };
}

static bool is_below(const char *path, const char *directory) {
        size_t n = strlen(directory);

        if (n == 1) /* "/" */
                return path[0] == '/';
        return strncmp(path, directory, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* The longest mount point wins, and of several at one place the newest, which covers the others. */
static const struct mount *find_above(const struct mountinfo *m, const char *path, bool by_device, uint32_t major,
                                      uint32_t minor) {
        const struct mount *best = NULL;

        for (size_t i = 0; i < m->n; i++) {
                const struct mount *c = &m->mounts[i];

                if (by_device && (c->major != major || c->minor != minor))
                        continue;
                if (is_below(path, c->mount_point) && (!best || strlen(c->mount_point) >= strlen(best->mount_point)))
                        best = c;
        }
        return best;
}

const struct mount *mountinfo_find(const struct mountinfo *m, uint64_t id, uint32_t major, uint32_t minor,
                                   const char *path) {
        const struct mount *found;

        for (size_t i = 0; id != 0 && i < m->n; i++)
                if (m->mounts[i].id == id)
                        return &m->mounts[i];
        found = find_above(m, path, true, major, minor);
        return found ? found : mountinfo_find_path(m, path);
}

const struct mount *mountinfo_find_path(const struct mountinfo *m, const char *path) {
        return find_above(m, path, false, 0, 0);
}

static const char *next_option(const char *options, size_t *ret_length) {
        size_t n = 0;

        while (options[n] != '\0' && options[n] != ',')
                n += options[n] == '\\' && options[n + 1] != '\0' ? 2 : 1;
        *ret_length = n;
        return options[n] == ',' ? options + n + 1 : NULL;
}

bool mount_has_option(const char *options, const char *word) {
        while (options) {
                size_t n;
                const char *next = next_option(options, &n);

                if (n == strlen(word) && strncmp(options, word, n) == 0)
                        return true;
                options = next;
        }
        return false;
}

const char *mount_option_value(const char *options, const char *name, size_t *ret_length) {
        size_t length = strlen(name);

        while (options) {
                size_t n;
                const char *next = next_option(options, &n);

                if (n > length && strncmp(options, name, length) == 0 && options[length] == '=') {
                        *ret_length = n - length - 1;
                        return options + length + 1;
                }
                options = next;
        }
        return NULL;
}
