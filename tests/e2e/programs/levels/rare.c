/*
 * rare MILLISECONDS: calls rare() and step() once a millisecond, and uses the CPU in between. Prints the program's own
 * counts of both.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function))
#define KEPT __attribute__((noinline))

static unsigned long rare_calls, step_calls;

PLAIN static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

KEPT void rare(void)
{
    rare_calls++;
}

KEPT void step(void)
{
    const uint64_t until = now() + 1000000;
    while (now() < until)
        continue;
    step_calls++;
}

int main(int argc, char **argv)
{
    const unsigned long steps = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    for (unsigned long i = 0; i < steps; i++) {
        rare();
        step();
    }
    printf("calls rare %lu\ncalls step %lu\n", rare_calls, step_calls);
    return 0;
}
