/* What ends a program that has no memory. */
#include "base/memory.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(unit_memory, .timeout = 120);

/* Not by exit: what the tests do there is not the child's. */
static void memory_leave(void)
{
    _exit(out_of_memory_status);
}

static void *memory_runs_out(void *nothing)
{
    out_of_memory();
    return nothing;
}

/* In a child: a thread says it to a pipe that is full. Another one has no memory, either. */
static void __attribute__((noreturn)) memory_end_twice(int pipe_end)
{
    static const char filler[4096];
    pthread_t first, second;
    memory_set_keeper(memory_leave);
    dup2(pipe_end, STDERR_FILENO);
    fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
    while (write(STDERR_FILENO, filler, sizeof filler) > 0)
        continue;
    fcntl(STDERR_FILENO, F_SETFL, 0);
    pthread_create(&first, NULL, memory_runs_out, NULL);
    usleep(100000); /* it writes by then, or is about to */
    pthread_create(&second, NULL, memory_runs_out, NULL);
    pthread_join(second, NULL);
    _exit(0);
}

/* The one that comes later does not end the program before the line is there. */
Test(unit_memory, two_threads_have_none)
{
    static const char line[] = "dwell: out of memory\n";
    int ends[2], status;
    cr_assert(eq(int, pipe(ends), 0));
    const pid_t child = fork();
    if (child == 0)
        memory_end_twice(ends[1]);
    close(ends[1]);
    usleep(300000);
    char all[1 << 17];
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], all + length, sizeof all - length)) > 0;)
        length += (size_t)got;
    close(ends[0]);
    cr_assert(eq(int, waitpid(child, &status, 0), child));
    cr_assert(eq(int, WEXITSTATUS(status), out_of_memory_status));
    const size_t begin = length - (sizeof line - 1);
    cr_assert(ge(sz, length, sizeof line), "%zu", length);
    cr_assert(eq(int, memcmp(all + begin, line, sizeof line - 1), 0));
    cr_assert(eq(int, all[begin - 1], 0)); /* once */
}
