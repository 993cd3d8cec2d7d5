/* A thread waits for a lock that another one holds. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "../resting.h"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun;
static volatile pid_t waiting; /* the thread that is about to wait */
static void *holder(void *nothing)
{
    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(&begun);
    while (!waiting)
        pass(1);
    rest_until_waits(waiting);
    usleep(1000);
    pthread_mutex_unlock(&mutex);
    return nothing;
}
static void *waiter(void *nothing)
{
    pthread_barrier_wait(&begun);
    waiting = (pid_t)syscall(SYS_gettid);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return nothing;
}
int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&begun, NULL, 2);
    pthread_create(&threads[0], NULL, holder, NULL);
    pthread_create(&threads[1], NULL, waiter, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%s\n", "done");
    return 0;
}
