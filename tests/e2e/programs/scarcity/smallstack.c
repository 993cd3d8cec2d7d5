/*
 * smallstack BYTES: a thread of 16 KiB, libc's minimum, whose first instrumented call has about BYTES of it left. Then
 * longjmp over frames, and a handler that runs instrumented code there.
 */
#include <limits.h>
#include <setjmp.h>
#include <signal.h>

#include "work.h"

enum { SIZE = 16 << 10 };

static char stack[SIZE + 4096] __attribute__((aligned(4096)));
static long left = 8 << 10;
static jmp_buf back;

static __attribute__((noinline)) void thrower(void)
{
    atomic_fetch_add(&counts->dive, 1);
    longjmp(back, 1);
}

static BARE void at_depth(void)
{
    volatile char here;
    long room = (long)(&here - stack);
    volatile char *eaten = __builtin_alloca((size_t)(room > left ? room - left : 1));
    eaten[0] = 0;
    work(100000);
    for (volatile int i = 0; i < 100; i++)
        if (setjmp(back) == 0)
            thrower();
}

static BARE void *run(void *argument)
{
    (void)argument;
    at_depth();
    return NULL;
}

int main(int argc, char **argv)
{
    begin();
    if (argc > 1)
        left = atol(argv[1]);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    need(pthread_attr_setstack(&attributes, stack, SIZE) == 0, "setstack");
    need(pthread_create(&thread, &attributes, run, NULL) == 0, "pthread_create");
    pthread_join(thread, NULL);
    printf("calls step %lu\ncalls work %lu\ncalls thrower %lu\ncalls main 1\n", counts->step, counts->work,
           counts->dive);
    return 0;
}
