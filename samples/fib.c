/*
 * fib [N]: direct recursion, a call every few nanoseconds.
 *
 * The report should count 2 * fib(N + 1) - 1 calls of fib. However deep fib recurses, its inclusive time is counted
 * once, so it never exceeds that of main. fib calls nothing but itself, so its exclusive time equals its inclusive
 * time.
 */
#include "sample.h"

static unsigned long long fib_calls;

static unsigned long long fib(int n)
{
    fib_calls++;
    return n < 2 ? (unsigned long long)n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
    if (argc > 2)
        sample_usage("fib [N]");
    int n = argc > 1 ? (int)sample_number(argv[1], 0, 60) : 27;

    printf("fib(%d) = %llu\n", n, fib(n));
    printf("calls fib %llu\n", fib_calls);
    printf("calls main 1\n");
    return EXIT_SUCCESS;
}
