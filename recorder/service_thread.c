/* Starts and ends a thread that receives no signals but those of its own faults. */
#include "recorder/service_thread.h"

#include <signal.h>

#include "sys.h"

bool service_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, mask;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* session_guard.c */
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    const bool started = pthread_create(thread, NULL, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return started;
}

void service_thread_stop(pthread_t thread, uint32_t *stop)
{
    __atomic_store_n(stop, 1, __ATOMIC_RELEASE);
    sys_futex_wake_shared(stop);
    pthread_join(thread, NULL);
}
