/*
 * utf8 - telling UTF-8 from other bytes. Pure.
 */
#ifndef SYNCPROBE_CORE_UTF8_H
#define SYNCPROBE_CORE_UTF8_H

#include <stddef.h>

/* The bytes of the sequence that @text begins with: no overlong form, no
 * surrogate, nothing above U+10FFFF; 0 where there is none. Reads no further
 * than the NUL, which is a sequence of 1. */
size_t utf8_length(const char *text);

/* How many characters, for texts of ours where each takes one column. */
size_t utf8_columns(const char *text);

#endif
