/*
 * table - text in aligned columns. Pure; memory only.
 */
#ifndef SYNCPROBE_CLI_TABLE_H
#define SYNCPROBE_CLI_TABLE_H

#include <stddef.h>

#include "core/strbuf.h"

struct table;

int table_new(struct table **ret, size_t columns);
struct table *table_free(struct table *t);

/* The next cell, from left to right and top to bottom; takes over what @text
 * holds and leaves it empty. An error of @text becomes the table's. */
void table_add(struct table *t, struct strbuf *text);
void table_add_text(struct table *t, const char *text);

/* The first @left columns are aligned to the left, the others to the right. */
void table_write(const struct table *t, struct strbuf *b, size_t left, const char *indent);

#endif
