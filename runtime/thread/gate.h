/* The gate of a thread: which probes handle its next events. */
#ifndef DWELL_RUNTIME_GATE_H
#define DWELL_RUNTIME_GATE_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct thread;

/* Chooses the probes that handle the thread's next events. On the calling thread, with signals held back. */
void thread_set_limit(struct thread *t);

/* Nothing more of the calling thread is recorded; the second notes the reason in the session. */
void thread_stop(struct thread *t);
void thread_stop_for(struct thread *t, enum dwell_trouble trouble);

/* Whether the thread has to call activation_attend before its next event. */
bool gate_has_to_attend(const struct thread *t);

/* The thread takes the slow path at its next probe. Under the process' lock. */
void gate_call_thread(struct thread *t);

/* Adds one to a count that all threads compare before their next event. Signals are held back. */
void gate_notify(uint32_t *count);

#pragma GCC visibility pop

#endif
