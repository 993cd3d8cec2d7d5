/* Rounds in which kinds of calls are made in turn: what the median call takes, and its ratio to the first kind's. */
#ifndef BENCH_KINDS_H
#define BENCH_KINDS_H

#include <stdio.h>
#include <stdlib.h>

#include "ticks.h"

#define PLAIN __attribute__((no_instrument_function))
#define NOT_INLINED __attribute__((noinline, noclone))

enum { CALLS = 4000, KINDS = 4, MOST_ROUNDS = 1000 };

PLAIN static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

PLAIN static double median(double *list, int count)
{
    qsort(list, (size_t)count, sizeof *list, compare_doubles);
    return list[count / 2];
}

/* Prints a line for each kind. `ticks_of` makes CALLS calls of that kind, and returns the ticks of one. */
PLAIN static void print_kinds(const char *const *names, int rounds, double (*ticks_of)(int kind))
{
    static double ticks[KINDS][MOST_ROUNDS], ratios[KINDS][MOST_ROUNDS];
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < KINDS; k++) {
            ticks[k][r] = ticks_of(k);
            ratios[k][r] = ticks[k][r] / ticks[0][r];
        }
    for (int k = 0; k < KINDS; k++)
        printf("%s %.1f %.2f\n", names[k], median(ticks[k], rounds), median(ratios[k], rounds));
}

PLAIN static int rounds_wanted(int argc, char **argv)
{
    const int wanted = argc > 1 ? atoi(argv[1]) : 100;
    return wanted < MOST_ROUNDS ? wanted : MOST_ROUNDS;
}

#endif
