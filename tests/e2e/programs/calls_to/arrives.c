/* Calls a function of a library with a value in each register that may hold something, and compares what arrives and
 * what comes back. It has results in all registers of results. Prints the number of calls, and how many differ. With an
 * argument, r11 may be another one, as the linker's stubs may change it. */
#ifdef LIBRARY

/* The library stores what arrives into `arrived`, a copy of struct registers below. */
__attribute__((visibility("hidden"))) char arrived[9 * 8 + 16 * 32];
char *arrives_where(void)
{
    return arrived;
}
__asm__(".text\n"
        ".globl arrives\n"
        ".type arrives, @function\n"
        "arrives:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "movq %rbx, -8(%rsp)\n"
        "leaq arrived(%rip), %rbx\n"
        "movq %rax, (%rbx)\n"
        "movq %rcx, 8(%rbx)\n"
        "movq %rdx, 16(%rbx)\n"
        "movq %rsi, 24(%rbx)\n"
        "movq %rdi, 32(%rbx)\n"
        "movq %r8, 40(%rbx)\n"
        "movq %r9, 48(%rbx)\n"
        "movq %r10, 56(%rbx)\n"
        "movq %r11, 64(%rbx)\n"
        "movups %xmm0, 72(%rbx)\n"
        ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "movups %xmm\\n, 72 + 32 * \\n(%rbx)\n"
        ".endr\n"
        "cmpq $0, whole(%rip)\n"
        "je 1f\n"
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "vmovups %ymm\\n, 72 + 32 * \\n(%rbx)\n"
        ".endr\n"
        "1: movq -8(%rsp), %rbx\n"
        "movq 8(%rsp), %rax\n" /* the argument on the stack */
        "leaq 1(%rax), %rdx\n"
        "cvtsi2sdq %rax, %xmm0\n"
        "cvtsi2sdq %rdx, %xmm1\n"
        "pushq %rdx\n"
        ".cfi_adjust_cfa_offset 8\n"
        "fildq (%rsp)\n"
        "pushq %rax\n"
        ".cfi_adjust_cfa_offset 8\n"
        "fildq (%rsp)\n"
        "addq $16, %rsp\n"
        ".cfi_adjust_cfa_offset -16\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size arrives, . - arrives\n"
        ".data\n"
        ".hidden whole\n"
        "whole: .quad 0\n"
        ".text\n");
extern long whole;
void arrives_whole(void)
{
    whole = 1;
}

#else

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNSEEN __attribute__((no_instrument_function))
enum { CALLS = 1000, GENERAL = 9, VECTORS = 16 };

struct registers {
    unsigned long general[GENERAL];
    unsigned char vectors[VECTORS][32];
};
struct results {
    unsigned long rax, rdx;
    double xmm0, xmm1;
    long double st0, st1;
};

char *arrives_where(void);
void arrives_whole(void);

#ifdef BY_SLOT
#define CALL "call *arrives@GOTPCREL(%%rip)\n"
#else
#define CALL "call arrives@PLT\n"
#endif

/* Compiled with -mno-red-zone. rbx and r12 to r15 are kept by calls. */
#define CALLING(name, LOAD)                                                                                            \
    __attribute__((noinline)) static void name(const struct registers *from, struct results *to, long n)               \
    {                                                                                                                  \
        register struct results *kept __asm__("r12") = to;                                                             \
        register long number __asm__("r13") = n;                                                                       \
        __asm__ volatile("pushq %%r13\n"                                                                               \
                         "pushq %%r13\n"                                                                               \
                         ".cfi_adjust_cfa_offset 16\n" LOAD "movq (%%rbx), %%rax\n"                                    \
                         "movq 8(%%rbx), %%rcx\n"                                                                      \
                         "movq 16(%%rbx), %%rdx\n"                                                                     \
                         "movq 24(%%rbx), %%rsi\n"                                                                     \
                         "movq 32(%%rbx), %%rdi\n"                                                                     \
                         "movq 40(%%rbx), %%r8\n"                                                                      \
                         "movq 48(%%rbx), %%r9\n"                                                                      \
                         "movq 56(%%rbx), %%r10\n"                                                                     \
                         "movq 64(%%rbx), %%r11\n" CALL "movq %%rax, (%%r12)\n"                                        \
                         "movq %%rdx, 8(%%r12)\n"                                                                      \
                         "movsd %%xmm0, 16(%%r12)\n"                                                                   \
                         "movsd %%xmm1, 24(%%r12)\n"                                                                   \
                         "fstpt 32(%%r12)\n"                                                                           \
                         "fstpt 48(%%r12)\n"                                                                           \
                         "addq $16, %%rsp\n"                                                                           \
                         ".cfi_adjust_cfa_offset -16\n"                                                                \
                         : "+b"(from), "+r"(kept), "+r"(number)                                                        \
                         :                                                                                             \
                         : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",        \
                           "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
                           "xmm14", "xmm15", "cc", "memory");                                                          \
    }
CALLING(call_with_halves, ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
                          "movups 72 + 32 * \\n(%%rbx), %%xmm\\n\n"
                          ".endr\n")
CALLING(call_with_wholes, ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
                          "vmovups 72 + 32 * \\n(%%rbx), %%ymm\\n\n"
                          ".endr\n")

UNSEEN int main(int argc, char **argv)
{
    (void)argv;
    const int whole = __builtin_cpu_supports("avx");
    unsigned random = 1;
    int differ = 0;
    struct registers sent;
    if (whole)
        arrives_whole();
    for (long i = 0; i < CALLS; i++) {
        struct results results;
        for (size_t at = 0; at < sizeof sent; at++)
            ((unsigned char *)&sent)[at] = (unsigned char)((random = random * 1103515245 + 12345) >> 16);
        (whole ? call_with_wholes : call_with_halves)(&sent, &results, i);
        if (!whole)
            for (int v = 0; v < VECTORS; v++)
                memset(sent.vectors[v] + 16, 0, 16);
        if (argc > 1)
            memcpy(&sent.general[GENERAL - 1], arrives_where() + (GENERAL - 1) * sizeof(long), sizeof(long));
        const int came = memcmp(&sent, arrives_where(), sizeof sent) == 0;
        const int back = results.rax == (unsigned long)i && results.rdx == results.rax + 1 &&
                         results.xmm0 == (double)i && results.xmm1 == (double)i + 1 && results.st0 == (long double)i &&
                         results.st1 == (long double)i + 1;
        differ += !came || !back;
    }
    printf("%d calls, %d differ\n", CALLS, differ);
    return 0;
}
#endif
