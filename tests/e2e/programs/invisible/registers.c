/* Calls the probes directly, with known values in all registers on which a function's caller may rely. It does so in
 * several threads, at their first event, and often enough to take every slow path. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define QUIET __attribute__((no_instrument_function))

void __cyg_profile_func_enter(void *function, void *caller) __attribute__((weak));
void __cyg_profile_func_exit(void *function, void *caller) __attribute__((weak));

enum { ROUNDS = 200000, THREADS = 4 };

static long wrong;

#if defined(__x86_64__)

struct state {
    uint16_t x87;
    uint32_t mxcsr;
    uint64_t flags, rbx, rbp, r12, r13, r14, r15;
};

#define DIRECTION_FLAG 0x400u

/* Probes follow the ABI of functions. This checks all registers that it does not allow them to change. The x87 stack
 * must be empty at a call, and is. */
QUIET static void call_between(void (*probe)(void *, void *), void *function, struct state *after, uint32_t mxcsr,
                               uint16_t x87)
{
    __asm__ volatile("ldmxcsr %[mxcsr]\n\t"
                     "fldcw %[x87]\n\t" ::[mxcsr] "m"(mxcsr),
                     [x87] "m"(x87));
    register void *first __asm__("rdi") = function;
    register void *second __asm__("rsi") = function;
    register void *target __asm__("rax") = (void *)(uintptr_t)probe;
    __asm__ volatile("sub $128, %%rsp\n\t" /* the red zone */
                     "push %%rbp\n\t"
                     "push %[after]\n\t"
                     "mov %%rsp, %%rcx\n\t"
                     "and $-16, %%rsp\n\t"
                     "push %%rcx\n\t"
                     "push %%rcx\n\t"
                     "mov $0x1111111111111111, %%rbx\n\t"
                     "mov $0x2222222222222222, %%rbp\n\t"
                     "mov $0x3333333333333333, %%r12\n\t"
                     "mov $0x4444444444444444, %%r13\n\t"
                     "mov $0x5555555555555555, %%r14\n\t"
                     "mov $0x6666666666666666, %%r15\n\t"
                     "call *%%rax\n\t"
                     "mov (%%rsp), %%rsp\n\t"
                     "pop %%rax\n\t"
                     "mov %%rbx, 16(%%rax)\n\t"
                     "mov %%rbp, 24(%%rax)\n\t"
                     "mov %%r12, 32(%%rax)\n\t"
                     "mov %%r13, 40(%%rax)\n\t"
                     "mov %%r14, 48(%%rax)\n\t"
                     "mov %%r15, 56(%%rax)\n\t"
                     "pop %%rbp\n\t"
                     "fnstcw (%%rax)\n\t"
                     "stmxcsr 4(%%rax)\n\t"
                     "pushfq\n\t"
                     "popq 8(%%rax)\n\t"
                     "add $128, %%rsp\n\t"
                     : "+r"(first), "+r"(second), "+r"(target)
                     : [after] "r"(after)
                     : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc",
                       "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                       "xmm12", "xmm13", "xmm14", "xmm15");
}

/* Eight values fit the x87 stack if it was left empty. A ninth one is not a number. */
QUIET static int x87_is_empty(void)
{
    uint16_t status;
    __asm__ volatile("fnclex\n\t fld1\n\t fld1\n\t fld1\n\t fld1\n\t fld1\n\t fld1\n\t fld1\n\t fld1\n\t"
                     "fnstsw %0\n\t fninit"
                     : "=m"(status));
    return !(status & 0x41); /* stack fault */
}

QUIET static void check(void (*probe)(void *, void *), void *function, int round)
{
    static const uint32_t controls[] = { 0x1f80, 0x1f80 | 0x6000, 0x1f80 | 0x8040, 0x1f80 | 0x3f };
    static const uint16_t words[] = { 0x37f, 0xf7f, 0x27f, 0x7f };
    struct state s;
    memset(&s, 0, sizeof s);
    const uint32_t mxcsr = controls[round % 4];
    const uint16_t x87 = words[round / 4 % 4];
    call_between(probe, function, &s, mxcsr, x87);
    const int good = s.mxcsr == mxcsr && s.x87 == x87 && !(s.flags & DIRECTION_FLAG) && s.rbx == 0x1111111111111111 &&
                     s.rbp == 0x2222222222222222 && s.r12 == 0x3333333333333333 && s.r13 == 0x4444444444444444 &&
                     s.r14 == 0x5555555555555555 && s.r15 == 0x6666666666666666 && x87_is_empty();
    const uint32_t usual = 0x1f80;
    __asm__ volatile("ldmxcsr %0" ::"m"(usual));
    if (!good)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

#else

QUIET static void check(void (*probe)(void *, void *), void *function, int round)
{
    (void)round;
    probe(function, function);
}

#endif

QUIET static void *run(void *unused)
{
    void *function = (void *)(uintptr_t)run;
    for (int i = 0; __cyg_profile_func_enter && i < ROUNDS; i++) {
        check(__cyg_profile_func_enter, function, i);
        check(__cyg_profile_func_exit, function, i);
    }
    return unused;
}

/* Vectors that live across an instrumented call are saved by the compiler. They are right only if the stack is. */
typedef double vector __attribute__((vector_size(16)));

__attribute__((noinline)) static vector turn(vector v, int depth)
{
    vector kept = v * 3.0;
    if (depth > 0)
        v = turn(v + 1.0, depth - 1);
    return v + kept;
}

QUIET static double sum_of_vectors(void)
{
    double sum = 0;
    for (int i = 0; i < 20000; i++) {
        vector v = turn((vector){ i, i + 1 }, 20);
        sum += v[0] - v[1] * 2;
    }
    return sum;
}

QUIET static long double sum_of_long_doubles(void)
{
    long double sum = 1;
    for (int i = 1; i < 20000; i++)
        sum += 1.0L / i * (long double)turn((vector){ 1, 2 }, 2)[0];
    return sum;
}

QUIET int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    run(NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("wrong %ld\nsums %.17g %.21Lg\n", wrong, sum_of_vectors(), sum_of_long_doubles());
    return 0;
}
