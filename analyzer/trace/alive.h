/* Whether a session is still being recorded, by the state of its processes in /proc. */
#ifndef DWELL_TRACE_ALIVE_H
#define DWELL_TRACE_ALIVE_H

#include "trace/session_file.h"

/* The session has no end of the process, and the process exists. */
bool process_is_alive(const struct session_file *file, const struct trace_process *process);

/* A thread of a live process waits at this moment: it is off the CPU, and not because it was preempted. */
bool thread_is_waiting(uint32_t pid, uint32_t tid);

/* Some process of the session is alive, or its recorder is. */
bool session_is_alive(const struct session_file *file);

/* The time now, in ticks of a session that is alive. */
uint64_t session_now(const struct session_file *file);

#endif
