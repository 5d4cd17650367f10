/*
 * Any bytes as a message between worker and parent: what is accepted must be
 * safe to work with.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the parent would make of a report that passed. */
static void use_report(const struct proto_report *report) {
        static struct histogram empty;
        struct result result;
        struct strbuf b;
        struct spec spec;
        char error[SPEC_ERROR_BYTES];

        histogram_reset(&empty);
        spec_init(&spec, KIND_COMMIT);
        if (spec_finish(&spec, error) < 0)
                abort();
        result_from_report(&result, &spec, report, &empty, &empty);
        strbuf_init(&b);
        result_add_failure(&b, &result);
        strbuf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static union proto_message m;
        struct strbuf b;
        int type;

        if (size > sizeof m)
                return 0;
        (void) memset(&m, 0, sizeof m);
        (void) memcpy(&m, data, size);
        type = proto_check(&m, size);
        if (type == PROTO_RUN && (m.run.flags & PROTO_RUN_LOOKUP) == 0) {
                strbuf_init(&b);
                spec_add_description(&b, &m.run.spec);
                strbuf_done(&b);
        }
        if (type == PROTO_REPORT)
                use_report(&m.report);
        return 0;
}
