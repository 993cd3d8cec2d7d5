/* Ends while one of its threads waits, as it has since its beginning, and another one waits in a row of libc: both for
 * 50 ms. With an argument, it is killed. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static int begun[THREADS]; /* the threads' IDs */

static void *waits(void *argument)
{
    __atomic_store_n(&begun[0], gettid(), __ATOMIC_RELAXED);
    pthread_mutex_lock(&lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
    return argument;
}

static void *polls(void *argument)
{
    __atomic_store_n(&begun[1], gettid(), __ATOMIC_RELAXED);
    poll(NULL, 0, -1);
    return argument;
}

/* A thread may be preempted for long between its beginning and its wait. */
__attribute__((no_instrument_function)) static bool is_waiting(int tid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *in = tid ? fopen(path, "r") : NULL;
    if (!in)
        return false;
    const char *state = fgets(text, sizeof text, in) ? strrchr(text, ')') : NULL;
    fclose(in);
    return state && state[2] == 'S';
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    pthread_create(&threads[0], NULL, waits, NULL);
    pthread_create(&threads[1], NULL, polls, NULL);
    (void)argv;
    for (int i = 0; i < THREADS; i++)
        while (!is_waiting(__atomic_load_n(&begun[i], __ATOMIC_RELAXED)))
            usleep(1000);
    usleep(50000);
    if (argc > 1)
        kill(getpid(), SIGKILL);
    return 0;
}
