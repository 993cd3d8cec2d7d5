/* Whether a session is still being recorded, by what the system says of its processes. */
#ifndef DWELL_TRACE_ALIVE_H
#define DWELL_TRACE_ALIVE_H

#include "trace/session_file.h"

/* The process has no end in the session, and is there. */
bool process_is_alive(const struct session_file *file, const struct trace_process *process);

/* A thread of a process that is alive is off the CPU at this moment, and not because another is to run. */
bool thread_is_waiting(uint32_t pid, uint32_t tid);

/* Some process is, or whoever records them. */
bool session_is_alive(const struct session_file *file);

/* The time now, in ticks of a session that is alive. */
uint64_t session_now(const struct session_file *file);

#endif
