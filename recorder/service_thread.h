/* A thread of dwell's own beside the program that it runs. */
#ifndef DWELL_RECORDER_SERVICE_THREAD_H
#define DWELL_RECORDER_SERVICE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Milliseconds that such a thread waits at most: a wake may be lost if the session is truncated, or a call fails. */
enum { SERVICE_PATIENCE = 1000 };

/* Starts a thread with all signals but SIGBUS blocked, so that the main thread receives them. False if the system
 * refuses. */
bool service_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

/* Ends a thread that waits at the futex `stop` and looks whether it is still zero. */
void service_thread_stop(pthread_t thread, uint32_t *stop);

#endif
