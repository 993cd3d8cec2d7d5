/* A library with probes that is loaded while the program runs. It calls functions of libraries without: 100 times each,
 * but qsort only once. */
#include <stdlib.h>
#include <string.h>

#include "callee.h"

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

#ifdef CONSTRUCTED
__attribute__((constructor)) static void opened_construct(void)
{
    static volatile long sum;
    for (int i = 0; i < 7; i++)
        sum = sum + callee_ints(i, 2, 3, 4, 5, 6, 7, 8, 9, 10);
}
#endif

long opened_run(const char *text)
{
    int values[8] = { 5, 3, 8, 1, 9, 2, 7, 4 };
    long sum = 0;
    qsort(values, 8, sizeof *values, compare);
    for (int i = 0; i < 100; i++) {
        sum += callee_ints(i, 2, 3, 4, 5, 6, 7, 8, 9, values[i % 8]);
        sum += callee_sum(8, 1L, 2L, 3L, 4L, 5L, 6L, 7L, (long)i);
        sum += (long)strlen(text);
    }
    return sum;
}
