/* Calls a known number of functions of libc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
    int values[16];
    long sum = 0;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 16; i++)
            values[i] = (i * 7 + round) % 16;
        qsort(values, 16, sizeof *values, compare);
        char *copy = strdup(argv[argc - 1]);
        sum += values[3] + (long)strlen(copy);
        free(copy);
    }
    printf("%d %d %d %d %d %d %ld\n", 1, 2, 3, 4, 5, 6, sum);
    return 0;
}
