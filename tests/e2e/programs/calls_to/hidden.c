/* Calls a function of a library and one that is linked in, whose callbacks look for stubs in their stacks. Prints how
 * many calls went through one. */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_PROBES __attribute__((noinline, noclone, no_instrument_function))

enum { DEPTH = 64, CALLS = 50 };

static int recorded;

NO_PROBES static void look(void)
{
    void *stack[DEPTH];
    Dl_info module;
    bool found = false;
    const int depth = backtrace(stack, DEPTH);
    for (int i = 0; i < depth; i++)
        found |= dladdr(stack[i], &module) && strstr(module.dli_fname, "libdwell");
    recorded += found;
}

NO_PROBES static int compare(const void *a, const void *b)
{
    look();
    return *(const int *)a - *(const int *)b;
}

NO_PROBES int callee_calls(void)
{
    look();
    return recorded;
}

__attribute__((noinline)) static void work(void)
{
    int list[] = { 2, 1 };
    qsort(list, 2, sizeof *list, compare);
    callee_calls();
}

int main(void)
{
    for (int i = 0; i < CALLS; i++)
        work();
    printf("%d recorded\n", recorded);
    return 0;
}
