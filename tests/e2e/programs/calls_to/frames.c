/* Calls a library from frames of several kinds. Prints a sum of results or, with an argument, how far the library's
 * frame is from its caller's variable, in bytes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct large {
    char bytes[200];
};
long frames_sum(int n, ...);
long frames_more(int n, ...);
long frames_large(struct large l, int n);
long frames_small(long from);
long frames_tail(long a, long b, long c, long d, long e, long f, long g, long h, long from);

#ifdef LIBRARY

long frames_sum(int n, ...)
{
    va_list list;
    long sum = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        sum += va_arg(list, long) * (i + 1);
    va_end(list);
    return sum;
}

long frames_more(int n, ...)
{
    va_list list;
    long sum = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        sum += va_arg(list, long) * (i + 2);
    va_end(list);
    return sum;
}

long frames_large(struct large l, int n)
{
    return l.bytes[0] + l.bytes[n];
}

long frames_small(long from)
{
    return from - (long)__builtin_frame_address(0);
}

long frames_tail(long a, long b, long c, long d, long e, long f, long g, long h, long from)
{
    return a + b + c + d + e + f + g * 10 + h * 100 + from;
}

#else

#define APART __attribute__((noinline, no_instrument_function))
#ifdef MANY /* all of one object, or, if it is zero, of another one */
#define MANY_PLACE
#else
#define MANY_PLACE static
#define MANY 1
#endif

MANY_PLACE APART long many(long n);

#if MANY

MANY_PLACE APART long many(long n)
{
    return frames_more(30, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n) +
           1;
}

#endif

#ifndef ONLY_MANY

#define WITH_POINTER __attribute__((optimize("no-omit-frame-pointer")))

static APART long few(long n)
{
    return frames_more(1, n) + 1;
}

static APART WITH_POINTER long many_with_pointer(long n)
{
    return frames_sum(31, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n) +
           1;
}

/* rbp is no frame pointer here, and seems to end the frame in the middle of the arguments. */
long many_with_other_rbp(long n);
__asm__(".text\n"
        "many_with_other_rbp:\n"
        ".cfi_startproc\n"
        "pushq %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "subq $208, %rsp\n"
        ".cfi_def_cfa_offset 224\n"
        ".set place, 0\n"
        ".rept 25\n"
        "movq %rdi, place(%rsp)\n"
        ".set place, place + 8\n"
        ".endr\n"
        "movq %rdi, %rsi\n"
        "movq %rdi, %rdx\n"
        "movq %rdi, %rcx\n"
        "movq %rdi, %r8\n"
        "movq %rdi, %r9\n"
        "movl $30, %edi\n"
        "xorl %eax, %eax\n"
        "leaq 16(%rsp), %rbp\n"
        "call frames_sum@PLT\n"
        "addq $208, %rsp\n"
        ".cfi_def_cfa_offset 16\n"
        "popq %rbp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n");

static APART long in_array(long n)
{
    char *array = __builtin_alloca((size_t)n);
    memset(array, 1, (size_t)n);
    __asm__ volatile("" : : "r"(array) : "memory");
    return frames_sum(12, n, n, n, n, n, n, n, n, n, n, n, n) + array[n - 1];
}

static APART long large(int n)
{
    struct large l;
    memset(&l, n, sizeof l);
    return frames_large(l, 199) + 1;
}

/* The arguments on the stack are those of the function that calls this one. */
static APART long tail(long a, long b, long c, long d, long e, long f, long g, long h, long n)
{
    return frames_tail(f, e, d, c, b, a, g, h, n);
}

static APART long small(void)
{
    char here;
    long distance = frames_small((long)&here);
    __asm__ volatile("" : "+r"(distance));
    return distance;
}

int main(int argc, char **argv)
{
    long sum = 0;
    (void)argv;
    if (argc > 1) {
        printf("%ld\n", small());
        return 0;
    }
    for (int n = 1; n < 100; n++)
        sum += few(n) + many(n) + many_with_pointer(n) + many_with_other_rbp(n) + in_array(n * 10) + large(n) +
               tail(n, 2, 3, 4, 5, 6, 7, 8, n + 9) + 1;
    printf("%ld\n", sum);
    return 0;
}

#endif
#endif
