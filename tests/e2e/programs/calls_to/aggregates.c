/* Calls a library with arguments and results that the convention of aarch64 (AAPCS64) has rules for: up to four
 * floating- point numbers or vectors of one struct in registers, large structs by their address, and arguments behind
 * one that no register is left for. Prints what the results add up to, and the number of calls. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef float v4 __attribute__((vector_size(16)));
typedef int v2 __attribute__((vector_size(8)));
struct floats {
    float a, b;
};
struct doubles {
    double a, b, c, d;
};
struct vectors {
    v4 a, b, c, d;
};
struct longs {
    long double a, b;
};
struct words {
    long a, b;
};
struct odd {
    char bytes[11];
};
struct memory {
    double of[9];
};
union either {
    long number;
    double real;
};

struct floats take_floats(struct floats a, float b, struct floats c, struct floats d, struct floats e, float f);
struct doubles take_doubles(struct doubles a, struct doubles b, struct doubles c, double d);
struct vectors take_vectors(struct vectors a, v4 b, struct vectors c, v4 d);
struct longs take_longs(struct longs a, struct longs b, struct longs c, long double d, struct longs e);
struct words take_words(long a, long b, long c, struct words d, long e, long f, struct words g, long h);
struct odd take_odd(struct odd a, int b, struct odd c, struct odd d, struct odd e, struct odd f);
struct memory take_memory(struct memory a, int b, struct memory c);
__int128 take_wide(int a, __int128 b, int c, __int128 d, __int128 e, int f, __int128 g);
long take_twelve(signed char a, short b, int c, long d, signed char e, short f, int g, long h, signed char i, short j,
                 int k, long l);
_Complex float take_complex(_Complex float a, float b, _Complex float c, _Complex float d, _Complex float e,
                            _Complex float f);
v2 take_short_vectors(v2 a, v2 b, v2 c, v2 d, v2 e, v2 f, v2 g, v2 h, v2 i, float j);
union either take_either(union either a, long b, union either c, long d, long e, long f, long g, long h, long i);
double take_any(int count, ...);
void take_leave(void (*leave)(void));
int take_count(void);

#ifdef LIBRARY

static int counted;

static void count(void)
{
    __atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED);
}

int take_count(void)
{
    count();
    return counted;
}

struct floats take_floats(struct floats a, float b, struct floats c, struct floats d, struct floats e, float f)
{
    count();
    return (struct floats){ a.a + 2 * b + 3 * c.b + 5 * e.a, a.b - c.a + d.a * d.b - e.b + f };
}

struct doubles take_doubles(struct doubles a, struct doubles b, struct doubles c, double d)
{
    count();
    return (struct doubles){ a.a + b.d, a.b - b.c + d, a.c * b.b + c.a, a.d + 3 * b.a - c.d };
}

struct vectors take_vectors(struct vectors a, v4 b, struct vectors c, v4 d)
{
    count();
    return (struct vectors){ a.a + b, a.b - c.a, a.c * c.b + d, a.d + c.c - c.d };
}

struct longs take_longs(struct longs a, struct longs b, struct longs c, long double d, struct longs e)
{
    count();
    return (struct longs){ a.a + b.b - c.a + d, a.b * e.a + b.a * 3 - c.b + e.b };
}

struct words take_words(long a, long b, long c, struct words d, long e, long f, struct words g, long h)
{
    count();
    return (struct words){ a + 2 * d.a - 3 * f + 5 * g.a, b * c - d.b + 7 * e + 11 * g.b + 13 * h };
}

struct odd take_odd(struct odd a, int b, struct odd c, struct odd d, struct odd e, struct odd f)
{
    count();
    for (int i = 0; i < 11; i++)
        a.bytes[i] = (char)(a.bytes[i] + b + c.bytes[10 - i] + 2 * d.bytes[i] + 3 * e.bytes[i] + 5 * f.bytes[i]);
    return a;
}

struct memory take_memory(struct memory a, int b, struct memory c)
{
    count();
    for (int i = 0; i < 9; i++)
        a.of[i] += b * c.of[8 - i];
    return a;
}

__int128 take_wide(int a, __int128 b, int c, __int128 d, __int128 e, int f, __int128 g)
{
    count();
    return a + b * c + d * 3 + (e << 3) - f + g * 7;
}

long take_twelve(signed char a, short b, int c, long d, signed char e, short f, int g, long h, signed char i, short j,
                 int k, long l)
{
    count();
    return a + 2 * b + 3L * c + 5 * d + 7 * e + 11 * f + 13L * g + 17 * h + 19 * i + 23 * j + 29L * k + 31 * l;
}

_Complex float take_complex(_Complex float a, float b, _Complex float c, _Complex float d, _Complex float e,
                            _Complex float f)
{
    count();
    return a + b * c - d + e * 3 + f * 5;
}

v2 take_short_vectors(v2 a, v2 b, v2 c, v2 d, v2 e, v2 f, v2 g, v2 h, v2 i, float j)
{
    count();
    return a + b - c + d * e - f + g - h + i * (int)j;
}

union either take_either(union either a, long b, union either c, long d, long e, long f, long g, long h, long i)
{
    count();
    return (union either){ .number =
                               a.number + 2 * b + 3 * c.number + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h + 19 * i };
}

/* A long and a double in turns. */
double take_any(int number, ...)
{
    va_list list;
    double sum = number;
    count();
    va_start(list, number);
    for (int i = 0; i < number; i++)
        sum += i % 2 ? va_arg(list, double) * i : (double)va_arg(list, long) * i;
    va_end(list);
    return sum;
}

void take_leave(void (*leave)(void))
{
    count();
    leave();
}

#else

#define SIX(i) (long)(i), (i) + .25, (long)(i) + 2, (i) + .75, (long)(i) + 3, (i)*.5

static int cleaned;

static void clean(int *by)
{
    __atomic_fetch_add(&cleaned, *by, __ATOMIC_RELAXED);
}

static void leave(void)
{
    __attribute__((cleanup(clean))) int by = 2;
    pthread_exit(&by);
}

/* The thread ends in a call of the library: what its frames clean up is found by unwinding through the stub. */
static void *leaving(void *p)
{
    __attribute__((cleanup(clean))) int by = 1;
    take_leave(leave);
    return p;
}

static int compare(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static double sorted(int i)
{
    int list[20];
    for (int k = 0; k < 20; k++)
        list[k] = (k * 7 + i) % 23;
    qsort(list, 20, sizeof *list, compare);
    return list[3] * 100 + list[17];
}

static double once(int i)
{
    const float f = (float)i;
    const struct floats fs = { f, f + 1 };
    const struct doubles ds = { i, i + .5, i + 1.5, 3 };
    const struct vectors vs = { { f, 2, 3, 4 }, { 5, f, 7, 8 }, { 9, 10, f, 12 }, { 13, 14, 15, f } };
    const struct longs ls = { i + 1.25L, 2.5L };
    const struct words ws = { i, 2 };
    const struct odd odd = { { (char)i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 } };
    const struct memory memory = { { i, 1, 2, 3, 4, 5, 6, 7, 8 } };
    const union either either = { .number = i };
    const __int128 wide = ((__int128)i << 70) + i;
    double sum = sorted(i);
    const struct floats rf = take_floats(fs, 3, fs, (struct floats){ 7, f }, (struct floats){ 8, f }, 4);
    const struct doubles rd = take_doubles(ds, ds, (struct doubles){ 5, 6, 7, i }, 8);
    const struct vectors rv = take_vectors(vs, vs.a, vs, vs.c);
    const struct longs rl = take_longs(ls, ls, (struct longs){ 3, i }, 5, (struct longs){ i, 7 });
    const struct words rw = take_words(i, 2, 3, ws, 4, 5, (struct words){ 6, i }, 7);
    const struct odd ro = take_odd(odd, i, odd, odd, odd, (struct odd){ { 3, 1, (char)i } });
    const struct memory rm = take_memory(memory, i, memory);
    const __int128 ri = take_wide(i, wide, 3, wide + 1, wide + 2, i + 4, wide + 5);
    const _Complex float rc = take_complex(f, 2, 3, f * 2, 4, (_Complex float){ f } + 1);
    const v2 rs = take_short_vectors((v2){ i, 1 }, (v2){ 2, i }, (v2){ 3, 4 }, (v2){ i, 5 }, (v2){ 6, i }, (v2){ 7, 8 },
                                     (v2){ 9, i }, (v2){ i, 10 }, (v2){ 11, i }, 3);
    sum += rf.a + rf.b + rd.a + rd.b * 2 + rd.c * 3 + rd.d * 5;
    sum += rv.a[0] + rv.b[1] + rv.c[2] + rv.d[3] + rv.d[0];
    sum += (double)(rl.a + rl.b * 3) + rw.a + rw.b * 3. + ro.bytes[0] + ro.bytes[10] * 3 + rm.of[0] + rm.of[8] * 3;
    sum += (double)(long)(ri >> 66) + (double)(long)ri + __real__ rc + __imag__ rc + rs[0] + rs[1] * 3;
    sum += take_twelve((signed char)i, 2, i, 4, -5, (short)i, 7, i, 9, -10, i, 12);
    sum += take_either(either, 2, either, 3, 4, i, 6, 7, i + 8).number;
    sum += take_any(0) + take_any(1, 5L) + take_any(2, 5L, 2.5) + take_any(6, SIX(i)) +
           take_any(12, SIX(i), SIX(i + 1)) + take_any(20, SIX(i), SIX(i + 2), SIX(i + 3), (long)i, i + .125);
    return sum;
}

static void *thread(void *p)
{
    double *sum = p;
    for (int i = 0; i < 1000; i++)
        *sum += once(i);
    return NULL;
}

int main(void)
{
    enum { THREADS = 3, LEAVING = 20 };
    pthread_t threads[THREADS], leaves;
    double sums[THREADS] = { 0 };
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, &sums[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < LEAVING; i++) {
        pthread_create(&leaves, NULL, leaving, NULL);
        pthread_join(leaves, NULL);
    }
    printf("%.17g %.17g %.17g, cleaned %d\n", sums[0], sums[1], sums[2], cleaned);
    printf("calls %d\n", take_count());
    return 0;
}

#endif
