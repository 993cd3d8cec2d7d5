/*
 * hidden CALLS NAPS: `work` calls `tiny` CALLS times. Then `naps` calls `nap` NAPS times, which sleeps for 1 ms. Then
 * `burn` computes, again and again, and `touch` causes page faults.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define KEPT __attribute__((noinline))

enum { PAGES = 300, PAGE = 4096, TURNS = 20000, BURNS = 100 };

static volatile long sum;

KEPT static void tiny(void)
{
    sum++;
}

KEPT static void work(long calls)
{
    for (long i = 0; i < calls; i++)
        tiny();
}

KEPT static void nap(void)
{
    nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

KEPT static void naps(long count)
{
    for (long i = 0; i < count; i++)
        nap();
}

KEPT static void burn(void)
{
    for (long i = 0; i < TURNS; i++)
        sum += i;
}

KEPT static void touch(void)
{
    char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < PAGES; i++)
        pages[i * PAGE] = 1;
    munmap(pages, PAGES * PAGE);
}

int main(int argc, char **argv)
{
    const long calls = argc > 1 ? atol(argv[1]) : 0, count = argc > 2 ? atol(argv[2]) : 0;
    work(calls);
    naps(count);
    for (int i = 0; i < BURNS; i++)
        burn();
    touch();
    printf("calls tiny %ld\ncalls nap %ld\n", calls, count);
    return 0;
}
