/*
 * CHILDREN short children, at most AT_ONCE at a time. Each makes STEPS calls of step and one of work, which takes 90 ms
 * in one of SLOW children: on a busy machine, another one may lose the processor for a while. The pid of each is
 * printed, in their order. After each 50 children, the program rests for 100 ms. With a fifth argument "between", it
 * serves like a child before each 50 of them, and prints its own pid. With "last", it does so for 90 ms afterwards:
 * when a file "go" is there, after it has written its pid to a file "ready".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

enum { NAP = 90000 };

static volatile unsigned sink;

KEPT void step(void)
{
    sink++;
}

KEPT void work(unsigned microseconds)
{
    if (microseconds)
        usleep(microseconds);
}

KEPT void serve(unsigned microseconds, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++)
        step();
    work(microseconds);
}

static void await_go(void)
{
    FILE *out = fopen("ready.new", "w");
    fprintf(out, "%d\n", (int)getpid());
    fclose(out);
    rename("ready.new", "ready");
    while (access("go", F_OK) != 0)
        usleep(10000);
}

static void start_child(unsigned number, unsigned slow, unsigned steps)
{
    const pid_t child = fork();
    if (child == 0) {
        serve(number % slow == 0 ? NAP : 0, steps);
        _exit(0);
    }
    printf("%d\n", (int)child);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    enum { TOGETHER = 50, REST = 100000 };
    if (argc < 5)
        return 2;
    const unsigned children = (unsigned)atoi(argv[1]), at_once = (unsigned)atoi(argv[2]);
    const unsigned slow = (unsigned)atoi(argv[3]), steps = (unsigned)atoi(argv[4]);
    const char *also = argc > 5 ? argv[5] : "";
    for (unsigned i = 1, living = 0; i <= children; i++) {
        if (i % TOGETHER == 1 && strcmp(also, "between") == 0) {
            printf("%d\n", (int)getpid());
            serve(0, steps);
        }
        start_child(i, slow, steps);
        if (++living == at_once && wait(NULL) > 0)
            living--;
        if (i % TOGETHER == 0)
            usleep(REST);
    }
    while (wait(NULL) > 0)
        continue;
    if (strcmp(also, "last") == 0) {
        await_go();
        serve(NAP, steps);
    }
    return 0;
}
