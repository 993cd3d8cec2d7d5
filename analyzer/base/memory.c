#include "base/memory.h"

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
