/*
 * libexec - where the helper programs are: $SYNCPROBE_LIBEXEC, else beside the
 * running program (a build tree), else the installed directory.
 */
#ifndef SYNCPROBE_CHILD_LIBEXEC_H
#define SYNCPROBE_CHILD_LIBEXEC_H

/* The path of @program, to be free()d. Asks the disk that programs lie on: at
 * start only. Returns 0, -ENOENT (looked in all places) or -ENOMEM. */
int libexec_find(const char *program, char **ret);

#endif
