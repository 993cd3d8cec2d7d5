/*
 * every: calls each function of libc that has a row under dwell, a known number of times. It prints each result and
 * errno, and "calls NAME NUMBER". The output is the same whether it is recorded or not.
 */
#include "every.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_NAMES = 256 };

static struct {
    const char *name;
    unsigned long count;
} calls[MAX_NAMES];
static int names;
static char busy;

NOT_INSTRUMENTED void counted(const char *name)
{
    int i = 0;
    while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
        ;
    while (i < names && strcmp(calls[i].name, name) != 0)
        i++;
    if (i == names)
        calls[names++].name = name;
    calls[i].count++;
    __atomic_clear(&busy, __ATOMIC_RELEASE);
    errno = 77;
}

NOT_INSTRUMENTED long told(const char *name, long result)
{
    const int error = errno;
    printf("%s: %ld, errno %d\n", name, result, error);
    return result;
}

NOT_INSTRUMENTED void need(int condition, const char *what)
{
    if (condition)
        return;
    printf("failed: %s\n", what);
    fflush(stdout);
    _exit(3);
}

static NOT_INSTRUMENTED int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int main(int argc, char **argv)
{
    need(argc == 2 && mkdtemp(argv[1]) && SILENT(chdir, argv[1]) == 0, "every TEMPLATE: a folder to work in");
    static char output[1 << 16];
    setvbuf(stdout, output, _IOFBF, sizeof output);
    for (int round = 0; round < 3; round++) {
        on_files();
        on_names();
        on_streams();
        on_sockets();
        on_memory();
        sleeping();
        waiting_for_signals();
        with_processes();
        with_threads();
    }
    qsort(calls, (size_t)names, sizeof *calls, by_name);
    for (int i = 0; i < names; i++)
        printf("calls %s %lu\n", calls[i].name, calls[i].count);
    return EXIT_SUCCESS;
}
