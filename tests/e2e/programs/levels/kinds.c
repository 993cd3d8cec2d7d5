/* kinds TIMES: functions whose probes are called in every way that a compiler knows, and the number of their calls. */
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))

#define FUNCTIONS(F)                                                                                                   \
    F(hot_leaf)                                                                                                        \
    F(hot_tail)                                                                                                        \
    F(hot_inlined)                                                                                                     \
    F(hot_deep)                                                                                                        \
    F(cold_inlined)                                                                                                    \
    F(cold_switch)                                                                                                     \
    F(cold_many)                                                                                                       \
    F(cold_loop)

enum {
#define NUMBER(name) NUMBER_##name,
    FUNCTIONS(NUMBER)
#undef NUMBER
        COUNT
};

static unsigned long calls[COUNT];

#define CALLED(name) (*(volatile unsigned long *)&calls[NUMBER_##name] += 1)

KEPT static long hot_leaf(long n)
{
    CALLED(hot_leaf);
    return n * 3 + 1;
}

KEPT static void hot_tail(long *n)
{
    CALLED(hot_tail);
    *n += 7;
}

INLINED long hot_inlined(long n)
{
    CALLED(hot_inlined);
    return n % 3 ? hot_leaf(n) : n + 2;
}

INLINED long cold_inlined(long n)
{
    CALLED(cold_inlined);
    return hot_inlined(n) + hot_inlined(n + 1);
}

KEPT static long hot_deep(long n)
{
    CALLED(hot_deep);
    return n ? 1 + hot_deep(n - 1) : hot_inlined(n);
}

KEPT static long cold_switch(long n)
{
    CALLED(cold_switch);
    switch (n % 7) {
    case 0:
        return hot_inlined(n);
    case 1:
        return cold_inlined(n);
    case 2:
        hot_tail(&n);
        return n;
    case 3:
        return hot_leaf(n) + hot_leaf(n + 1);
    case 4:
        return hot_deep(3);
    case 5:
        n = cold_inlined(n) + 5;
        /* fall through */
    default:
        return n + hot_inlined(n);
    }
}

KEPT static double cold_many(long a, long b, long c, long d, long e, long f, long g, double h)
{
    CALLED(cold_many);
    return h * (double)hot_inlined(a + b + c + d + e + f + g);
}

KEPT static long cold_loop(long times)
{
    CALLED(cold_loop);
    long sum = 0;
    for (long i = 0; i < times; i++) {
        sum += cold_switch(i);
        hot_tail(&sum);
        sum += (long)cold_many(i, 1, 2, 3, 4, 5, 6, 0.5);
    }
    return sum;
}

int main(int argc, char **argv)
{
    const long sum = cold_loop(argc > 1 ? atol(argv[1]) : 1);
    printf("sum %ld\ncalls main 1\n", sum);
#define PRINT(name) printf("calls " #name " %lu\n", calls[NUMBER_##name]);
    FUNCTIONS(PRINT)
    return 7;
}
