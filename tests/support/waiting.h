/* Sessions in which threads wait or are preempted. Each shows one thing that the first screen of a report must tell. */
#ifndef DWELL_TESTS_WAITING_H
#define DWELL_TESTS_WAITING_H

#include "support/session_writer.h"

/* One thread: `compute` takes 20 ms of CPU time ten times, and is preempted once in each call, for 6 ms. So it has no
 * application time. */
struct writer *waiting_preempted(void);

/* A server of 106 ms. Ten times, the thread `main` computes for 2 ms, and waits in epoll_wait for 6 ms. At last `flush`
 * is blocked itself, for 5 ms. Three other threads wait in pthread_cond_wait all the time. */
struct writer *waiting_server(void);

/* One thread: `main` calls 25 functions that compute for 1, 2 ... 25 ms, and 12 that wait for 1, 2 ... 12 ms. */
struct writer *waiting_many(void);

#endif
