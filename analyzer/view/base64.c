/* Encodes bytes as base64. */
#include "view/base64.h"

#include <string.h>

enum { GROUPS = 1024 };

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(const void *bytes, size_t length, FILE *out)
{
    const unsigned char *at = bytes;
    char text[GROUPS * 4];
    while (length) {
        size_t filled = 0;
        for (; length && filled < sizeof text; filled += 4) {
            unsigned char group[3] = { 0 };
            const size_t part = length < sizeof group ? length : sizeof group;
            memcpy(group, at, part);
            text[filled] = digits[group[0] >> 2];
            text[filled + 1] = digits[(group[0] & 3) << 4 | group[1] >> 4];
            text[filled + 2] = part > 1 ? digits[(group[1] & 15) << 2 | group[2] >> 6] : '=';
            text[filled + 3] = part > 2 ? digits[group[2] & 63] : '=';
            at += part;
            length -= part;
        }
        fwrite(text, 1, filled, out);
    }
}
