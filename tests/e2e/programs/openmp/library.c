/* A library of which each function uses a team of OpenMP. */
#include <omp.h>
#include <time.h>

int add_in_team(int count);
int work_in_team(int ms);

int add_in_team(int count)
{
    int sum = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
    for (int i = 0; i < count; i++)
        sum += i;
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
    }
    /* Both regions end by a jump, with the same return address. Only one thread comes here. */
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
#pragma omp taskwait
    }
    return sum;
}

int work_in_team(int ms)
{
    int rounds = 0;
#pragma omp parallel num_threads(1) reduction(+ : rounds)
    {
        struct timespec begun, now;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
        do {
            for (volatile int i = 0; i < 1000000; i++)
                ;
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
            rounds++;
        } while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 < ms);
    }
    return rounds;
}

/* The loader's lock is held meanwhile. */
__attribute__((constructor)) static void begin(void)
{
    add_in_team(1);
}
