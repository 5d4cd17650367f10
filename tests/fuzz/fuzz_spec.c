/*
 * Any text as a key's value: "KIND KEY VALUE" lines, as a configuration or a
 * command line would set them. What spec_finish() grants, spec_is_valid() takes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char error[SPEC_ERROR_BYTES], *text, *rest, *line;
        struct spec spec;
        struct strbuf b;

        if (size == 0)
                return 0;
        text = strndup((const char *) data + 1, size - 1);
        if (!text)
                return 0;
        spec_init(&spec, (enum kind)(data[0] % KIND_COUNT_));
        for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                char *space = strchr(line, ' ');
                enum spec_key key;

                if (!space)
                        continue;
                *space = '\0';
                if (spec_key_parse(line, &key) == 0)
                        (void) spec_set(&spec, key, space + 1, error);
        }
        if (spec_finish(&spec, error) == 0 && !spec_is_valid(&spec))
                abort();
        strbuf_init(&b);
        spec_add_description(&b, &spec);
        strbuf_done(&b);
        free(text);
        return 0;
}
