/*
 * Any bytes as a request's head: "METHOD URL\n" and lines of "Name:value". What
 * the guard lets pass has one meaning, checked here by other means than its own.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct head {
        const char *method, *url;
        struct guard_header headers[GUARD_HEADERS_MAX];
        size_t n;
};

static void read_head(struct head *ret, char *text) {
        char *rest, *line = strtok_r(text, "\n", &rest), *space;

        *ret = (struct head) { .method = line ? line : "", .url = "/" };
        space = line ? strchr(line, ' ') : NULL;
        if (space) {
                *space = '\0';
                ret->url = space + 1;
        }
        while (ret->n < GUARD_HEADERS_MAX && (line = strtok_r(NULL, "\n", &rest))) {
                char *colon = strchr(line, ':');

                if (colon)
                        *colon = '\0';
                ret->headers[ret->n++] = (struct guard_header) { .name = line, .value = colon ? colon + 1 : NULL };
        }
}

/* A lenient reader's view of a name: the letters and hyphens that it begins with, odd bytes between them ignored. */
static int names(const char *name, const char *wanted) {
        char letters[32];
        size_t n = 0;

        for (; *name != '\0' && n < sizeof letters - 1; name++)
                if (*name == '-' || (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z'))
                        letters[n++] = *name;
                else if ((unsigned char) *name > ' ' && (unsigned char) *name < 0x7F)
                        break;
        letters[n] = '\0';
        return strcasecmp(letters, wanted) == 0;
}

static void check_one_meaning(const struct head *h) {
        unsigned hosts = 0, lengths = 0;

        if (h->url[0] != '/')
                abort();
        for (size_t i = 0; i < h->n; i++) {
                hosts += names(h->headers[i].name, "Host");
                if (names(h->headers[i].name, "Transfer-Encoding"))
                        abort();
                if (!names(h->headers[i].name, "Content-Length"))
                        continue;
                lengths++;
                for (const char *c = h->headers[i].value; !c || *c != '\0'; c++)
                        if (!c || *c < '0' || *c > '9' || (*c != '0' && strcmp(h->method, "GET") == 0))
                                abort();
        }
        if (hosts > 1 || lengths > 1)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char *text = strndup((const char *) data, size);
        struct head head;

        if (!text)
                return 0;
        read_head(&head, text);
        if (!guard_complaint(head.method, head.url, head.headers, head.n))
                check_one_meaning(&head);
        free(text);
        return 0;
}
