/*
 * Waits of every kind, and work that competes with another process. Prints the kernel's account of the thread: the
 * nanoseconds of CPU time in the one call of measured().
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_instrument_function))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2];
static atomic_int held;

HIDDEN static uint64_t cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

HIDDEN static void rest(long milliseconds)
{
    nanosleep(&(struct timespec){ 0, milliseconds * 1000000 }, NULL);
}

static void sleeps(void)
{
    rest(30);
}

/* Waits until the process' first thread waits. */
HIDDEN static void see_it_wait(void)
{
    char path[64], text[512] = "", *state;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
    do {
        rest(1);
        FILE *in = fopen(path, "r");
        if (!in || !fgets(text, sizeof text, in))
            _exit(4);
        fclose(in);
        state = strrchr(text, ')');
    } while (!state || state[2] != 'S');
}

HIDDEN static void *holder(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&mutex);
    atomic_store(&held, 1);
    see_it_wait();
    rest(30);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void locks(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

HIDDEN static void *writer(void *argument)
{
    see_it_wait();
    rest(30);
    return write(pipes[1], "x", 1) == 1 ? argument : NULL;
}

static void reads(void)
{
    char byte;
    if (read(pipes[0], &byte, 1) != 1)
        _exit(3);
}

static volatile unsigned long spun;

static void works(void)
{
    for (long i = 0; i < 60000000; i++)
        spun++;
}

__attribute__((noinline)) static void measured(void)
{
    pthread_t helper;
    sleeps();
    pthread_create(&helper, NULL, holder, NULL);
    while (!atomic_load(&held))
        sched_yield();
    locks();
    pthread_join(helper, NULL);
    pthread_create(&helper, NULL, writer, NULL);
    reads();
    pthread_join(helper, NULL);
    works();
}

HIDDEN static pid_t compete(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    pid_t child = fork();
    if (child == 0)
        for (;;)
            spun++;
    return child;
}

int main(void)
{
    if (pipe(pipes) < 0)
        return 1;
    pid_t child = compete();
    uint64_t cpu = cpu_time();
    measured();
    cpu = cpu_time() - cpu;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    printf("calls cpu %lu\n", (unsigned long)cpu);
    return 0;
}
