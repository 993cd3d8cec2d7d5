/*
 * processes N [M]: a program that forks.
 *
 * N children run at the same time. Each calls child_work M times (default: 1000) and ends by exit. main and
 * start_child, entered by the parent, are still on its stack then. The report by process should list N + 1 processes.
 * It should count N calls of run_child and N * M of child_work, all made in the children, and one of main, made in the
 * parent.
 */
#define _GNU_SOURCE 1
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"

/* The children count in memory that they share with their parent. */
static struct counts {
    atomic_ulong child_work;
    atomic_ulong run_child;
    unsigned long start_child;
    unsigned long wait_for_children;
} * calls;

static unsigned long child_work(unsigned long value)
{
    atomic_fetch_add(&calls->child_work, 1);
    return value * 2862933555777941757u + 3037000493u;
}

static void run_child(long count)
{
    atomic_fetch_add(&calls->run_child, 1);
    unsigned long value = (unsigned long)getpid();
    for (long i = 0; i < count; i++)
        value = child_work(value);
}

static void start_child(long count)
{
    calls->start_child++;
    pid_t child = fork();
    if (child < 0) {
        perror("processes: fork");
        exit(EXIT_FAILURE);
    }
    if (child == 0) {
        run_child(count);
        exit(EXIT_SUCCESS);
    }
}

static long wait_for_children(long count)
{
    calls->wait_for_children++;
    long failed = 0;
    for (long i = 0; i < count; i++) {
        int status;
        if (wait(&status) < 0 || status != 0)
            failed++;
    }
    return failed;
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3)
        sample_usage("processes N [M]");
    long children = sample_number(argv[1], 0, 10000);
    long count = argc > 2 ? sample_number(argv[2], 0, 1000000000) : 1000;

    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (calls == MAP_FAILED) {
        perror("processes: mmap");
        return EXIT_FAILURE;
    }
    for (long i = 0; i < children; i++)
        start_child(count);
    long failed = wait_for_children(children);

    printf("calls child_work %lu\n", calls->child_work);
    printf("calls run_child %lu\n", calls->run_child);
    printf("calls start_child %lu\n", calls->start_child);
    printf("calls wait_for_children %lu\n", calls->wait_for_children);
    printf("calls main 1\n");
    if (failed > 0)
        fprintf(stderr, "processes: %ld of %ld children failed\n", failed, children);
    return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
