/* Has 256 calls of one function of callee.h, each by an instruction of its own: some lie across lines of the cache. As
 * a program (PROGRAM), it calls them 100 times in each of 4 threads while a signal handler calls another function, and
 * in a forked child. It prints a sum and the number of calls of all functions. */
#include "callee.h"

#define ONE sum += callee_ints(sum, 2, 3, 4, 5, 6, 7, 8, 9, 10) % 5;
#define FOUR ONE ONE ONE ONE
#define SIXTEEN FOUR FOUR FOUR FOUR
#define SIXTY_FOUR SIXTEEN SIXTEEN SIXTEEN SIXTEEN

long opened_run(const char *text)
{
    long sum = *text;
    SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR return sum;
}

#ifdef PROGRAM
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 100, CHILD = 1000 };

static volatile sig_atomic_t ticks;

static void tick(int signal)
{
    ticks = ticks + (callee_sum(1, (long)signal) == signal);
}

static void *thread(void *sum)
{
    for (int i = 0; i < ROUNDS; i++)
        *(long *)sum += opened_run("a");
    while (ticks < 50)
        *(long *)sum += callee_s1((struct s1){ 1 }).c - 2;
    return NULL;
}

static int child(void)
{
    int wrong = 0;
    for (int i = 0; i < CHILD; i++)
        wrong += callee_s1((struct s1){ (char)(i % 100) }).c != i % 100 + 1;
    return wrong;
}

int main(void)
{
    pthread_t threads[THREADS];
    long sums[THREADS] = { 0 };
    const struct itimerval every = { { 0, 500 }, { 0, 500 } };
    int status = 1;
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, &sums[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 0 }, { 0, 0 } }, NULL);
    const pid_t pid = fork();
    if (!pid)
        _exit(child());
    waitpid(pid, &status, 0);
    printf("%ld %ld %ld %ld %d\n", sums[0], sums[1], sums[2], sums[3], status);
    printf("calls %d\n", callee_counts() + CHILD);
    return 0;
}
#endif
