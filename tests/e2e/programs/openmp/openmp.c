/* openmp KIND: teams of two threads of OpenMP, of which one works while the other one waits for it, three times. The
 * waiting thread sleeps before the other one goes on, if OMP_WAIT_POLICY is passive. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "resting.h"

enum { ROUNDS = 3, FAR_MS = 100 };

static volatile pid_t threads[2];

UNSEEN static void use_processor(long ms)
{
    struct timespec begun, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000L * MS + now.tv_nsec - begun.tv_nsec < ms * MS);
}

UNSEEN static void rest_until_other_waits(void)
{
    rest_until_waits(threads[!omp_get_thread_num()]);
}

static void come_late(void)
{
    rest_until_other_waits();
}

UNSEEN static int meet(int late)
{
    const int self = omp_get_thread_num();
    threads[self] = syscall(SYS_gettid);
    while (!threads[!self])
        syscall(SYS_sched_yield);
    return self == late;
}

static void at_the_end(int late)
{
#pragma omp parallel num_threads(2)
    if (meet(late))
        come_late();
}

static void at_barriers(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < ROUNDS; i++) {
        if (meet(i % 2))
            come_late();
#pragma omp barrier
    }
}

static void in_loops(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < ROUNDS; i++) {
        if (meet(0))
            come_late();
#pragma omp for schedule(dynamic)
        for (int k = 0; k < 2; k++)
            threads[0] = threads[0];
    }
}

static void in_sections(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < ROUNDS; i++) {
        if (meet(0))
            come_late();
#pragma omp sections
        {
            threads[0] = threads[0];
#pragma omp section
            threads[1] = threads[1];
        }
    }
}

static int sum_up(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(task, + : sum)
    if (meet(1))
        come_late();
    return sum;
}

static void between(void)
{
    rest_until_other_waits();
}

/* ---- work that takes no rest ---- */

static void work_long(void)
{
    use_processor(FAR_MS);
}

static void work_briefly(void)
{
    use_processor(1);
}

static void share(void)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num())
        work_long();
    else
        work_briefly();
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    for (int i = 0; i < ROUNDS; i++)
        if (strcmp(kind, "end") == 0)
            at_the_end(1);
        else if (strcmp(kind, "start") == 0) {
            at_the_end(-1);
            between();
        } else if (strcmp(kind, "reduction") == 0)
            sum_up();
        else if (strcmp(kind, "unbalanced") == 0)
            share();
    if (strcmp(kind, "start") == 0)
        at_the_end(-1);
    if (strcmp(kind, "barrier") == 0)
        at_barriers();
    if (strcmp(kind, "loop") == 0)
        in_loops();
    if (strcmp(kind, "sections") == 0)
        in_sections();
    return 0;
}
