/* Calls each function of callee.h in four threads. Prints sums of the results, and the number of calls. */
#include "callee.h"
#include <complex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static long back(long n)
{
    return n ? callee_back(back, n - 1) : callee_ints(n, 1, 2, 3, 4, 5, 6, 7, 8, 9);
}
static long leaving(int n)
{
    jmp_buf to;
    int v = setjmp(to);
    if (!v)
        callee_leave(to, n);
    return v;
}
static void once(int i, long *sum)
{
    long s = 0;
    s += callee_ints(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9);
    s += (long)callee_doubles(i, i + .5, i + 1, 3, 4, 5, 6, 7, 8, 9.5);
    s += (long)callee_long_double(i * 1.5L, 7, 2.25L);
    s += (long)creal(callee_complex(i + 2 * I, 3.f)) + (long)cimag(callee_complex(i + 2 * I, 3.f));
    s += (long)creall(callee_complex_long(i + 2.L * I)) + (long)cimagl(callee_complex_long(i + 2.L * I));
    s += (long)(callee_int128(i, 5, (__int128)7 << 70, 11) >> 64);
    s += callee_s1((struct s1){ (char)i }).c;
    s += callee_s8((struct s8){ i, 2 }, (struct s12){ 3, 4, i }).b;
    s += (long)callee_s16((struct s16){ i, 2.5 }, (struct s16){ 3, 4 }).b;
    struct s24 r = callee_s24((struct s24){ i, 2, 3 }, (struct s40){ { 1, 2, 3, 4, 5 } }, 6);
    s += r.a + r.b + r.c;
    struct s200 big;
    memset(&big, i, sizeof big);
    big = callee_s200(big, 3);
    s += big.bytes[0] + big.bytes[199];
    v4 v = callee_vector((v4){ i, 2, 3, 4 }, (v4){ 5, 6, 7, 8 });
    s += v[0] + v[3];
    s += callee_aligned(i, (struct aligned32){ { 1, 2, 3, 4 } }, 5);
    s += callee_sum(0) + callee_sum(1, 5L) + callee_sum(8, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);
    s += callee_sum(30, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L, 12L, 13L, 14L, 15L, 16L, 17L, 18L, 19L, 20L, 21L,
                    22L, 23L, 24L, 25L, 26L, 27L, 28L, 29L, 30L);
    s += callee_mixed(10, 1., 1, 2., 2, 3., 3, 4., 4, 5., 5, 6., 6, 7., 7, 8., 8, 9., 9, 10., 10);
    s += callee_is_aligned();
    s += back(i % 10) + leaving(i + 1) + callee_deep(i % 5);
    *sum += s;
}
static void *thread(void *p)
{
    for (int i = 0; i < 2000; i++)
        once(i, p);
    return NULL;
}
int main(void)
{
    pthread_t t[4];
    long sums[4] = { 0 };
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, thread, &sums[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    printf("%ld %ld %ld %ld\n", sums[0], sums[1], sums[2], sums[3]);
    printf("calls %d\n", callee_counts());
    return 0;
}
