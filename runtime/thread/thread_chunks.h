/* A thread's room: its chunks one after another, and its shadow stack. */
#ifndef DWELL_RUNTIME_THREAD_CHUNKS_H
#define DWELL_RUNTIME_THREAD_CHUNKS_H

#include "common.h"

#pragma GCC visibility push(hidden)

struct thread;

enum { FIRST_POSITION = 64 /* of a thread's records: a limit of zero lets no position pass */ };

/* Gives the calling thread room for `bytes` more, in a new chunk if needed. Stops the thread if there is none. */
void thread_next_chunk(struct thread *t, uint32_t bytes);

/* Ends the thread's chunk. `count`: its events can be counted, as the file knows exactly the calls of the shadow stack.
 * Signals are held back. */
void thread_give_up_chunk(struct thread *t, bool count);

/* Makes room in the shadow stack, if it is nearly full. False if there is no memory. Signals are held back. */
bool thread_grow_stack(struct thread *t);

/* Records the thread's name if the system has another one than before. */
void thread_check_name(struct thread *t);

#pragma GCC visibility pop

#endif
