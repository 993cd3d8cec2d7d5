/*
 * A library for LD_PRELOAD: in the program dwell, the allocation of the number $FAIL_ALLOCATION fails, and with a +
 * after the number all later ones as well. Writes the number of allocations to the file $FAIL_LOG when the program
 * exits.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long wanted, seen;
static bool lasting, counts;

static bool fails(void)
{
    if (!counts)
        return false;
    const unsigned long number = __atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
    const bool failing = wanted && (number == wanted || (lasting && number > wanted));
    if (failing)
        errno = ENOMEM;
    return failing;
}

/* dwell's allocations call those of the next library, as this one (analyzer/base/allocation.c). */
#define PASS(name, parameters, ...)                                                                                    \
    void *name parameters                                                                                              \
    {                                                                                                                  \
        static void *(*real)parameters;                                                                                \
        if (!real)                                                                                                     \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                                                 \
        return fails() ? NULL : real(__VA_ARGS__);                                                                     \
    }

PASS(malloc, (size_t size), size)
PASS(calloc, (size_t count, size_t size), count, size)
PASS(realloc, (void *memory, size_t size), memory, size)

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("FAIL_ALLOCATION");
    counts = strcmp(program_invocation_short_name, "dwell") == 0;
    wanted = number ? strtoul(number, NULL, 10) : 0;
    lasting = number && strchr(number, '+');
}

__attribute__((destructor)) static void end(void)
{
    const char *log = getenv("FAIL_LOG");
    const unsigned long all = seen;
    FILE *out = counts && log ? (counts = false, fopen(log, "w")) : NULL;
    if (!out)
        return;
    fprintf(out, "%lu\n", all);
    fclose(out);
}
