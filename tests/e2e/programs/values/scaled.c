/* Sorts lists of seven sizes by insertion, which is quadratic, and adds them up, which is linear. */
#include <stdio.h>

enum { CALLS = 6, LEAST = 100, MOST = 6400 };

static unsigned numbers[MOST];

__attribute__((noinline)) void sort(long n)
{
    for (long i = 1; i < n; i++) {
        const unsigned number = numbers[i];
        long j = i;
        for (; j > 0 && numbers[j - 1] > number; j--)
            numbers[j] = numbers[j - 1];
        numbers[j] = number;
    }
}

__attribute__((noinline)) unsigned add(long n)
{
    unsigned sum = 0;
    for (int round = 0; round < 100; round++)
        for (long i = 0; i < n; i++)
            sum = sum * 31 + numbers[i];
    return sum;
}

__attribute__((noinline)) unsigned handle(long n)
{
    for (long i = 0; i < n; i++)
        numbers[i] = (unsigned)(n - i);
    sort(n);
    return add(n);
}

int main(void)
{
    unsigned sum = 0;
    for (long n = LEAST; n <= MOST; n *= 2)
        for (int call = 0; call < CALLS; call++)
            sum += handle(n);
    printf("%u\n", sum);
    return 0;
}
