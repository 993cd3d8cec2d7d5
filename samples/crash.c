/*
 * crash segv|abort|kill|exit|_exit|quick_exit|pthread_exit [M]: every way for a program to end.
 *
 * descend calls itself until it is 10 deep, each time calling work M times (default: 100). At the bottom, finish ends
 * the program in the selected way. The report should count 10 calls of descend, 10 * M of work and one of finish and of
 * main, however it ended. It should show the twelve calls that never returned with the time up to the end.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "sample.h"

enum { DEPTH = 10, UNKNOWN_WAY = -1 };

static const char *const ways[] = { "segv", "abort", "kill", "exit", "_exit", "quick_exit", "pthread_exit" };
enum way { SEGV, ABORT, KILL, EXIT, UNDERSCORE_EXIT, QUICK_EXIT, PTHREAD_EXIT, WAYS };

static unsigned long work_calls;
static unsigned long descend_calls;
static volatile unsigned long sink;

static unsigned long work(unsigned long value)
{
    work_calls++;
    return value * 2862933555777941757u + 3037000493u;
}

/* The counts are printed first: most of these ends lose the buffers of stdio. */
static void finish(int way)
{
    volatile int *volatile nowhere = NULL;

    printf("calls work %lu\n", work_calls);
    printf("calls descend %lu\n", descend_calls);
    printf("calls finish 1\n");
    printf("calls main 1\n");
    fflush(stdout);

    switch (way) {
    case SEGV:
        *nowhere = 1;
        break;
    case ABORT:
        abort();
    case KILL:
        kill(getpid(), SIGKILL);
        break;
    case EXIT:
        exit(EXIT_SUCCESS);
    case UNDERSCORE_EXIT:
        _exit(EXIT_SUCCESS);
    case QUICK_EXIT:
        quick_exit(EXIT_SUCCESS);
    case PTHREAD_EXIT:
        pthread_exit(NULL); /* it is the last thread, so the process ends with status 0 */
    }
}

static void descend(int levels, long count, int way)
{
    descend_calls++;
    for (long i = 0; i < count; i++)
        sink = work(sink);
    if (levels > 1)
        descend(levels - 1, count, way);
    else
        finish(way);
}

static SAMPLE_NOT_INSTRUMENTED int find_way(const char *name)
{
    for (int i = 0; i < WAYS; i++)
        if (strcmp(name, ways[i]) == 0)
            return i;
    return UNKNOWN_WAY;
}

int main(int argc, char **argv)
{
    int way = argc > 1 ? find_way(argv[1]) : UNKNOWN_WAY;
    if (way == UNKNOWN_WAY || argc > 3)
        sample_usage("crash segv|abort|kill|exit|_exit|quick_exit|pthread_exit [M]");
    long count = argc > 2 ? sample_number(argv[2], 0, 1000000000) : 100;

    descend(DEPTH, count, way);
    fprintf(stderr, "crash: still alive after '%s'\n", ways[way]);
    return EXIT_FAILURE;
}
