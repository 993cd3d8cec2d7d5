/* inside [STEPS]: is inside of two recorded calls, of a library's function and of one that is linked in. Prints its
 * process there and waits for a line, or computes for so many steps. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NO_PROBES __attribute__((noinline, noclone, no_instrument_function))

static long steps;

NO_PROBES static long spin(void)
{
    volatile long sum = 0;
    for (long i = 0; i < steps; i++)
        sum = sum + i;
    return sum;
}

NO_PROBES static int innermost(int n)
{
    char line[8];
    if (steps)
        return n + (spin() == 1);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    return n + (fgets(line, sizeof line, stdin) == NULL);
}

NO_PROBES int callee_calls(int (*function)(int), int n)
{
    return function(n) + 1;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b + 0 * callee_calls(innermost, 1);
}

__attribute__((noinline)) static int work(void)
{
    int list[] = { 2, 1 };
    qsort(list, 2, sizeof *list, compare);
    return list[0];
}

int main(int argc, char **argv)
{
    steps = argc > 1 ? atol(argv[1]) : 0;
    printf("%d\n", work());
    return 0;
}
