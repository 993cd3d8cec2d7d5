/*
 * The allocations of the whole program, of its libraries too. Where one fails, the program ends with a message, as
 * base/memory.h promises: json-c, smartcols and others would go on with a part of the data, or crash.
 */
#include <stddef.h>

#include "base/memory.h"

/* glibc's own functions of these names. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static void *allocation_check(void *memory, size_t size)
{
    if (!memory && size)
        out_of_memory();
    return memory;
}

void *malloc(size_t size)
{
    return allocation_check(__libc_malloc(size), size);
}

void *calloc(size_t count, size_t size)
{
    return allocation_check(__libc_calloc(count, size), count && size);
}

void *realloc(void *memory, size_t size)
{
    return allocation_check(__libc_realloc(memory, size), size);
}
