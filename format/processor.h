/* Processors of the machine, for threads that work beside the program's. */
#ifndef DWELL_PROCESSOR_H
#define DWELL_PROCESSOR_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* When a thread may leave a processor again. Begins with zeros. */
struct processor_moves {
    uint64_t next;  /* as clock_monotonic() */
    uint64_t pause; /* nanoseconds between the last two moves, at least */
};

/* The number of the processor that the calling thread is on, plus 1. Zero if the system does not tell. */
uint32_t processor_here(void);

/* Moves the calling thread to another processor if it is on that one (a number plus 1) and may run elsewhere. A system
 * may wake a thread where its waker runs, although other processors are idle, as Linux does on machines with two: the
 * waker, a thread of the program, waits then. Where all are busy this is in vain, so the pauses become longer. */
void processor_leave(struct processor_moves *moves, uint32_t processor);

#pragma GCC visibility pop

#endif
