/*
 * Reading UTF-8; see core/utf8.h.
 */
#include "core/utf8.h"

size_t utf8_length(const char *text) {
        const unsigned char *at = (const unsigned char *) text;
        unsigned char low = 0x80, high = 0xBF;
        size_t length;

        if (at[0] < 0x80)
                return 1;
        if (at[0] >= 0xC2 && at[0] <= 0xDF) {
                length = 2;
        } else if (at[0] >= 0xE0 && at[0] <= 0xEF) {
                length = 3;
                if (at[0] == 0xE0)
                        low = 0xA0;
                if (at[0] == 0xED)
                        high = 0x9F;
        } else if (at[0] >= 0xF0 && at[0] <= 0xF4) {
                length = 4;
                if (at[0] == 0xF0)
                        low = 0x90;
                if (at[0] == 0xF4)
                        high = 0x8F;
        } else {
                return 0;
        }
        if (at[1] < low || at[1] > high)
                return 0;
        for (size_t i = 2; i < length; i++)
                if ((at[i] & 0xC0) != 0x80)
                        return 0;
        return length;
}

size_t utf8_columns(const char *text) {
        size_t columns = 0;

        for (; *text != '\0'; text++)
                if (((unsigned char) *text & 0xC0) != 0x80)
                        columns++;
        return columns;
}
