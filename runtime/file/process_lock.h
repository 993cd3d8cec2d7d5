/* The lock of a process' lists: its threads, modules, rings and records on their way. With signals held back. */
#ifndef DWELL_RUNTIME_PROCESS_LOCK_H
#define DWELL_RUNTIME_PROCESS_LOCK_H

#pragma GCC visibility push(hidden)

void process_lock(void);
void process_unlock(void);

#pragma GCC visibility pop

#endif
