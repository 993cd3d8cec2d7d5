/* A library without probes, whose functions take and return values in every way. It counts its own calls. */
#ifndef CALLEE_H
#define CALLEE_H
#include <setjmp.h>
#include <stdarg.h>
#ifdef __cplusplus
extern "C" {
#endif
struct s1 {
    char c;
};
struct s8 {
    int a, b;
};
struct s12 {
    int a, b, c;
};
struct s16 {
    long a;
    double b;
};
struct s24 {
    long a, b, c;
};
struct s40 {
    long a[5];
};
struct s200 {
    unsigned char bytes[200];
};
typedef int v4 __attribute__((vector_size(16)));
struct aligned32 {
    long a[4];
} __attribute__((aligned(32)));
long callee_ints(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j);
double callee_doubles(double a, double b, double c, double d, double e, double f, double g, double h, double i,
                      double j);
long double callee_long_double(long double a, int b, long double c);
_Complex double callee_complex(_Complex double a, float b);
_Complex long double callee_complex_long(_Complex long double a);
__int128 callee_int128(__int128 a, __int128 b, __int128 c, __int128 d);
struct s1 callee_s1(struct s1 a);
struct s8 callee_s8(struct s8 a, struct s12 b);
struct s16 callee_s16(struct s16 a, struct s16 b);
struct s24 callee_s24(struct s24 a, struct s40 b, int c);
struct s200 callee_s200(struct s200 a, int by);
v4 callee_vector(v4 a, v4 b);
long callee_aligned(int a, struct aligned32 b, int c);
long callee_sum(int count, ...);
long callee_mixed(int count, ...);
int callee_is_aligned(void);
long callee_back(long (*function)(long), long n);
void callee_leave(jmp_buf to, int value);
long callee_deep(int depth);
int callee_counts(void);
/* Where it was called from. */
void *callee_return(void);
#ifdef __cplusplus
}
void callee_throw(int value);
int callee_catch(int (*function)(int), int value);
#endif
#endif
