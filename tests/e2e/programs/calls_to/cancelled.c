/* Cancels threads in signal handlers that have interrupted them at each instruction of a call, one thread after
 * another: of the code that the call leads to, of the stub and of the probes. Both kinds of cancellation unwind the
 * stack there. Prints how many threads have run the destructors of their frames, and how many have ended at once. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <ucontext.h>

#define NO_PROBES __attribute__((noinline, noclone, no_instrument_function))

enum { TRAP_FLAG = 0x100, STEPS = 24 };

#define STEP __asm__ volatile("sub $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; add $128, %%rsp" ::: "memory", "cc")

static int steps, last, destroyed, ended;
static bool deferred;

NO_PROBES static void stepped(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (steps++ < last)
        return;
    registers[REG_EFL] &= ~TRAP_FLAG;
    pthread_cancel(pthread_self());
    if (deferred)
        pthread_testcancel();
}

NO_PROBES int callee_stepped(int n)
{
    __asm__ volatile("");
    return n + 1;
}

__attribute__((noinline)) static int caller(int n)
{
    STEP;
    return callee_stepped(n) + 1;
}

NO_PROBES static void destroy(const int *frame)
{
    destroyed += *frame;
}

NO_PROBES static void *thread(void *unused)
{
    __attribute__((cleanup(destroy))) int frame = 1;
    pthread_setcanceltype(deferred ? PTHREAD_CANCEL_DEFERRED : PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    frame += caller(3) - 5;
    pthread_testcancel();
    return unused;
}

NO_PROBES int main(void)
{
    pthread_t id;
    void *result;
    sigaction(SIGTRAP, &(struct sigaction){ .sa_sigaction = stepped, .sa_flags = SA_SIGINFO | SA_NODEFER }, NULL);
    for (int kind = 0; kind < 2; kind++)
        for (last = 0; last < STEPS; last++) {
            steps = 0;
            deferred = kind;
            pthread_create(&id, NULL, thread, NULL);
            pthread_join(id, &result);
            ended += result == PTHREAD_CANCELED;
        }
    printf("%d cancelled, %d destroyed\n", ended, destroyed);
    return 0;
}
