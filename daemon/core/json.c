/*
 * Pieces of our JSON documents; see core/json.h.
 */
#include "core/json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "core/histogram.h"
#include "core/proto.h"
#include "core/units.h"
#include "core/utf8.h"

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

json_t *json_from_strbuf(struct strbuf *b) {
        const char *text;
        json_t *json = strbuf_finish(b, &text) < 0 ? NULL : json_stringn_nocheck(text, b->length);

        strbuf_done(b);
        return json;
}

json_t *json_text(const char *text) {
        struct strbuf b;

        if (!text)
                return json_null();
        strbuf_init(&b);
        while (*text != '\0') {
                size_t length = utf8_length(text);

                if (length > 0)
                        strbuf_add_bytes(&b, text, length);
                else
                        strbuf_add(&b, replacement);
                text += length > 0 ? length : 1;
        }
        return json_from_strbuf(&b);
}

json_t *json_number(double value) {
        return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_seconds(uint64_t ns) {
        return ns == HISTOGRAM_NONE ? json_null() : json_real((double) ns / 1e9);
}

json_t *json_count(uint64_t value) {
        return json_integer((json_int_t) (value > INT64_MAX ? INT64_MAX : value));
}

json_t *json_bytes(uint64_t value) {
        return value == PROTO_UNKNOWN ? json_null() : json_count(value);
}

json_t *json_limit_seconds(uint64_t ns) {
        return ns == 0 ? json_null() : json_seconds(ns);
}

json_t *json_limit(uint64_t value) {
        return value == 0 ? json_null() : json_count(value);
}

json_t *json_timestamp(uint64_t realtime_ns) {
        struct strbuf b;

        strbuf_init(&b);
        units_add_timestamp(&b, realtime_ns);
        return json_from_strbuf(&b);
}

int json_add_members(json_t *object, const struct json_member *members, size_t n) {
        int r = object ? 0 : -1;

        for (size_t i = 0; i < n; i++)
                if (r < 0)
                        json_decref(members[i].value);
                else
                        r = json_object_set_new_nocheck(object, members[i].name, members[i].value);
        return r;
}

json_t *json_drop_if(bool failed, json_t *json) {
        if (!failed)
                return json;
        json_decref(json);
        return NULL;
}

json_t *json_object_of(const struct json_member *members, size_t n) {
        json_t *object = json_object();

        return json_drop_if(json_add_members(object, members, n) < 0, object);
}

static int add_chunk(const char *chunk, size_t n, void *b) {
        strbuf_add_bytes(b, chunk, n);
        return ((struct strbuf *) b)->error;
}

void json_add_document(struct strbuf *b, json_t *document) {
        int r = document ? json_dump_callback(document, add_chunk, b, JSON_FLAGS_INDENTED) : -1;

        json_decref(document);
        if (r < 0 && b->error == 0)
                b->error = -ENOMEM;
        strbuf_add_char(b, '\n');
}
