/* Whether this user may watch system calls (--os-events=syscalls). */
#ifndef DWELL_RECORDER_SYSCALL_EVENTS_H
#define DWELL_RECORDER_SYSCALL_EVENTS_H

/* Returns what is missing and what to do, or NULL if nothing is. The caller frees it. */
char *syscall_events_missing(void);

#endif
