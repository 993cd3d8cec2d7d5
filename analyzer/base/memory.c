#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

void *need_memory(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory)
        die(STATUS_ERROR, "out of memory");
    return memory;
}

void *need_more(void *memory, size_t count, size_t size)
{
    void *more = reallocarray(memory, count ? count : 1, size ? size : 1);
    if (!more)
        die(STATUS_ERROR, "out of memory");
    return more;
}

char *need_copy(const char *text, size_t length)
{
    char *copy = need_memory(length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *need_vtext(const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        die(STATUS_ERROR, "out of memory");
    return text;
}

char *need_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = need_vtext(format, arguments);
    va_end(arguments);
    return text;
}

char *need_hex(const void *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;
    char *text = need_memory(2 * length + 1, 1);
    for (size_t i = 0; i < length; i++) {
        text[2 * i] = digits[from[i] >> 4];
        text[2 * i + 1] = digits[from[i] & 15];
    }
    return text;
}
