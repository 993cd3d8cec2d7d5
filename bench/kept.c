/*
 * kept CALLS STEPS: calls of a function that make so many short calls each. One in 10,000 sleeps for 20 ms as well.
 */
#include <stdlib.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function))
#define NOT_INLINED __attribute__((noinline, noclone))

enum { SLOW_ONE_IN = 10000 };

static volatile unsigned long sum;

NOT_INLINED static void step(unsigned long i)
{
    sum += i;
}

NOT_INLINED static void handle(long call, unsigned long steps)
{
    for (unsigned long i = 0; i < steps; i++)
        step(i);
    if (call % SLOW_ONE_IN == SLOW_ONE_IN / 2)
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
}

PLAIN int main(int argc, char **argv)
{
    const long calls = argc > 1 ? atol(argv[1]) : SLOW_ONE_IN;
    const unsigned long steps = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    for (long i = 0; i < calls; i++)
        handle(i, steps);
    return 0;
}
