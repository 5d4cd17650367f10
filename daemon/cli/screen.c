/*
 * What the output can show; see cli/screen.h.
 */
#include "cli/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/utf8.h"

void screen_init(struct screen *s) {
        const char *terminal = getenv("TERM"), *no_color = getenv("NO_COLOR");

        (void) setlocale(LC_CTYPE, "");
        s->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
        s->bold = isatty(STDOUT_FILENO) == 1 && terminal && strcmp(terminal, "dumb") != 0 &&
                  !(no_color && no_color[0] != '\0');
}

/* A message of dd's own, as translated for the installed one; else as it is. */
static const char *message_of_dd(const char *one, const char *many, uint64_t n) {
        return dcngettext("coreutils", one, many, n, LC_MESSAGES);
}

void screen_dd_words(struct ddline_words *ret, uint64_t bytes) {
        static char point[8];
        const char *found;

        /* Only for the question: numbers stay as they are in the C locale. (newlocale()
         * would need no going back, but glibc's leaks where LOCPATH is set.) */
        (void) setlocale(LC_NUMERIC, "");
        found = nl_langinfo(RADIXCHAR);
        if (found[0] == '\0' || strlen(found) >= sizeof point)
                found = ".";
        memcpy(point, found, strlen(found) + 1);
        (void) setlocale(LC_NUMERIC, "C");

        (void) setlocale(LC_MESSAGES, "");
        *ret = (struct ddline_words) {
                .decimal_point = point,
                .plain = message_of_dd("%" PRIdMAX " byte copied, %s, %s", "%" PRIdMAX " bytes copied, %s, %s", bytes),
                .si = dcgettext("coreutils", "%" PRIdMAX " bytes (%s) copied, %s, %s", LC_MESSAGES),
                .si_iec = dcgettext("coreutils", "%" PRIdMAX " bytes (%s, %s) copied, %s, %s", LC_MESSAGES),
                .infinity = dcgettext("coreutils", "Infinity", LC_MESSAGES),
        };
}

static const struct {
        const char *sign, *ascii;
} plain[] = {
        { "µ", "u" }, { "–", "-" }, { "—", "-" }, { "×", "x" }, { "…", "..." }, { "▏", "." }, { "▎", ":" },
        { "▍", ":" }, { "▌", "=" }, { "▋", "=" }, { "▊", "=" }, { "▉", "#" }, { "█", "#" }, { "░", "-" },
};

void screen_add_ascii(struct strbuf *b, const char *text) {
        while (*text != '\0') {
                size_t length = utf8_length(text);
                const char *ascii = "?";

                if (length == 0)
                        length = 1;
                for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
                        if (strncmp(plain[i].sign, text, length) == 0 && plain[i].sign[length] == '\0')
                                ascii = plain[i].ascii;
                if ((unsigned char) text[0] < 0x80)
                        strbuf_add_bytes(b, text, 1);
                else
                        strbuf_add(b, ascii);
                text += length;
        }
}

int screen_write(const struct screen *s, FILE *to, struct strbuf *b) {
        struct strbuf ascii;
        const char *text;
        int r;

        strbuf_init(&ascii);
        r = strbuf_finish(b, &text);
        if (r == 0 && !s->utf8) {
                screen_add_ascii(&ascii, text);
                r = strbuf_finish(&ascii, &text);
        }
        if (r == 0 && (fputs(text, to) == EOF || fflush(to) != 0))
                r = errno > 0 ? -errno : -EIO;
        strbuf_done(&ascii);
        strbuf_done(b);
        return r;
}
