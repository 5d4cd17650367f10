/*
 * The output of ZFS's tools; see worker/zpool.h.
 *
 * In the config section a line is a tab, two spaces a level, a name, its state.
 * The pool itself and the groups "logs", "cache", "special", "dedup" and "spares" stand at
 * level 0; with -P every leaf is a path.
 */
#include "worker/zpool.h"

#include <stdbool.h>
#include <string.h>

static const struct {
        const char *name;
        bool counts;
        enum role role;
} groups[] = {
        { "logs", true, ROLE_LOG },       { "cache", true, ROLE_CACHE },     { "special", true, ROLE_SPECIAL },
        { "dedup", true, ROLE_SPECIAL },  { "spares", false, ROLE_DATA },
};

struct section {
        bool counts;
        enum role role;
};

static bool is_word(const char *text, size_t n, const char *word) {
        return strlen(word) == n && strncmp(text, word, n) == 0;
}

/* A name at level 0 opens a section. The columns' head and the pool itself come first; the
 * pool may be called like a group. */
static struct section section_of(const char *name, size_t n, size_t before) {
        for (size_t i = 0; before >= 2 && i < sizeof groups / sizeof groups[0]; i++)
                if (is_word(name, n, groups[i].name))
                        return (struct section) { groups[i].counts, groups[i].role };
        return (struct section) { true, ROLE_DATA };
}

size_t zpool_parse_status(const char *text, struct zpool_vdev *ret, size_t room) {
        const char *line = strstr(text, "config:");
        struct section section = { false, ROLE_DATA };
        size_t sections = 0, found = 0;

        for (line = line ? strchr(line, '\n') : NULL; line; line = strchr(line, '\n')) {
                const char *name = ++line;
                size_t n;

                if (line[0] != '\t') {
                        if (strncmp(line, "errors:", 7) == 0)
                                break;
                        continue;
                }
                name += 1 + strspn(line + 1, " ");
                n = strcspn(name, " \t\n");
                if (name == line + 1)
                        section = section_of(name, n, sections++);
                if (name[0] != '/' || !section.counts || n >= ZPOOL_PATH_BYTES)
                        continue;
                if (found < room) {
                        (void) memcpy(ret[found].path, name, n);
                        ret[found].path[n] = '\0';
                        ret[found].role = section.role;
                }
                found++;
        }
        return found;
}

uint32_t zpool_parse_properties(const char *text) {
        uint32_t facts = 0;

        for (const char *line = text; line && *line != '\0'; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
                size_t name = strcspn(line, "\t\n"), value;

                if (line[name] != '\t')
                        continue;
                value = strcspn(line + name + 1, "\t\n");
                if (is_word(line, name, "sync") && is_word(line + name + 1, value, "disabled"))
                        facts |= FACT_SYNC_DISABLED;
                if (is_word(line, name, "compression") && !is_word(line + name + 1, value, "off"))
                        facts |= FACT_COMPRESSION;
                if (is_word(line, name, "logbias") && is_word(line + name + 1, value, "throughput"))
                        facts |= FACT_THROUGHPUT;
        }
        return facts;
}
