/*
 * values ROUNDS: what it costs to record values, such as `dwell record --values two:a,b`. Calls functions that do the
 * same, in turn: `plain`, and one for each kind of value. Prints for each the median of the ticks that a call takes,
 * and that of its ratios to `plain` in the same round.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ticks.h"

#define PLAIN __attribute__((no_instrument_function))
#define NOT_INLINED __attribute__((noinline, noclone))

enum { CALLS = 4000, KINDS = 4, MOST_ROUNDS = 1000 };

static volatile unsigned long sum;

NOT_INLINED static void plain(long a, long b, const char *t, const long *i)
{
    sum += (unsigned long)a + (unsigned char)*t;
    sum ^= (unsigned long)b + (unsigned long)*i;
}

NOT_INLINED static void two(long a, long b, const char *t, const long *i)
{
    sum += (unsigned long)a + (unsigned char)*t;
    sum ^= (unsigned long)b + (unsigned long)*i;
}

NOT_INLINED static void text(long a, long b, const char *t, const long *i)
{
    sum += (unsigned long)a + (unsigned char)*t;
    sum ^= (unsigned long)b + (unsigned long)*i;
}

NOT_INLINED static void member(long a, long b, const char *t, const long *i)
{
    sum += (unsigned long)a + (unsigned char)*t;
    sum ^= (unsigned long)b + (unsigned long)*i;
}

typedef void watched(long a, long b, const char *t, const long *i);

PLAIN static double ticks_of_a_call(watched *function, const char *t, const long *item)
{
    const uint64_t begin = read_ticks();
    for (long i = 0; i < CALLS; i++)
        function(i, -i, t, item);
    return (double)(read_ticks() - begin) / CALLS;
}

PLAIN static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

PLAIN static double median(double *list, int count)
{
    qsort(list, (size_t)count, sizeof *list, compare);
    return list[count / 2];
}

PLAIN int main(int argc, char **argv)
{
    static const char *const names[KINDS] = { "plain", "two", "text", "member" };
    static watched *const functions[KINDS] = { plain, two, text, member };
    static double ticks[KINDS][MOST_ROUNDS], ratios[KINDS][MOST_ROUNDS];
    const int wanted = argc > 1 ? atoi(argv[1]) : 100, rounds = wanted < MOST_ROUNDS ? wanted : MOST_ROUNDS;
    char *t = malloc(17);
    long *item = malloc(sizeof *item);
    if (!t || !item || rounds < 1)
        return 1;
    snprintf(t, 17, "a text of 16 byt");
    *item = 1;
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < KINDS; k++) {
            ticks[k][r] = ticks_of_a_call(functions[k], t, item);
            ratios[k][r] = ticks[k][r] / ticks[0][r];
        }
    for (int k = 0; k < KINDS; k++)
        printf("%s %.1f %.2f\n", names[k], median(ticks[k], rounds), median(ratios[k], rounds));
    free(item);
    free(t);
    return 0;
}
