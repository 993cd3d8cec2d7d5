/*
 * Compares what a watched probe has to keep: kept ROUNDS. The test puts calls of `state_before` and `state_after`
 * around the enter's probe into the assembler code of `watched`. They keep all registers, and store those that a called
 * function must not change. Prints how often something differs.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN __attribute__((no_instrument_function))
#define NOT_INLINED __attribute__((noinline, noclone, noipa))

#if defined(__x86_64__)

enum { GENERAL = 7, FLAGS = GENERAL, WORDS = 16, STACK = 2, DIRECTION = 1 << 10, ALIGNMENT = 1 << 18 };

struct state {
    uint64_t words[WORDS]; /* rbx, rbp, rsp, r12 to r15, and the flags */
    unsigned char fxsave[512];
};

struct state before __attribute__((aligned(64))), after __attribute__((aligned(64)));

__asm__(".macro state into\n"
        "pushfq\n"
        "movq %rbx, \\into(%rip)\n"
        "movq %rbp, \\into+8(%rip)\n"
        "movq %rsp, \\into+16(%rip)\n"
        "movq %r12, \\into+24(%rip)\n"
        "movq %r13, \\into+32(%rip)\n"
        "movq %r14, \\into+40(%rip)\n"
        "movq %r15, \\into+48(%rip)\n"
        "popq \\into+56(%rip)\n"
        "fxsave \\into+128(%rip)\n"
        ".endm\n");

/* The first bytes of fxsave are the control words of x87, its status and tags, and at 24 that of SSE. */
PLAIN static int state_differs(void)
{
    const uint64_t flags = before.words[FLAGS] ^ after.words[FLAGS];
    return memcmp(before.words, after.words, GENERAL * sizeof *before.words) != 0 ||
           (flags & (DIRECTION | ALIGNMENT)) != 0 || memcmp(before.fxsave, after.fxsave, 5) != 0 ||
           memcmp(before.fxsave + 24, after.fxsave + 24, 4) != 0;
}

#else

enum { WORDS = 22, STACK = 11 };

struct state {
    uint64_t words[WORDS]; /* x19 to x29, sp, fpcr, fpsr, and the low halves of v8 to v15 */
};

struct state before __attribute__((aligned(64))), after __attribute__((aligned(64)));

/* Nothing is in x16 and x17 at a call: the linker's stubs use them. */
__asm__(".macro state into\n"
        "adrp x16, \\into\n"
        "add x16, x16, :lo12:\\into\n"
        "stp x19, x20, [x16]\n"
        "stp x21, x22, [x16, #16]\n"
        "stp x23, x24, [x16, #32]\n"
        "stp x25, x26, [x16, #48]\n"
        "stp x27, x28, [x16, #64]\n"
        "mov x17, sp\n"
        "stp x29, x17, [x16, #80]\n"
        "mrs x17, fpcr\n"
        "str x17, [x16, #96]\n"
        "mrs x17, fpsr\n"
        "str x17, [x16, #104]\n"
        "stp d8, d9, [x16, #112]\n"
        "stp d10, d11, [x16, #128]\n"
        "stp d12, d13, [x16, #144]\n"
        "stp d14, d15, [x16, #160]\n"
        ".endm\n");

PLAIN static int state_differs(void)
{
    return memcmp(before.words, after.words, sizeof before.words) != 0;
}

#endif

static volatile uint64_t sink;

NOT_INLINED static long watched(long a, long b, const char *text, double number)
{
    const long result = a + 3 * b + *text + (long)(2 * number);
    sink += (uint64_t)a ^ (uint64_t)b ^ (unsigned char)*text;
    sink += (uint64_t)result;
    return result;
}

PLAIN int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    static const char *const texts[] = { "a", "bc" };
    long wrong = 0, seen = 0;
    for (long i = 0; i < rounds; i++) {
        const char *text = texts[i % 2];
        memset(&before, 0, sizeof before);
        errno = (int)(i % 100);
        const long result = watched(i % 8, -i, text, (double)i / 2);
        wrong += errno != i % 100 || result != i % 8 - 3 * i + *text + i || state_differs();
        seen += before.words[STACK] != 0;
    }
    printf("wrong %ld of %ld\n", wrong, seen);
    return 0;
}
