/*
 * Recorded trees; see treefile.h.
 */
#include "testutil.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "treefile.h"

#define PATH_BYTES 4096
#define DESCRIPTORS 16

/* --- files ------------------------------------------------------------------ */

/* Where @path lies outside of the tree; the directories above it are made. */
static void place(const struct treefile *t, const char *path, char ret[PATH_BYTES]) {
        int n = snprintf(ret, PATH_BYTES, "%s%s", t->root, path);

        assert_true(path[0] == '/' && n > 0 && n < PATH_BYTES);
        for (char *slash = strchr(ret + strlen(t->root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                if (mkdir(ret, 0700) < 0 && errno != EEXIST)
                        fail_msg("%s: %s", ret, strerror(errno));
                *slash = '/';
        }
}

void treefile_write(const struct treefile *t, const char *path, const char *content, size_t n_bytes) {
        mode_t mode = strncmp(path, "/bin/", 5) == 0 ? 0700 : 0600;
        char full[PATH_BYTES];
        int fd;

        place(t, path, full);
        fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
        if (fd < 0)
                fail_msg("%s: %s", full, strerror(errno));
        assert_int_equal(write(fd, content, n_bytes), n_bytes);
        assert_int_equal(close(fd), 0);
}

void treefile_link(const struct treefile *t, const char *path, const char *target) {
        char full[PATH_BYTES];

        place(t, path, full);
        if (symlink(target, full) < 0)
                fail_msg("%s: %s", full, strerror(errno));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        (void) st;
        (void) type;
        (void) ftw;
        return remove(path);
}

void treefile_remove(struct treefile *t) {
        free(t->text);
        t->text = NULL;
        t->n_questions = 0;
        if (t->root[0] != '\0')
                (void) nftw(t->root, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
        t->root[0] = '\0';
}

/* --- lines ------------------------------------------------------------------ */

/* Cuts @line in two at @sign; NULL: it does not stand there. */
static char *split(char *line, const char *sign) {
        char *found = strstr(line, sign);

        if (!found)
                return NULL;
        *found = '\0';
        return found + strlen(sign);
}

/* The lines up to the one that is @word, as a string; *rest then is what follows them. */
static char *take_lines(char **rest, const char *word) {
        char *begin = *rest, *line = begin;
        size_t length = strlen(word);

        while (line && (strncmp(line, word, length) != 0 || line[length] != '\n')) {
                line = strchr(line, '\n');
                line = line ? line + 1 : NULL;
        }
        if (!line)
                fail_msg("a file has no end: %s", word);
        else
                *rest = line + length + 1;
        if (line)
                *line = '\0';
        return begin;
}

static void write_line(const struct treefile *t, const char *path, char *content) {
        size_t n = strlen(content);

        if (n >= 2 && content[0] == '"' && content[n - 1] == '"') {
                content++;
                n -= 2;
        }
        content[n] = '\n'; /* over the zero or the quotation mark */
        treefile_write(t, path, content, n + 1);
}

static void do_line(struct treefile *t, char *line, char **rest, const char **directory) {
        char path[PATH_BYTES], *value, *lines;

        if (line[0] == '\0' || line[0] == '#')
                return;
        if (line[0] == '[' && line[strlen(line) - 1] == ']') {
                line[strlen(line) - 1] = '\0';
                *directory = line + 1;
                return;
        }
        value = split(line, " <<");
        if (value && line[0] == '?') {
                assert_true(t->n_questions < TREEFILE_QUESTIONS_MAX);
                lines = take_lines(rest, value);
                t->questions[t->n_questions++] = (struct treefile_question) { line + 2, lines };
                return;
        }
        lines = value ? take_lines(rest, value) : NULL;
        value = lines ? lines : split(line, " = ");
        if (!value)
                value = split(line, " -> ");
        if (!value)
                fail_msg("not understood: %s", line);
        (void) snprintf(path, sizeof path, "%s%s%s", line[0] == '/' ? "" : *directory, line[0] == '/' ? "" : "/", line);
        if (lines)
                treefile_write(t, path, lines, strlen(lines));
        else if (value && value[-2] == '>')
                treefile_link(t, path, value);
        else if (value)
                write_line(t, path, value);
}

void treefile_make_text(struct treefile *ret, const char *text) {
        const char *directory = "";
        char *rest, *line;

        treefile_remove(ret);
        (void) snprintf(ret->root, sizeof ret->root, "/tmp/treefile.XXXXXX");
        if (!mkdtemp(ret->root)) {
                ret->root[0] = '\0';
                fail_msg("mkdtemp: %s", strerror(errno));
        }
        ret->text = strdup(text);
        assert_non_null(ret->text);
        rest = ret->text;
        while ((line = strsep(&rest, "\n")))
                do_line(ret, line, &rest, &directory);
}

void treefile_make(struct treefile *ret, const char *name) {
        const char *srcdir = getenv("srcdir");
        char path[PATH_BYTES], text[65536];
        size_t n;
        FILE *f;

        (void) snprintf(path, sizeof path, "%s/tests/unit/trees/%s.tree", srcdir ? srcdir : ".", name);
        f = fopen(path, "re");
        if (!f)
                fail_msg("%s: %s (make check says where, in srcdir)", path, strerror(errno));
        n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        if (f)
                (void) fclose(f);
        assert_true(n > 0 && n < sizeof text - 1);
        text[n] = '\0';
        treefile_make_text(ret, text);
}
