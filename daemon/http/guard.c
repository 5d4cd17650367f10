/*
 * The request guard; see http/guard.h.
 */
#include "http/guard.h"

#include <string.h>
#include <strings.h>

/* tchar of RFC 9110. */
static bool is_token(const char *text) {
        if (*text == '\0')
                return false;
        for (; *text != '\0'; text++) {
                unsigned char c = (unsigned char) *text;

                if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      strchr("!#$%&'*+-.^_`|~", c)))
                        return false;
        }
        return true;
}

/* A number and nothing else, not even a sign. */
static bool is_length(const char *text) {
        return text && *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* Text: no control character, a bare CR above all, which to some ends a line. */
static bool is_text(const char *text) {
        for (; text && *text != '\0'; text++) {
                unsigned char c = (unsigned char) *text;

                if ((c < ' ' && c != '\t') || c == 0x7F)
                        return false;
        }
        return true;
}

/*
 * libmicrohttpd adds a folded line to the header's name instead of its value:
 * "Content-Length:\r\n 5" comes as "Content-Length5". No header that anyone sends
 * begins like this.
 */
static bool is_folded(const char *name) {
        static const char *const heads[] = { "Content-Length", "Transfer-Encoding", "Host" };

        for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
                if (strncasecmp(name, heads[i], strlen(heads[i])) == 0 && name[strlen(heads[i])] != '\0')
                        return true;
        return false;
}

const char *guard_complaint(const char *method, const char *url, const struct guard_header *headers, size_t n) {
        unsigned hosts = 0, lengths = 0;
        bool bodyless = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;

        if (url[0] != '/')
                return "the request target must begin with /";
        for (size_t i = 0; i < n; i++) {
                const char *name = headers[i].name;

                if (!is_token(name))
                        return "malformed header name";
                if (!is_text(headers[i].value))
                        return "malformed header value";
                if (is_folded(name))
                        return "a folded header line";
                if (strcasecmp(name, "Host") == 0 && ++hosts > 1)
                        return "more than one Host";
                if (strcasecmp(name, "Transfer-Encoding") == 0)
                        return "Transfer-Encoding is not taken";
                if (strcasecmp(name, "Content-Length") != 0)
                        continue;
                if (++lengths > 1)
                        return "more than one Content-Length";
                if (!is_length(headers[i].value))
                        return "malformed Content-Length";
                if (bodyless && strspn(headers[i].value, "0") != strlen(headers[i].value))
                        return "a body with a method that has none";
        }
        return NULL;
}
