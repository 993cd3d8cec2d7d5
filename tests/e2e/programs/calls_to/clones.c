/* Calls functions that GCC makes copies of, with other arguments than theirs (.constprop, .isra), and one that it does
 * not. Prints a sum. */
#include <stdio.h>

#define UNSEEN __attribute__((no_instrument_function, noinline))

struct parts {
    long a, b;
    double c;
};

/* Only two members are used. */
UNSEEN static double copied_parts(const struct parts *p, int unused)
{
    double result = (double)p->a * 3 + p->c;
    (void)unused;
    __asm__ volatile("" : "+x"(result));
    return result;
}

/* Two arguments are constants. */
UNSEEN static long copied_constants(long n, long factor, long more)
{
    long result = 0;
    for (long i = 0; i < n % 7; i++) {
        result += i * factor + more;
        __asm__ volatile("" : "+r"(result));
    }
    return result;
}

UNSEEN long not_copied(long n);
long not_copied(long n)
{
    __asm__ volatile("" : "+r"(n));
    return n ^ 5;
}

__attribute__((noinline)) static long work(long i, long more)
{
    const struct parts p = { i + more, 2, (double)i / 2 };
    return (long)copied_parts(&p, 5) + copied_constants(i, 9, 4) + not_copied(i);
}

int main(void)
{
    long sum = 0;
    for (long i = 0; i < 1000; i++)
        sum += work(i, sum % 3);
    printf("%ld\n", sum);
    return 0;
}
