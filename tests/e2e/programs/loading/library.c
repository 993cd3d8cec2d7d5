/* library.c: LETTER is a or b. Both libraries have the same layout, so that one can be loaded at the other's
 * address. */
#define KEPT __attribute__((noinline))
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)

KEPT static void JOIN(inner_, LETTER)(void)
{
    __asm__ volatile("");
}

KEPT void *work_in_library(int times);
KEPT void *work_in_library(int times)
{
    for (int i = 0; i < times; i++)
        JOIN(inner_, LETTER)();
    return (void *)work_in_library;
}

static __attribute__((constructor)) void JOIN(begin_, LETTER)(void)
{
    JOIN(inner_, LETTER)();
}

static __attribute__((destructor)) void JOIN(end_, LETTER)(void)
{
    JOIN(inner_, LETTER)();
}
