/* Calls a function that changes no register, while signals come, and one that changes all of them that it may. Neither
 * begins with a landing pad, as nothing but direct calls leads there. Prints the number of calls, and how many have
 * arrived or returned otherwise. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { GENERAL = 16, VECTORS = 32, CALLS = 20000 };

#define UNSEEN __attribute__((no_instrument_function))

struct registers {
    unsigned long general[GENERAL]; /* x0 to x15 */
    unsigned char vectors[VECTORS][16];
};

_Static_assert(sizeof(struct registers) == 640, "offsets in the code");

struct registers arrived, returned;

#define EACH_PAIR(X)                                                                                                   \
    X("x0", "x1", "0")                                                                                                 \
    X("x2", "x3", "16")                                                                                                \
    X("x4", "x5", "32")                                                                                                \
    X("x6", "x7", "48")                                                                                                \
    X("x8", "x9", "64")                                                                                                \
    X("x10", "x11", "80")                                                                                              \
    X("x12", "x13", "96")                                                                                              \
    X("x14", "x15", "112")                                                                                             \
    X("q0", "q1", "128")                                                                                               \
    X("q2", "q3", "160")                                                                                               \
    X("q4", "q5", "192")                                                                                               \
    X("q6", "q7", "224")                                                                                               \
    X("q8", "q9", "256")                                                                                               \
    X("q10", "q11", "288")                                                                                             \
    X("q12", "q13", "320")                                                                                             \
    X("q14", "q15", "352")                                                                                             \
    X("q16", "q17", "384")                                                                                             \
    X("q18", "q19", "416")                                                                                             \
    X("q20", "q21", "448")                                                                                             \
    X("q22", "q23", "480")                                                                                             \
    X("q24", "q25", "512")                                                                                             \
    X("q26", "q27", "544")                                                                                             \
    X("q28", "q29", "576")                                                                                             \
    X("q30", "q31", "608")
#define LOAD(a, b, at) "ldp " a ", " b ", [x16, #" at "]\n"
#define STORE(a, b, at) "stp " a ", " b ", [x16, #" at "]\n"

/* What they get and return is in x16, which nothing keeps: so it is found again. */
#define FUNCTION(name, code)                                                                                           \
    __asm__(".text\n"                                                                                                  \
            ".type " name ", %function\n" name ":\n"                                                                   \
            ".cfi_startproc\n" code "ret\n"                                                                            \
            ".cfi_endproc\n"                                                                                           \
            ".size " name ", . - " name "\n");
FUNCTION("keeps_all", "")
FUNCTION("keeps_none", "adrp x16, arrived\nadd x16, x16, :lo12:arrived\n" EACH_PAIR(
                           STORE) "adrp x16, returned\nadd x16, x16, :lo12:returned\n" EACH_PAIR(LOAD))

#define CALL(name, function)                                                                                           \
    __attribute__((noinline)) static void name(const struct registers *before, struct registers *after)                \
    {                                                                                                                  \
        register const struct registers *from __asm__("x19") = before;                                                 \
        register struct registers *to __asm__("x20") = after;                                                          \
        __asm__ volatile("mov x16, x19\n" EACH_PAIR(LOAD) "bl " function "\n"                                          \
                                                          "mov x16, x20\n" EACH_PAIR(STORE)                            \
                         : "+r"(from), "+r"(to)                                                                        \
                         :                                                                                             \
                         : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",     \
                           "x14", "x15", "x16", "x17", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8",    \
                           "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",   \
                           "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");      \
    }
CALL(call_kept, "keeps_all")
CALL(call_changed, "keeps_none")

static void handle(int number)
{
    (void)number;
}

UNSEEN static void fill(struct registers *r, unsigned seed)
{
    unsigned char *bytes = (unsigned char *)r;
    for (size_t i = 0; i < sizeof *r; i++)
        bytes[i] = (unsigned char)((seed + i * 7) * 2654435761u >> 13);
}

int main(void)
{
    const struct itimerval often = { { 0, 500 }, { 0, 500 } };
    struct registers before, after;
    int wrong = 0;
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; i < CALLS; i++) {
        fill(&before, i);
        memset(&after, 0, sizeof after);
        call_kept(&before, &after);
        wrong += memcmp(&before, &after, sizeof after) != 0;
        fill(&returned, ~i);
        call_changed(&before, &after);
        wrong += memcmp(&before, &arrived, sizeof arrived) != 0 || memcmp(&returned, &after, sizeof after) != 0;
    }
    printf("calls %d\nwrong %d\n", 2 * CALLS, wrong);
    return 0;
}
