/* Walks the stack below recorded calls, in their callbacks: by libunwind, and along the frame pointers. Prints how many
 * walks did not lead to main. */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_PROBES __attribute__((noinline, noclone, no_instrument_function))

enum { DEPTH = 64, CALLS = 100 };

static const void *in_main;
static long walks, lost, lost_by_pointers;

NO_PROBES static void walk(void)
{
    unw_context_t context;
    unw_cursor_t at;
    bool found = false;
    unw_getcontext(&context);
    unw_init_local(&at, &context);
    for (int depth = 0; depth < DEPTH && unw_step(&at) > 0; depth++) {
        unw_word_t address;
        unw_get_reg(&at, UNW_REG_IP, &address);
        found |= (const void *)address == in_main;
    }
    lost += !found;
    walks++;
}

NO_PROBES static void walk_pointers(void)
{
    const void *const *frame = __builtin_frame_address(0);
    bool found = false;
    for (int depth = 0; depth < DEPTH && !found && frame; depth++, frame = *frame)
        found = frame[1] == in_main;
    lost_by_pointers += !found;
}

NO_PROBES static int compare(const void *a, const void *b)
{
    walk();
    return *(const int *)a - *(const int *)b;
}

NO_PROBES static int called(int n)
{
    walk();
    walk_pointers();
    return n + 1;
}

NO_PROBES int callee_calls(int (*function)(int), int n)
{
    return function(n) + 1;
}

/* A debugger steps from here. */
NO_PROBES static void begin(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) static int work(int n)
{
    int list[] = { n % 3, 7, 2, 5 };
    qsort(list, 4, sizeof *list, compare);
    begin();
    return list[0] + callee_calls(called, n);
}

NO_PROBES static int outer(int n)
{
    in_main = __builtin_return_address(0);
    const int result = work(n);
    __asm__ volatile("");
    return result;
}

NO_PROBES int main(void)
{
    for (int i = 0; i < CALLS; i++)
        outer(i);
    printf("%s, %ld lost, %ld by frame pointers\n", walks > 4 * CALLS ? "walked" : "not walked", lost,
           lost_by_pointers);
    return 0;
}
