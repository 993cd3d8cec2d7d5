/* Calls a function without probes that is compiled together with its caller. The compiler knows which registers it
 * changes (-fipa-ra), so values stay in others. Prints a sum. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline, noclone, no_instrument_function)) static long leaf(long n)
{
    long result;
    __asm__ volatile("leaq 1(%1, %1, 2), %0" : "=r"(result) : "r"(n));
    return result;
}

__attribute__((noinline)) double mixed(long n, const double *d, const long *l)
{
    double a = d[0], b = d[1], c = d[2], e = d[3], f = d[4], g = d[5], h = d[6], i = d[7], j = d[8], k = d[9];
    long m = l[0], o = l[1], p = l[2], q = l[3], r = l[4], s = l[5], t = l[6], u = l[7], v = l[8];
    for (long x = 0; x < n; x++) {
        const long y = leaf(x);
        a += b + (double)y, b += c, c -= e, e += f, f -= g, g += h, h -= i, i += j, j -= k, k += 1;
        m += o + y, o ^= p, p += q, q -= r, r ^= s, s += t, t -= u, u += v, v ^= x;
    }
    return a + b + c + e + f + g + h + i + j + k + (double)((m ^ o ^ p ^ q ^ r ^ s ^ t ^ u ^ v) % 1000003);
}

int main(int argc, char **argv)
{
    const double d[10] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
    const long l[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    double sum = 0;
    for (int i = 0; i < 100; i++)
        sum += mixed(argc > 1 ? atol(argv[1]) : 60, d, l);
    printf("%.17g\n", sum);
    return 0;
}
