/*
 * stacktree - what lies under a path, drawn and told in text. Pure.
 */
#ifndef SYNCPROBE_CLI_STACKTREE_H
#define SYNCPROBE_CLI_STACKTREE_H

#include "core/stack.h"
#include "core/strbuf.h"

/* A line a node, each under its parent. */
void stacktree_add(struct strbuf *b, const struct stack *s);

/* What a test there can show, and what it cannot: one sentence a line, with @indent before each. */
void stacktree_add_sight(struct strbuf *b, const struct stack *s, uint32_t accepted, const char *indent);

#endif
