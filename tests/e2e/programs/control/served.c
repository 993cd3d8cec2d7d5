/* served: prints its pid, runs the commands it reads ("run N" calls leaf N times, "dump FILE"), and answers each. */
#include <dwell/dwell.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile long leaves;

__attribute__((noinline)) static void leaf(void)
{
    leaves++;
}

__attribute__((noinline)) static void run(long times)
{
    while (times-- > 0)
        leaf();
}

int main(void)
{
    char line[256];
    printf("%d\n", (int)getpid());
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "run ", 4) == 0)
            run(atol(line + 4));
        puts("done");
        fflush(stdout);
    }
    return 0;
}
