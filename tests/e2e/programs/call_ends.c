/* Functions with 100 calls each, of which each 20th takes far longer. Some calls end otherwise than by their exit:
 *   leave_half: each second one is left by longjmp;
 *   nest: each calls itself, the long ones three times;
 *   go_away: in each fourth one, another stack runs;
 *   take_a_break: in each fourth one, the thread pauses and resumes; each fourth one ends while the thread is paused;
 *   be_killed: the 101st one is open when the program kills itself. */
#include <dwell/dwell.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

enum { CALLS = 100, EACH = 20, LONG = 50, ROUND = 1000 };

#define KEPT __attribute__((noinline, noclone))

static volatile unsigned sink;
static jmp_buf left;
static ucontext_t main_stack, other_stack;
static char other_memory[1 << 16];

KEPT void work(unsigned rounds)
{
    for (unsigned i = 0; i < rounds * ROUND; i++)
        sink += i;
}

static unsigned rounds_of(unsigned call)
{
    return call % EACH == 0 ? LONG : 1;
}

KEPT void leave(void)
{
    work(1);
    longjmp(left, 1);
}

KEPT void leave_half(unsigned call)
{
    work(rounds_of(call));
    if (call % 2 == 1)
        leave();
    work(1);
}

KEPT void nest(unsigned depth, unsigned rounds)
{
    work(rounds);
    if (depth > 0)
        nest(depth - 1, rounds);
    work(1);
}

KEPT void go_away(unsigned call)
{
    work(rounds_of(call));
    if (call % 4 == 1)
        swapcontext(&other_stack, &main_stack);
    work(1);
}

static void run_on_other_stack(void)
{
    for (unsigned i = 0; i < CALLS; i++)
        go_away(i);
    swapcontext(&other_stack, &main_stack);
}

KEPT void take_a_break(unsigned call)
{
    work(rounds_of(call));
    if (call % 2 == 1)
        dwell_pause(DWELL_THREAD, DWELL_CURRENT);
    work(1);
    if (call % 4 == 1)
        dwell_resume(DWELL_THREAD, DWELL_CURRENT);
}

KEPT void be_killed(unsigned call)
{
    work(rounds_of(call));
    if (call == CALLS)
        raise(SIGKILL);
    work(1);
}

int main(void)
{
    for (volatile unsigned i = 0; i < CALLS; i++)
        if (!setjmp(left))
            leave_half(i);
    for (unsigned i = 0; i < CALLS; i++)
        nest(i % EACH == 0 ? 3 : 1, rounds_of(i));
    if (getcontext(&other_stack) != 0)
        abort();
    other_stack.uc_stack.ss_sp = other_memory;
    other_stack.uc_stack.ss_size = sizeof other_memory;
    makecontext(&other_stack, run_on_other_stack, 0);
    for (unsigned i = 0; i <= CALLS / 4; i++)
        swapcontext(&main_stack, &other_stack);
    for (unsigned i = 0; i < CALLS; i++) {
        take_a_break(i);
        if (i % 4 == 3)
            dwell_resume(DWELL_THREAD, DWELL_CURRENT);
    }
    for (unsigned i = 0; i <= CALLS; i++)
        be_killed(i);
    return 0;
}
