/*
 * The CPU that the calling thread is on, without a call of the system.
 */
#ifndef DWELL_OS_CPU_H
#define DWELL_OS_CPU_H

#include "extensions.h"

#pragma GCC visibility push(hidden)

/* Its number; negative if it is unknown. */
int32_t os_cpu_number(void);

/* Adds a record of it; nothing if it is unknown, as with a libc that does not register rseq. */
void os_cpu_put(struct extensions *e);

enum { OS_CPU_WORDS = 2 };

#pragma GCC visibility pop

#endif
