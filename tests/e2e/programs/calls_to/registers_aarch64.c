/* Calls a function of the library with known contents in all registers that can hold arguments, while signals come. The
 * library's function keeps what it gets, and returns known contents in all registers of results. Prints the number of
 * calls, and how many registers have arrived otherwise. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { GENERAL = 10, VECTORS = 8, STACK = 4, RESULTS = 2, VECTOR_RESULTS = 4, CALLS = 20000 };

struct registers {
    unsigned long general[GENERAL], chain, results[RESULTS];
    unsigned long stack[STACK];
    unsigned char vectors[VECTORS][16], vector_results[VECTOR_RESULTS][16];
};

_Static_assert(sizeof(struct registers) == 328, "offsets in the code");

/* What the function gets, and what it returns. */
extern struct registers kept, returned;

/* Of the convention that keeps more vector registers, and which no stub can stand for. */
__attribute__((aarch64_vector_pcs)) void keeps_vectors(void);

#ifdef LIBRARY

struct registers kept, returned;

__attribute__((aarch64_vector_pcs)) void keeps_vectors(void)
{
}

__asm__(".text\n"
        ".globl keeps_all\n"
        ".type keeps_all, %function\n"
        "keeps_all:\n"
        ".cfi_startproc\n"
        "hint #34\n"
        "adrp x16, :got:kept\n"
        "ldr x16, [x16, :got_lo12:kept]\n"
        "stp x0, x1, [x16]\n"
        "stp x2, x3, [x16, #16]\n"
        "stp x4, x5, [x16, #32]\n"
        "stp x6, x7, [x16, #48]\n"
        "stp x8, x9, [x16, #64]\n"
        "str x18, [x16, #80]\n"
        "ldp x0, x1, [sp]\n"
        "stp x0, x1, [x16, #104]\n"
        "ldp x0, x1, [sp, #16]\n"
        "stp x0, x1, [x16, #120]\n"
        "add x16, x16, #136\n"
        "st1 {v0.16b, v1.16b, v2.16b, v3.16b}, [x16], #64\n"
        "st1 {v4.16b, v5.16b, v6.16b, v7.16b}, [x16]\n"
        "adrp x16, :got:returned\n"
        "ldr x16, [x16, :got_lo12:returned]\n"
        "ldp x0, x1, [x16, #88]\n"
        "add x16, x16, #264\n"
        "ld1 {v0.16b, v1.16b, v2.16b, v3.16b}, [x16]\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size keeps_all, . - keeps_all\n");

#else

/* With x19 the contents, and x20 the place of the results. */
__attribute__((noinline)) static void call_with(const struct registers *contents, struct registers *results)
{
    register const struct registers *from __asm__("x19") = contents;
    register struct registers *to __asm__("x20") = results;
    __asm__ volatile("sub sp, sp, #32\n"
                     "ldp x0, x1, [x19, #104]\n"
                     "stp x0, x1, [sp]\n"
                     "ldp x0, x1, [x19, #120]\n"
                     "stp x0, x1, [sp, #16]\n"
                     "add x16, x19, #136\n"
                     "ld1 {v0.16b, v1.16b, v2.16b, v3.16b}, [x16], #64\n"
                     "ld1 {v4.16b, v5.16b, v6.16b, v7.16b}, [x16]\n"
                     "ldp x0, x1, [x19]\n"
                     "ldp x2, x3, [x19, #16]\n"
                     "ldp x4, x5, [x19, #32]\n"
                     "ldp x6, x7, [x19, #48]\n"
                     "ldp x8, x9, [x19, #64]\n"
                     "ldr x18, [x19, #80]\n"
                     "bl keeps_all\n"
                     "stp x0, x1, [x20, #88]\n"
                     "add x16, x20, #264\n"
                     "st1 {v0.16b, v1.16b, v2.16b, v3.16b}, [x16]\n"
                     "add sp, sp, #32\n"
                     :
                     : "r"(from), "r"(to)
                     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
                       "x15", "x16", "x17", "x18", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17",
                       "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31",
                       "cc", "memory");
}

static volatile int handled;

static void handle(int number)
{
    (void)number;
    handled++;
}

int main(void)
{
    const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
    struct registers contents, results;
    unsigned random = 1;
    int different = 0;
    keeps_vectors();
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < CALLS; i++) {
        for (size_t at = 0; at < sizeof contents; at++)
            ((unsigned char *)&contents)[at] = (unsigned char)((random = random * 1103515245 + 12345) >> 16);
        returned = contents;
        call_with(&contents, &results);
        different += memcmp(kept.general, contents.general, sizeof kept.general + sizeof kept.chain) != 0;
        different += memcmp(kept.stack, contents.stack, sizeof kept.stack) != 0;
        different += memcmp(kept.vectors, contents.vectors, sizeof kept.vectors) != 0;
        different += memcmp(results.results, contents.results, sizeof results.results) != 0;
        different += memcmp(results.vector_results, contents.vector_results, sizeof results.vector_results) != 0;
    }
    printf("different %d\n", different);
    printf("calls %d\n", CALLS);
    return 0;
}

#endif
