/* asks: a thousand system calls that never wait, without a function of libc that has a row, and as many calls without a
 * system call. */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static long ask(void)
{
    return syscall(SYS_getppid);
}

static unsigned compute(unsigned state)
{
    for (int i = 0; i < 100; i++)
        state = state * 1664525 + 1013904223;
    return state;
}

int main(void)
{
    unsigned state = 1;
    for (int i = 0; i < 1000; i++) {
        if (ask() < 0)
            return 1;
        state = compute(state);
    }
    printf("%u\n", state);
    return 0;
}
