/*
 * treefile - recorded trees of /proc, /sys and /bin, put into a directory of their own.
 *
 * A tree is a text file, tests/unit/trees/NAME.tree; what is not one of these is a fault:
 *
 *     # comment                  the first one says what machine it is
 *     PATH = CONTENT             a file of one line; "CONTENT" keeps the spaces at its ends
 *     PATH -> TARGET             a symbolic link
 *     PATH <<END                 a file of several lines, up to the line END
 *     [DIRECTORY]                where paths that follow begin, if not with a slash
 *     ? QUESTION <<END           not part of the tree: what the test asks of it, and
 *                                the answer that is right
 *
 * Directories are made as needed. What lies in /bin can be executed.
 */
#ifndef SYNCPROBE_TESTS_TREEFILE_H
#define SYNCPROBE_TESTS_TREEFILE_H

#include <stddef.h>

#define TREEFILE_QUESTIONS_MAX 8

struct treefile_question {
        const char *asked, *answer; /* the answer's lines each end in a newline */
};

struct treefile {
        char root[64]; /* the directory; "": none */
        char *text;    /* owned */
        struct treefile_question questions[TREEFILE_QUESTIONS_MAX];
        size_t n_questions;
};

/* Both fail the test when something is wrong. treefile_remove() belongs into the
 * test's teardown, and may be called again. */
void treefile_make(struct treefile *ret, const char *name);
void treefile_make_text(struct treefile *ret, const char *text);
void treefile_remove(struct treefile *t);

/* One more file, or another content for one. */
void treefile_write(const struct treefile *t, const char *path, const char *content, size_t n_bytes);
void treefile_link(const struct treefile *t, const char *path, const char *target);

#endif
