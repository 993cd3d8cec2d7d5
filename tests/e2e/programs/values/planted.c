/*
 * Functions whose time grows with their number by a law: seven sizes, six calls each. `planted PROCESSES` does that
 * while so many other processes use the CPUs.
 */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { CALLS = 6, LEAST = 100, MOST = 6400, OTHERS = 64 };

static volatile uint64_t result;

/* Each step needs the one before, and no memory. */
__attribute__((no_instrument_function)) static inline void work(double steps)
{
    uint64_t state = (uint64_t)steps;
    for (uint64_t left = state; left; left--) {
        state = state * 6364136223846793005u + 1;
        __asm__ volatile("" : "+r"(state));
    }
    result = state;
}

#define GROWS(name, steps)                                                                                             \
    __attribute__((noinline)) static void name(long n)                                                                 \
    {                                                                                                                  \
        const double size = (double)n;                                                                                 \
        work(steps);                                                                                                   \
    }

GROWS(linear, 150 * size)
GROWS(steeper, 15 * size * sqrt(size))
GROWS(square, 1.5 * size * size)
GROWS(sorting, 22 * size * log2(size))

__attribute__((no_instrument_function)) static void use_cpu(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        work(1e6);
}

int main(int argc, char **argv)
{
    pid_t others[OTHERS];
    const int count = argc > 1 ? atoi(argv[1]) % OTHERS : 0;
    for (int i = 0; i < count; i++)
        if ((others[i] = fork()) == 0)
            use_cpu();
    for (int call = 0; call < CALLS; call++)
        for (long n = LEAST; n <= MOST; n *= 2) {
            linear(n);
            steeper(n);
            square(n);
            sorting(n);
        }
    for (int i = 0; i < count; i++)
        kill(others[i], SIGKILL);
    return 0;
}
