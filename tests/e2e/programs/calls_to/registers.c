/* Calls a function that changes no register, in new threads and while signals come, so that some of the calls are no
 * usual ones. Prints the number of calls, and how many have changed a register. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { GENERAL = 9, VECTORS = 16, THREADS = 50, CALLS = 2000 };

#define UNSEEN __attribute__((no_instrument_function))

struct registers {
    unsigned long general[GENERAL];
    unsigned char vectors[VECTORS][32];
};

void keeps_all(void);
__asm__(".text\n"
        ".globl keeps_all\n"
        ".type keeps_all, @function\n"
        "keeps_all:\n"
        ".cfi_startproc\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size keeps_all, . - keeps_all\n");

#define EACH_GENERAL(X)                                                                                                \
    X("rax", "0")                                                                                                      \
    X("rcx", "8")                                                                                                      \
    X("rdx", "16")                                                                                                     \
    X("rsi", "24")                                                                                                     \
    X("rdi", "32")                                                                                                     \
    X("r8", "40")                                                                                                      \
    X("r9", "48")                                                                                                      \
    X("r10", "56")                                                                                                     \
    X("r11", "64")
#define EACH_VECTOR(X)                                                                                                 \
    X("0", "72")                                                                                                       \
    X("1", "104")                                                                                                      \
    X("2", "136")                                                                                                      \
    X("3", "168")                                                                                                      \
    X("4", "200")                                                                                                      \
    X("5", "232")                                                                                                      \
    X("6", "264")                                                                                                      \
    X("7", "296")                                                                                                      \
    X("8", "328")                                                                                                      \
    X("9", "360")                                                                                                      \
    X("10", "392")                                                                                                     \
    X("11", "424")                                                                                                     \
    X("12", "456")                                                                                                     \
    X("13", "488")                                                                                                     \
    X("14", "520")                                                                                                     \
    X("15", "552")
#define LOAD(name, at) "movq " at "(%%rbx), %%" name "\n"
#define STORE(name, at) "movq %%" name ", " at "(%%r12)\n"
#define LOAD_HALF(n, at) "movups " at "(%%rbx), %%xmm" n "\n"
#define STORE_HALF(n, at) "movups %%xmm" n ", " at "(%%r12)\n"
#define LOAD_WHOLE(n, at) "vmovups " at "(%%rbx), %%ymm" n "\n"
#define STORE_WHOLE(n, at) "vmovups %%ymm" n ", " at "(%%r12)\n"

/* Compiled with -mno-red-zone, as the call takes what is below the stack pointer. */
#define CALL(name, LOAD_VECTOR, STORE_VECTOR, end)                                                                     \
    __attribute__((noinline)) static void name(const struct registers *before, struct registers *after)                \
    {                                                                                                                  \
        register struct registers *to __asm__("r12") = after;                                                          \
        __asm__ volatile(EACH_GENERAL(LOAD) EACH_VECTOR(LOAD_VECTOR) "call keeps_all\n" EACH_VECTOR(STORE_VECTOR)      \
                             EACH_GENERAL(STORE) end                                                                   \
                         : "+b"(before), "+r"(to)                                                                      \
                         :                                                                                             \
                         : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",        \
                           "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
                           "xmm14", "xmm15", "cc", "memory");                                                          \
    }
CALL(call_with_halves, LOAD_HALF, STORE_HALF, "")
CALL(call_with_wholes, LOAD_WHOLE, STORE_WHOLE, "vzeroupper\n")

static long changed;

UNSEEN static void *work(void *seed)
{
    const int whole = __builtin_cpu_supports("avx");
    unsigned random = (unsigned)(unsigned long)seed + 1;
    struct registers before, after;
    for (int i = 0; i < CALLS; i++) {
        for (size_t at = 0; at < sizeof before; at++)
            ((unsigned char *)&before)[at] = (unsigned char)((random = random * 1103515245 + 12345) >> 16);
        after = before;
        memset(&after.general, 0, sizeof after.general);
        (whole ? call_with_wholes : call_with_halves)(&before, &after);
        if (memcmp(&before, &after, sizeof before) != 0)
            __atomic_fetch_add(&changed, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void handle(int number)
{
    (void)number;
}

UNSEEN int main(void)
{
    const struct itimerval often = { { 0, 100 }, { 0, 100 } };
    signal(SIGPROF, handle);
    setitimer(ITIMER_PROF, &often, NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, (void *)(long)i);
        pthread_join(thread, NULL);
    }
    printf("%d calls, changed: %ld\n", THREADS * CALLS, changed);
    return 0;
}
