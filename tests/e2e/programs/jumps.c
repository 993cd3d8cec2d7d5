/* Frames left by longjmp, by siglongjmp out of a signal handler, and out of a recursion. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static jmp_buf jump;
static sigjmp_buf signal_jump;
static long outers, middles, inners, afters, catchers, recursions, raisers, handlers;
static volatile int work;

static void inner(int i)
{
    inners++;
    if (i % 2)
        longjmp(jump, 1);
    work += i;
}

__attribute__((noinline)) static void middle(int i)
{
    middles++;
    inner(i);
    work += i;
}

__attribute__((noinline)) static void outer(int i)
{
    outers++;
    middle(i);
    work += i;
}

__attribute__((noinline)) static void after(void)
{
    afters++;
    work++;
}

__attribute__((noinline)) static void recurse(int depth, int i)
{
    recursions++;
    if (depth > 0)
        recurse(depth - 1, i);
    else if (i % 3 == 0)
        longjmp(jump, 1);
    work += i;
}

__attribute__((noinline)) static void catcher(int i)
{
    catchers++;
    if (!setjmp(jump))
        recurse(2, i);
    after();
}

static void handler(int number)
{
    (void)number;
    handlers++;
    siglongjmp(signal_jump, 1);
}

__attribute__((noinline)) static void raiser(void)
{
    raisers++;
    raise(SIGUSR1);
}

int main(void)
{
    for (volatile int i = 0; i < 1000; i++) {
        if (!setjmp(jump))
            outer(i);
        after();
    }
    for (volatile int i = 0; i < 300; i++)
        catcher(i);
    signal(SIGUSR1, handler);
    for (volatile int i = 0; i < 100; i++) {
        if (!sigsetjmp(signal_jump, 1))
            raiser();
        after();
    }
    printf("calls main 1\ncalls outer %ld\ncalls middle %ld\ncalls inner %ld\ncalls after %ld\ncalls catcher %ld\n"
           "calls recurse %ld\ncalls raiser %ld\ncalls handler %ld\n",
           outers, middles, inners, afters, catchers, recursions, raisers, handlers);
    return 0;
}
