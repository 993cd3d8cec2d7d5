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

enum { GENERAL = 7, FLAGS = GENERAL, WORDS = 16, DIRECTION = 1 << 10, ALIGNMENT = 1 << 18 };

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

static volatile uint64_t sink;

NOT_INLINED static long watched(long a, long b, const char *text, double number)
{
    const long result = a + 3 * b + *text + (long)(2 * number);
    sink += (uint64_t)a ^ (uint64_t)b ^ (unsigned char)*text;
    sink += (uint64_t)result;
    return result;
}

/* The first bytes of fxsave are the control words of x87, its status and tags, and at 24 that of SSE. */
PLAIN static int state_differs(void)
{
    const uint64_t flags = before.words[FLAGS] ^ after.words[FLAGS];
    return memcmp(before.words, after.words, GENERAL * sizeof *before.words) != 0 ||
           (flags & (DIRECTION | ALIGNMENT)) != 0 || memcmp(before.fxsave, after.fxsave, 5) != 0 ||
           memcmp(before.fxsave + 24, after.fxsave + 24, 4) != 0;
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
        seen += before.words[2] != 0; /* rsp */
    }
    printf("wrong %ld of %ld\n", wrong, seen);
    return 0;
}
