/* See callee.h. */
#include "callee.h"
#include <stdint.h>
static int calls;
#define COUNT() __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED)
int callee_counts(void)
{
    return COUNT() + 1;
}
long callee_ints(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
    COUNT();
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}
double callee_doubles(double a, double b, double c, double d, double e, double f, double g, double h, double i,
                      double j)
{
    COUNT();
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}
long double callee_long_double(long double a, int b, long double c)
{
    COUNT();
    return a * b - c;
}
_Complex double callee_complex(_Complex double a, float b)
{
    COUNT();
    return a * b;
}
_Complex long double callee_complex_long(_Complex long double a)
{
    COUNT();
    return a * a;
}
__int128 callee_int128(__int128 a, __int128 b, __int128 c, __int128 d)
{
    COUNT();
    return a * b + c * d;
}
struct s1 callee_s1(struct s1 a)
{
    COUNT();
    a.c++;
    return a;
}
struct s8 callee_s8(struct s8 a, struct s12 b)
{
    COUNT();
    a.a += b.c;
    a.b += b.a + b.b;
    return a;
}
struct s16 callee_s16(struct s16 a, struct s16 b)
{
    COUNT();
    a.a += b.a;
    a.b *= b.b;
    return a;
}
struct s24 callee_s24(struct s24 a, struct s40 b, int c)
{
    COUNT();
    a.a += b.a[4];
    a.b += b.a[0];
    a.c += c;
    return a;
}
struct s200 callee_s200(struct s200 a, int by)
{
    COUNT();
    for (int i = 0; i < 200; i++)
        a.bytes[i] += (unsigned char)by;
    return a;
}
v4 callee_vector(v4 a, v4 b)
{
    COUNT();
    return a * b;
}
long callee_aligned(int a, struct aligned32 b, int c)
{
    COUNT();
    return ((uintptr_t)&b % 32 ? 1000 : 0) + a + b.a[3] + c;
}
long callee_sum(int count, ...)
{
    COUNT();
    va_list l;
    long s = 0;
    va_start(l, count);
    for (int i = 0; i < count; i++)
        s = s * 3 + va_arg(l, long);
    va_end(l);
    return s;
}
long callee_mixed(int count, ...)
{
    COUNT();
    va_list l;
    double s = 0;
    va_start(l, count);
    for (int i = 0; i < count; i++) {
        s += va_arg(l, double);
        s += va_arg(l, int);
    }
    va_end(l);
    return (long)s;
}
int callee_is_aligned(void)
{
    COUNT();
    return (int)((uintptr_t)__builtin_frame_address(0) % 16);
}
long callee_back(long (*function)(long), long n)
{
    COUNT();
    return function(n) + 1;
}
void callee_leave(jmp_buf to, int value)
{
    COUNT();
    longjmp(to, value);
}
static long deep(int depth)
{
    volatile char room[512];
    room[0] = (char)depth;
    return depth ? deep(depth - 1) + room[0] : 0;
}
long callee_deep(int depth)
{
    COUNT();
    return deep(depth);
}
void *callee_return(void)
{
    return __builtin_return_address(0);
}
