/* Steps through the code that calls lead to, one instruction after another. At each, a signal handler takes a
 * backtrace, which must lead to main. Prints how many did not, and whether any instruction was in no module. */
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <ucontext.h>

#define NO_PROBES __attribute__((noinline, noclone, no_instrument_function))

enum { TRAP_FLAG = 0x100, MOST_STEPS = 24, DEPTH = 64 };

#define STEP __asm__ volatile("sub $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; add $128, %%rsp" ::: "memory", "cc")

static int steps, all, outside, lost;
static const char *in_main;

NO_PROBES static void stepped(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (steps++ >= MOST_STEPS) {
        registers[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    void *stack[DEPTH];
    Dl_info module;
    bool found = false;
    const int depth = backtrace(stack, DEPTH);
    for (int i = 0; i < depth; i++)
        found |= (const char *)stack[i] == in_main;
    lost += !found;
    outside += dladdr((void *)registers[REG_RIP], &module) == 0;
    all++;
}

NO_PROBES int callee_stepped(int n)
{
    __asm__ volatile("");
    return n + 1;
}

__attribute__((noinline)) static int caller(int n, bool stepping)
{
    if (stepping)
        STEP;
    return callee_stepped(n);
}

NO_PROBES static int outer(int n, bool stepping)
{
    in_main = __builtin_return_address(0);
    const int result = caller(n, stepping);
    __asm__ volatile("");
    return result;
}

NO_PROBES int main(void)
{
    void *stack[1];
    backtrace(stack, 1);
    sigaction(SIGTRAP, &(struct sigaction){ .sa_sigaction = stepped, .sa_flags = SA_SIGINFO }, NULL);
    for (int i = 0; i < 100; i++) {
        steps = 0;
        outer(i, i >= 50);
        steps = MOST_STEPS;
    }
    printf("%s, %s, %d lost\n", all >= 50 * MOST_STEPS / 3 ? "stepped" : "not stepped",
           outside ? "outside of modules" : "in modules", lost);
}
