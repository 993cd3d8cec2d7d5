/* Calls functions of libraries whose calls are left alone. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    jmp_buf to;
    signal(SIGUSR1, SIG_IGN);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return setjmp(to) + abs((int)strtol("0", NULL, 10));
}
