/* Finds the characters of UTF-8 in a text, and replaces or escapes the bytes that belong to none. */
#include "base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

size_t utf8_character_length(const char *at)
{
    const unsigned char *s = (const unsigned char *)at;
    const unsigned length = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
    for (unsigned i = 1; i < length; i++)
        if (s[i] >> 6 != 2)
            return 0;
    if ((length == 2 && *s < 0xc2) || (length == 3 && *s == 0xe0 && s[1] < 0xa0) ||
        (length == 3 && *s == 0xed && s[1] > 0x9f) || (length == 4 && *s == 0xf0 && s[1] < 0x90) ||
        (length == 4 && (*s > 0xf4 || (*s == 0xf4 && s[1] > 0x8f))))
        return 0;
    return length;
}

uint32_t utf8_decode(const char *at, size_t length)
{
    uint32_t character = (unsigned char)*at & (length == 1 ? 0x7fu : 0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++)
        character = character << 6 | ((unsigned char)at[i] & 0x3f);
    return character;
}

/* Whether the backslash would be read as the beginning of an escape. */
static bool utf8_begins_escape(const char *text)
{
    return text[0] == '\\' && text[1] == 'x' && strspn(text + 2, "0123456789abcdef") >= 2;
}

char *utf8_escape(const char *text)
{
    char *escaped = need_memory(strlen(text) * 4 + 1, 1), *to = escaped;
    while (*text) {
        const size_t length = utf8_begins_escape(text) ? 0 : utf8_character_length(text);
        if (length)
            memcpy(to, text, length);
        to += length ? length : (size_t)sprintf(to, "\\x%02x", (unsigned char)*text);
        text += length ? length : 1;
    }
    return escaped;
}

char *utf8_repair(const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    char *valid = need_memory(strlen(text) * 3 + 1, 1), *to = valid;
    while (*text) {
        const size_t length = utf8_character_length(text);
        memcpy(to, length ? text : replacement, length ? length : 3);
        to += length ? length : 3;
        text += length ? length : 1;
    }
    return valid;
}
