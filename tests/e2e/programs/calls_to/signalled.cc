/* Throws in a signal handler that has interrupted a call at one of its instructions, in a child for each: in the code
 * that the call leads to, in the stub and in the probes. Prints how many exceptions have been caught by the caller, and
 * how many have ended the program as no frame was found above the handler. */
#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NO_PROBES __attribute__((noinline, noclone, no_instrument_function))

enum { TRAP_FLAG = 0x100, STEPS = 24, CAUGHT = 1 };

#define STEP __asm__ volatile("sub $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; add $128, %%rsp" ::: "memory", "cc")

extern const char caller_begin[] __asm__("__start_calling"), caller_end[] __asm__("__stop_calling");
static int steps, last;
static volatile bool inside;

/* The caller's own instructions are those of no call. */
NO_PROBES static void stepped(int, siginfo_t *, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const char *at = (const char *)registers[REG_RIP];
    if (inside && ((at >= caller_begin && at < caller_end) || steps++ < last))
        return;
    registers[REG_EFL] &= ~TRAP_FLAG;
    if (!inside)
        return;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    throw 5;
}

extern "C" NO_PROBES int callee_stepped(int n)
{
    __asm__ volatile("");
    return n + 1;
}

__attribute__((noinline, section("calling"))) static int caller(int n)
{
    try {
        inside = true;
        STEP;
        const int result = callee_stepped(n);
        inside = false;
        return result;
    } catch (int) {
        return CAUGHT;
    }
}

static void quiet(int)
{
    _exit(9);
}

NO_PROBES int main()
{
    struct sigaction action = {};
    action.sa_sigaction = stepped;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGTRAP, &action, nullptr);
    signal(SIGABRT, quiet);
    int caught = 0, ended = 0;
    for (last = 0; last < STEPS; last++) {
        const pid_t child = fork();
        if (child == 0) {
            freopen("/dev/null", "w", stderr);
            _exit(caller(3));
        }
        int status = 0;
        waitpid(child, &status, 0);
        caught += WIFEXITED(status) && WEXITSTATUS(status) == CAUGHT;
        ended += WIFEXITED(status) && WEXITSTATUS(status) == 9;
    }
    printf("%d caught, %d ended\n", caught, ended);
    return 0;
}
