/* Ends while one of its threads waits, as it has since its beginning, and another one waits in a row of libc: both for
 * 50 ms. With an argument, it is killed. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "resting.h"

enum { THREADS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static pid_t begun[THREADS]; /* the threads' IDs */

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

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    pthread_create(&threads[0], NULL, waits, NULL);
    pthread_create(&threads[1], NULL, polls, NULL);
    (void)argv;
    for (int i = 0; i < THREADS; i++) {
        while (!__atomic_load_n(&begun[i], __ATOMIC_RELAXED))
            pass(1);
        rest_until_waits(begun[i]);
    }
    usleep(50000);
    if (argc > 1)
        kill(getpid(), SIGKILL);
    return 0;
}
