/* What a thread's perf ring says that the operating system did. */
#ifndef DWELL_OS_RING_H
#define DWELL_OS_RING_H

#include "common.h"
#include "perf_attr.h"

#pragma GCC visibility push(hidden)

struct os_events;
struct thread;

enum { OS_RING_SIZE = OS_RING_PAGES * PAGE };

/* Adds what the ring has since it was read last, until that time or OS_NOW. Returns how far it has been read now. Of
 * another thread, under the process' lock. */
uint64_t os_ring_read(const struct thread *t, uint64_t until, struct os_events *e);

/* Nanoseconds in ticks. */
uint64_t os_ticks(uint64_t ns);

#pragma GCC visibility pop

#endif
