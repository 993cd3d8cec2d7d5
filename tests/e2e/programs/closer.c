/* Closes all descriptors but its output, as daemons do, changes its folder, and continues. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long steps;

__attribute__((noinline)) static void step(void)
{
    steps++;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1;
    for (long i = 0; i < count / 2; i++)
        step();
    closefrom(2);
    if (chdir("/") < 0)
        return 1;
    for (long i = 0; i < count / 2; i++)
        step();
    printf("calls step %ld\n", steps);
    return 0;
}
