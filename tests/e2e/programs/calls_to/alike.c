/* Two units have a function of the same name. That of one has arguments on the stack. */
#include <stdio.h>

int other(void);

#ifdef LIBRARY
__attribute__((noinline)) int alike(int a)
{
    __asm__ volatile("");
    return a;
}

int other(void)
{
    return alike(2);
}
#else
__attribute__((noinline, no_instrument_function)) static long alike(long a, long b, long c, long d, long e, long f,
                                                                    long g, long h)
{
    __asm__ volatile("");
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

int main(int argc, char **argv)
{
    long sum = 0;
    (void)argv;
    for (long i = 0; i < 100; i++)
        sum += alike(i, argc, 3, 4, 5, 6, 7, i);
    printf("%ld %d\n", sum, other());
    return 0;
}
#endif
