/* A fork in a signal handler that interrupted a probe. */
#ifndef DWELL_RUNTIME_FORKED_H
#define DWELL_RUNTIME_FORKED_H

/* The calling thread is that of a child that fork has just made. */
__attribute__((visibility("hidden"))) void thread_forked(void);

#endif
