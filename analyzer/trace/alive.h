/* Whether a session is still being recorded, by the state of its processes in /proc. */
#ifndef DWELL_TRACE_ALIVE_H
#define DWELL_TRACE_ALIVE_H

#include "trace/session_file.h"

/* Whether the process exists and the session has not recorded its end. */
bool process_is_alive(const struct session_file *file, const struct trace_process *process);

/* Whether a thread of a live process is blocked at this moment: off the CPU, and not preempted. */
bool thread_is_waiting(uint32_t pid, uint32_t tid);

/* Whether a process of the session or its recorder is alive. */
bool session_is_alive(const struct session_file *file);

/* The current time, in ticks of a session that is alive. */
uint64_t session_now(const struct session_file *file);

#endif
