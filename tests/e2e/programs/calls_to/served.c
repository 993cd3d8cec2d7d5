/* Prints its process, and calls a library as often as each line of its input says. "into" calls it once, which calls
 * back until the next line has come. Prints where the calls came from. */
#include "callee.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern char __executable_start, etext;
static char line[64];
static const char *next(void)
{
    return fgets(line, sizeof line, stdin);
}
static int compare(const void *a, const void *b)
{
    (void)a, (void)b;
    printf("inside\n");
    return next() ? 0 : 1;
}
int main(void)
{
    int two[2] = { 1, 2 };
    setlinebuf(stdout);
    printf("%d\n", (int)getpid());
    while (next()) {
        const long calls = strtol(line, NULL, 10);
        long direct = 0, sum = 0;
        for (long i = 0; i < calls; i++) {
            char *from = callee_return();
            direct += from >= &__executable_start && from < &etext;
            sum += callee_ints(i, 1, 2, 3, 4, 5, 6, 7, 8, 9) != i + 330;
        }
        if (!calls)
            qsort(two, 2, sizeof *two, compare);
        printf("%ld of %ld direct, %ld differ\n", direct, calls, sum);
    }
    return 0;
}
