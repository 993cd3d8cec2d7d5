/* syscalls PROGRAM [ARGUMENT]...: runs the program and prints how many system calls its first thread made. */
#include <stdio.h>

#include "../stepping.h"

static pid_t first;
static long calls;

static void syscalls_count(struct task *task, struct user_regs_struct *r)
{
    (void)r;
    if (!first)
        first = task->id;
    calls += task->id == first;
}

int main(int argc, char **argv)
{
    const int result = argc > 1 ? stepping_run(argv + 1, false, syscalls_count) : NOT_RUN;
    fprintf(stderr, "calls syscalls %ld\n", calls);
    return result;
}
