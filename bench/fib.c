/* fib N [-c]: computes the N-th Fibonacci number the slow way. It consists of calls only: the worst case for an
 * instrumentation profiler. With -c it also prints the number of calls of fib(). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ENTER
#define ENTER /* What a profiler wants at the beginning of each function: -DENTER=... */
#endif

__attribute__((noinline)) static uint64_t fib(unsigned n)
{
    ENTER;
    if (n < 2)
        return n;
    uint64_t first = fib(n - 1);
    uint64_t second = fib(n - 2);
    /* Otherwise compilers turn the second call into a loop, in builds whose profiler permits it. The builds would then
     * not make the same calls. */
    __asm__ volatile("" : "+r"(second));
    return first + second;
}

/* The number of calls that fib(n) makes, itself included: calls(n) = 1 + calls(n - 1) + calls(n - 2). */
__attribute__((no_instrument_function)) static uint64_t count_calls(unsigned n)
{
    uint64_t previous = 1;
    uint64_t calls = 1;
    for (unsigned i = 2; i <= n; i++) {
        uint64_t next = 1 + calls + previous;
        previous = calls;
        calls = next;
    }
    return calls;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: fib N [-c]\n");
        return 2;
    }
    unsigned n = (unsigned)strtoul(argv[1], NULL, 10);
    printf("fib(%u) = %llu\n", n, (unsigned long long)fib(n));
    if (argc > 2 && strcmp(argv[2], "-c") == 0)
        printf("calls %llu\n", (unsigned long long)count_calls(n));
    return 0;
}
