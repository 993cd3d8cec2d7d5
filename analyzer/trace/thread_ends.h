/* What threads did between their last events and their ends. */
#ifndef DWELL_TRACE_THREAD_ENDS_H
#define DWELL_TRACE_THREAD_ENDS_H

#include "trace/session_file.h"

/* Sets last_sample and sample_ticks of the threads, or most_cpu. */
void thread_ends_find(struct session_file *file);

/* How many of the `ticks` from its last event to its end the thread was blocked, in a function of that module. A thread
 * that was killed in a call of the operating system, which is a row of libc, counts as blocked. So does one of which no
 * sample came for several periods. */
uint64_t thread_end_blocked(const struct trace_thread *thread, const char *module, uint64_t ticks);

#endif
