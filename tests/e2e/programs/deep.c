/* A recursion of the requested depth, twice, on a stack that is large enough. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long calls;

__attribute__((noinline)) static int down(int depth)
{
    volatile int here = depth;
    calls++;
    return depth > 1 ? down(depth - 1) + here : here;
}

static void *run(void *depth)
{
    for (int i = 0; i < 2; i++)
        down(*(int *)depth);
    return NULL;
}

int main(int argc, char **argv)
{
    int depth = argc > 1 ? atoi(argv[1]) : 10;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1ul << 30);
    if (pthread_create(&thread, &attributes, run, &depth) != 0)
        return 1;
    pthread_join(thread, NULL);
    printf("calls down %ld\ncalls run 1\n", calls);
    return 0;
}
