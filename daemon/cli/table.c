/*
 * Text in aligned columns; see cli/table.h.
 */
#include "cli/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

#define COLUMN_GAP 2

struct table {
        char **cells; /* owned, and each of them */
        size_t count, allocated;
        size_t columns;
        int error; /* sticky, as strbuf's */
};

int table_new(struct table **ret, size_t columns) {
        struct table *t = malloc(sizeof *t);

        if (!t)
                return -ENOMEM;
        *t = (struct table) { .columns = columns };
        *ret = t;
        return 0;
}

struct table *table_free(struct table *t) {
        if (!t)
                return NULL;
        for (size_t i = 0; i < t->count; i++)
                free(t->cells[i]);
        free(t->cells);
        free(t);
        return NULL;
}

void table_add(struct table *t, struct strbuf *text) {
        char *cell;
        int r = strbuf_steal(text, &cell);

        if (r < 0) {
                t->error = r;
                return;
        }
        if (t->count == t->allocated) {
                size_t more = t->allocated > 0 ? 2 * t->allocated : 32;
                char **cells = realloc(t->cells, more * sizeof *cells);

                if (!cells) {
                        t->error = -ENOMEM;
                        free(cell);
                        return;
                }
                t->cells = cells;
                t->allocated = more;
        }
        t->cells[t->count++] = cell;
}

void table_add_text(struct table *t, const char *text) {
        struct strbuf b;

        strbuf_init(&b);
        strbuf_add(&b, text);
        table_add(t, &b);
}

static size_t column_width(const struct table *t, size_t column) {
        size_t width = 0;

        for (size_t i = column; i < t->count; i += t->columns)
                if (utf8_columns(t->cells[i]) > width)
                        width = utf8_columns(t->cells[i]);
        return width;
}

void table_write(const struct table *t, struct strbuf *b, size_t left, const char *indent) {
        if (t->error < 0) {
                b->error = t->error;
                return;
        }
        for (size_t row = 0; row < t->count; row += t->columns) {
                size_t pending = 0; /* blanks, written only when something follows */

                strbuf_add(b, indent);
                for (size_t column = 0; column < t->columns && row + column < t->count; column++) {
                        const char *cell = t->cells[row + column];
                        size_t blanks = column_width(t, column) - utf8_columns(cell);

                        if (column >= left)
                                pending += blanks;
                        if (cell[0] != '\0') {
                                strbuf_add_repeated(b, " ", pending);
                                strbuf_add(b, cell);
                                pending = 0;
                        }
                        pending += COLUMN_GAP + (column < left ? blanks : 0);
                }
                strbuf_add(b, "\n");
        }
}
