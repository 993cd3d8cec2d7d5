/* Functions with arguments of each kind. Before and after each call, the caller prints what the function gets and what
 * it returns, as lines "FUNCTION NAME VALUE". The called functions do not print, so nothing keeps their arguments
 * alive. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define OUTER __attribute__((noinline))
#define QUIET __attribute__((no_instrument_function))

enum color { RED, GREEN = 5, BLUE = -7 };
enum size { SMALL = 1, LARGE = 4000000000u };

struct point {
    int x;
    double y;
    unsigned low : 3, high : 9;
    int sign : 5;
    struct point *next;
    char name[8];
    short list[4];
};

struct pair {
    int first, second;
};

struct large {
    long words[5];
    int tail;
};

static volatile int sink;
static uint64_t state = 88172645463325252u;

QUIET static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

OUTER int f_integers(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long g,
                     unsigned long h)
{
    sink = a + b;
    return sink + c + d + e + (int)f + (int)g + (int)h;
}

OUTER bool f_small(bool a, char b, enum color c, enum size d)
{
    sink = b;
    return a ^ (c == RED) ^ (d == SMALL);
}

OUTER double f_floats(float a, double b, float c, int n)
{
    sink = n;
    return (double)a * b + (double)c;
}

OUTER float f_half(float a)
{
    sink = 1;
    return a / 2;
}

OUTER long f_point(struct point *p, struct point **q)
{
    sink = p->x;
    return p->x + (*q)->x;
}

OUTER const char *f_text(const char *text, char *other)
{
    sink = text[0];
    return sink ? text : other;
}

OUTER int f_dead(int unused, int used)
{
    (void)unused;
    sink = 3;
    return used + sink;
}

OUTER long f_large(struct large by_value, int last)
{
    sink = last;
    return by_value.words[3] - by_value.tail;
}

OUTER int f_pair(struct pair p, int last)
{
    sink = last;
    return p.first - p.second;
}

OUTER struct large f_make(int tail)
{
    sink = tail;
    return (struct large){ { 1, 2, 3, 4, tail }, tail + 1 };
}

OUTER int f_variadic(int count, ...)
{
    va_list list;
    int sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(list, int);
    va_end(list);
    return sum;
}

OUTER unsigned f_recursive(unsigned depth, unsigned sum)
{
    sink = 2;
    return depth ? f_recursive(depth - 1, sum + depth) + 1 : sum;
}

OUTER long f_loop(const int *list, unsigned count)
{
    long sum = 0;
    for (unsigned i = 0; i < count; i++) {
        sink = list[i];
        sum += sink * (long)i;
    }
    return sum;
}

static inline int f_inlined(int a, unsigned b)
{
    sink = a;
    return a + (int)b;
}

OUTER int f_two_ends(int n)
{
    if (n % 2 == 0)
        return n / 2;
    sink = n;
    return 3 * n + 1;
}

OUTER void *f_pointer(void *p, int (*function)(int))
{
    sink = function != NULL;
    return sink ? p : NULL;
}

OUTER long double f_wide(long double wide, __int128 whole)
{
    sink = (int)whole;
    return wide;
}

QUIET static void show_integers(void)
{
    const signed char a = (signed char)next();
    const unsigned char b = (unsigned char)next();
    const short c = (short)next();
    const unsigned short d = (unsigned short)next();
    const int e = (int)next();
    const unsigned f = (unsigned)next();
    const long g = (long)next();
    const unsigned long h = next();
    printf("f_integers a %d\nf_integers b %u\nf_integers c %d\nf_integers d %u\nf_integers e %d\nf_integers f %u\n", a,
           b, c, d, e, f);
    printf("f_integers g %ld\nf_integers h %lu\n", g, h);
    printf("f_integers return %d\n", f_integers(a, b, c, d, e, f, g, h));
}

QUIET static void show_small(void)
{
    const bool a = next() & 1;
    const char b = (char)next();
    const enum color c = next() & 1 ? GREEN : BLUE;
    const enum size d = next() & 1 ? SMALL : LARGE;
    printf("f_small a %d\nf_small b %d\nf_small c %d\nf_small d %u\n", a, b, c, d);
    printf("f_small return %d\n", f_small(a, b, c, d));
}

QUIET static void show_floats(void)
{
    const float a = (float)next() / 3, c = -(float)next();
    const double b = (double)next() / 7;
    const int n = (int)next();
    printf("f_floats a %.17g\nf_floats b %.17g\nf_floats c %.17g\nf_floats n %d\n", (double)a, b, (double)c, n);
    printf("f_floats return %.17g\n", f_floats(a, b, c, n));
    printf("f_half a %.17g\n", (double)a);
    printf("f_half return %.17g\n", (double)f_half(a));
}

QUIET static void show_point(void)
{
    struct point end = { .x = (int)next(), .y = (double)next(), .list = { 1, 2, -3, 4 } };
    struct point p = {
        .x = (int)next(), .low = (unsigned)next() & 7, .high = (unsigned)next() & 511, .next = &end, .name = "pt"
    };
    struct point *q = &p;
    p.sign = (int)(next() % 32) - 16;
    printf("f_point p->x %d\nf_point p->low %u\nf_point p->high %u\nf_point p->sign %d\nf_point p->next->y %.17g\n",
           p.x, p.low, p.high, p.sign, end.y);
    printf("f_point p->name[1] %d\nf_point p->next->list[2] %d\nf_point p[0].x %d\nf_point *q %p\n", p.name[1],
           end.list[2], p.x, (void *)q);
    printf("f_point return %ld\n", f_point(&p, &q));
}

QUIET static void show_text(void)
{
    char other[16], text[400];
    const int length = (int)(next() % 300);
    snprintf(text, sizeof text, "%0*d", length + 1, 7);
    snprintf(other, sizeof other, "%d", (int)next());
    printf("f_text text %.64s\nf_text other %s\nf_text *text %d\n", text, other, text[0]);
    const char *result = f_text(text, other);
    printf("f_text return %.64s\n", result);
}

QUIET static void show_structs(void)
{
    const struct large large = { { (long)next(), 1, 2, (long)next() / 2, 4 }, (int)next() };
    const struct pair pair = { (int)(next() % 1000), (int)(next() % 1000) };
    printf("f_large by_value.words[3] %ld\nf_large by_value.tail %d\nf_large last 9\n", large.words[3], large.tail);
    printf("f_large return %ld\n", f_large(large, 9));
    printf("f_pair p.first %d\nf_pair p.second %d\nf_pair last %d\n", pair.first, pair.second, pair.first);
    printf("f_pair return %d\n", f_pair(pair, pair.first));
    printf("f_make tail %d\n", pair.second);
    const struct large made = f_make(pair.second);
    printf("f_make return.tail %d\nf_make return.words[4] %ld\n", made.tail, made.words[4]);
}

QUIET static void show_others(void)
{
    const int n = (int)(next() % 1000), list[4] = { n, n + 1, -n, 7 };
    printf("f_dead unused %d\nf_dead used %d\n", n, n + 1);
    printf("f_dead return %d\n", f_dead(n, n + 1));
    printf("f_variadic count 3\n");
    printf("f_variadic return %d\n", f_variadic(3, n, n, n));
    printf("f_loop list[1] %d\nf_loop count 4\n", list[1]);
    printf("f_loop return %ld\n", f_loop(list, 4));
    printf("f_two_ends n %d\n", n);
    printf("f_two_ends return %d\n", f_two_ends(n));
    printf("f_pointer p %p\n", (const void *)list);
    printf("f_pointer return %p\n", f_pointer((void *)list, abs));
    f_wide(1.5L, 7);
}

QUIET static void show_recursion(void)
{
    const unsigned depth = (unsigned)(next() % 4);
    unsigned sum = 10;
    for (unsigned left = depth + 1; left-- > 0; sum += left)
        printf("f_recursive depth %u\nf_recursive sum %u\n", left, sum);
    const unsigned result = f_recursive(depth, 10);
    for (unsigned left = depth + 1; left-- > 0;)
        printf("f_recursive return %u\n", result - left);
}

/* Instrumented, so that an inlined copy has probes of its own. */
OUTER void inlines(int n)
{
    const int first = f_inlined(n, 5);
    sink = first + f_inlined(2 * n, (unsigned)n);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++) {
        show_integers();
        show_small();
        show_floats();
        show_point();
        show_text();
        show_structs();
        show_others();
        show_recursion();
        printf("f_inlined a %d\nf_inlined b 5\nf_inlined return %d\n", i, i + 5);
        printf("f_inlined a %d\nf_inlined b %d\nf_inlined return %d\n", 2 * i, i, 3 * i);
        inlines(i);
    }
}
