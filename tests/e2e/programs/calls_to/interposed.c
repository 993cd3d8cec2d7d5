/* A library with probes (LIBRARY) that has two functions without (PART) and calls each 1000 times. Another library
 * (OTHER), which the loader searches first, has one of them, too. */
long taken(long n);
long kept(long n);
long opened_run(const char *text);

#if defined(OTHER)
long taken(long n)
{
    return 2 * n;
}
#elif defined(PART)
long taken(long n)
{
    return n + 1;
}

long kept(long n)
{
    return n + 3;
}
#elif defined(LIBRARY)
long opened_run(const char *text)
{
    long sum = *text;
    for (long i = 0; i < 1000; i++)
        sum += taken(i) ^ kept(sum);
    return sum;
}
#else
#include <stdio.h>

int main(void)
{
    printf("%ld\n", opened_run("a"));
    return 0;
}
#endif
