/*
 * phases PHASES CALLS [MILLISECONDS]: each phase calls functions of its own, over and over, so that each of the short
 * ones gets CALLS calls, and then waits for so long. Prints the number of calls of all functions. There are 20 phases;
 * those that are not asked for are not called.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function))
#define KEPT __attribute__((noinline))

static volatile unsigned long sum, some = 3;
static unsigned long calls;

/* One without a loop and a call, one with a loop, and one that calls both. */
#define PHASE(n)                                                                                                       \
    KEPT void leaf_##n(unsigned long by)                                                                               \
    {                                                                                                                  \
        sum += by + n;                                                                                                 \
    }                                                                                                                  \
    KEPT void loop_##n(unsigned long by)                                                                               \
    {                                                                                                                  \
        for (unsigned long i = 0; i < (by & some); i++)                                                                \
            sum += i;                                                                                                  \
    }                                                                                                                  \
    KEPT void outer_##n(unsigned long by)                                                                              \
    {                                                                                                                  \
        for (unsigned long i = 0; i < 50; i++) {                                                                       \
            leaf_##n(by);                                                                                              \
            loop_##n(i);                                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    KEPT void phase_##n(void)                                                                                          \
    {                                                                                                                  \
        for (unsigned long i = 0; i < calls; i += 50)                                                                  \
            outer_##n(i);                                                                                              \
        printf("calls leaf_" #n " %lu\ncalls loop_" #n " %lu\ncalls outer_" #n " %lu\ncalls phase_" #n " 1\n", calls,  \
               calls, calls / 50);                                                                                     \
    }

#define ALL(X)                                                                                                         \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20)

ALL(PHASE)

#define ENTRY(n) phase_##n,
static void (*const phases[])(void) = { ALL(ENTRY) };

PLAIN int main(int argc, char **argv)
{
    const size_t most = sizeof phases / sizeof *phases;
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : most;
    count = count < most ? count : most;
    calls = (argc > 2 ? strtoul(argv[2], NULL, 10) : 1000) / 50 * 50;
    const long wait = argc > 3 ? atol(argv[3]) : 0;
    for (size_t i = 0; i < count; i++) {
        phases[i]();
        nanosleep(&(struct timespec){ wait / 1000, wait % 1000 * 1000000 }, NULL);
    }
    return 0;
}
