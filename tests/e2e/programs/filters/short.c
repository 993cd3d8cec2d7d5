/* short: some calls that take long, and some that do not. */
#include <stdio.h>
#include <time.h>

#define KEPT __attribute__((noinline))

static long inners, shorts, longs;

KEPT static void nothing(void)
{
    shorts++;
}

KEPT static void sleep_long(void)
{
    longs++;
    nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
}

KEPT static void inner(int i)
{
    inners++;
    nothing();
    if (i % 2 == 0)
        sleep_long();
    nothing();
}

KEPT static void outer(int i)
{
    inner(i);
    __asm__ volatile("");
}

int main(void)
{
    for (int i = 0; i < 20; i++)
        outer(i);
    printf("calls main 1\ncalls outer 20\ncalls inner %ld\ncalls nothing %ld\ncalls sleep_long %ld\n", inners, shorts,
           longs);
    return 0;
}
