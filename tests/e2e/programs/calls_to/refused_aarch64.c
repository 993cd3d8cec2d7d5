/* Calls functions of which some cannot have a stub between them and their callers, and prints the number of calls of
 * the others, whose names begin with take_. */
#include <alloca.h>
#include <stdio.h>

#define UNSEEN __attribute__((no_instrument_function, noinline))

UNSEEN static long asks_for_caller(void)
{
    return (long)__builtin_return_address(0) & 3;
}

/* The return address is kept while it calls another function. */
UNSEEN long take_none(void);
UNSEEN long take_none(void)
{
    __asm__ volatile("");
    return 1;
}

UNSEEN static long asks_later(void)
{
    return take_none() + ((long)__builtin_return_address(0) & 3);
}

UNSEEN static long asks_for_frame(void)
{
    return *(long *)__builtin_frame_address(0) != 0;
}

long changes_stack(void);
__asm__(".text\n"
        ".globl changes_stack\n"
        ".type changes_stack, %function\n"
        "changes_stack:\n"
        ".cfi_startproc\n"
        "mov x9, sp\n"
        "mov sp, x9\n"
        "mov x0, #1\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size changes_stack, . - changes_stack\n");

/* Its caller looks at the flags. */
void sets_flags(long n);
__asm__(".text\n"
        ".globl sets_flags\n"
        ".type sets_flags, %function\n"
        "sets_flags:\n"
        ".cfi_startproc\n"
        "cmp x0, #3\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size sets_flags, . - sets_flags\n");

__attribute__((noinline)) static long call_sets_flags(long n)
{
    register long x0 __asm__("x0") = n;
    long result;
    __asm__ volatile("bl sets_flags\n"
                     "cset %0, eq\n"
                     : "=r"(result), "+r"(x0)
                     :
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
                       "x16", "x17", "x30", "cc", "memory");
    return result;
}

/* Registers of SVE, which a stub does not keep: one function uses them, and the caller of another one. */
long uses_vectors(long n);
__asm__(".arch_extension sve\n"
        ".globl uses_vectors\n"
        ".type uses_vectors, %function\n"
        "uses_vectors:\n"
        ".cfi_startproc\n"
        "ptrue p0.b\n"
        "dup z0.d, x0\n"
        "fmov x0, d0\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size uses_vectors, . - uses_vectors\n"
        ".arch_extension nosve\n");

UNSEEN long beside_vectors(long n);
UNSEEN long beside_vectors(long n)
{
    __asm__ volatile("" : "+r"(n));
    return n + 1;
}

__attribute__((noinline)) static long call_beside_vectors(long n)
{
    __asm__ volatile(".arch_extension sve\n"
                     "ptrue p0.b\n"
                     ".arch_extension nosve\n");
    return beside_vectors(n);
}

/* Its caller hands it a flag. */
void takes_flags(void);
__asm__(".text\n"
        ".globl takes_flags\n"
        ".type takes_flags, %function\n"
        "takes_flags:\n"
        ".cfi_startproc\n"
        "cset x0, eq\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size takes_flags, . - takes_flags\n");

__attribute__((noinline)) static long call_takes_flags(long n)
{
    register long x0 __asm__("x0") = n;
    __asm__ volatile("cmp x0, #3\n"
                     "bl takes_flags\n"
                     : "+r"(x0)
                     :
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
                       "x16", "x17", "x30", "cc", "memory");
    return x0;
}

/* The code has a number of its own. */
UNSEEN long take_number(void);
__asm__(".text\n"
        ".globl take_number\n"
        ".type take_number, %function\n"
        "take_number:\n"
        ".cfi_startproc\n"
        "ldr x0, 1f\n"
        "ret\n"
        "1: .quad 5\n"
        ".cfi_endproc\n"
        ".size take_number, . - take_number\n");

UNSEEN static long take_memory(int bytes)
{
    volatile char *memory = alloca(bytes);
    memory[bytes - 1] = 3;
    return memory[bytes - 1];
}

UNSEEN long take_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, char j, long k);
UNSEEN long take_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, char j, long k)
{
    __asm__ volatile("" : "+r"(a));
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k;
}

UNSEEN long take_jump(long n);
UNSEEN long take_jump(long n)
{
    __asm__ volatile("" : "+r"(n));
    return n + 1;
}

__attribute__((noinline)) static long work(long i)
{
    return asks_for_caller() + asks_later() + asks_for_frame() + changes_stack() + call_sets_flags(i % 5) +
           call_takes_flags(i % 5) + uses_vectors(i) + call_beside_vectors(i) + take_number() +
           take_memory((int)(i % 300) + 20) +
           take_many(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, (char)(i % 100), i + 10) + take_jump(i);
}

int main(void)
{
    long sum = 0;
    for (long i = 0; i < 1000; i++)
        sum = sum * 3 + work(i);
    printf("calls %d\nsum %ld\n", 4 * 1000, sum);
    return 0;
}
