/*
 * The allocations of the whole program, of its libraries too. Where one fails, the program ends with a message, as
 * base/memory.h promises: json-c, smartcols and others would go on with a part of the data, or crash.
 *
 * The process's allocator stays what it is: libc's, or one that is preloaded. Its functions are the next ones of these
 * names. So memory goes back where it came from, and all other functions of allocation are the allocator's own.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"

/* The next function of this name, which *place keeps. dlsym allocates nothing for one that exists. Threads that come
 * here together store the same. */
static void *allocation_next(void **place, const char *name)
{
    void *next = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (next)
        return next;
    next = dlsym(RTLD_NEXT, name);
    if (!next)
        out_of_memory();
    __atomic_store_n(place, next, __ATOMIC_RELAXED);
    return next;
}

static void *allocation_check(void *memory, size_t size)
{
    if (!memory && size)
        out_of_memory();
    return memory;
}

void *malloc(size_t size)
{
    static void *place;
    void *(*next)(size_t);
    *(void **)&next = allocation_next(&place, "malloc");
    return allocation_check(next(size), size);
}

void *calloc(size_t count, size_t size)
{
    static void *place;
    void *(*next)(size_t, size_t);
    *(void **)&next = allocation_next(&place, "calloc");
    return allocation_check(next(count, size), count && size);
}

void *realloc(void *memory, size_t size)
{
    static void *place;
    void *(*next)(void *, size_t);
    *(void **)&next = allocation_next(&place, "realloc");
    return allocation_check(next(memory, size), size);
}
