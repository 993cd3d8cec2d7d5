/* Ends while one of its threads waits, as it has since its beginning, and another one waits in a row of libc. With an
 * argument, it is killed. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static int begun; /* threads that have */

static void *waits(void *argument)
{
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
    return argument;
}

static void *polls(void *argument)
{
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    poll(NULL, 0, -1);
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, waits, NULL);
    pthread_create(&threads[1], NULL, polls, NULL);
    (void)argv;
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < 2)
        usleep(1000);
    usleep(50000);
    if (argc > 1)
        kill(getpid(), SIGKILL);
    return 0;
}
