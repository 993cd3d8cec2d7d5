/*
 * The probes. Those of hooks.c handle the usual event; an event that does not pass a thread's limit goes to
 * the probes that the thread's gate names.
 */
#ifndef DWELL_PROBES_H
#define DWELL_PROBES_H

#include "common.h"
#include "modes.h"

struct object;
struct thread;

/* Which probes handle the events of a thread that do not pass its limit. */
enum gate {
    GATE_SLOW, /* slow.c */
#define PROBES_GATE(GATE, name, steps) GATE_##GATE,
    PROBES(PROBES_GATE)
#undef PROBES_GATE
};

#pragma GCC visibility push(hidden)

/* Events of the calling thread. Those that are not usual are handed to the slow path; NAME_exit_flagged returns false
 * for them instead. */
#define PROBES_DECLARATION(GATE, name, steps)                                                                          \
    void name##_enter(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t frame_return,              \
                      uint64_t probe_return);                                                                          \
    void name##_exit(struct thread *t, uint64_t function, uint64_t stack_pointer, bool tail_call);                     \
    bool name##_exit_flagged(struct thread *t, uint64_t function, uint64_t stack_pointer, const struct object *object);
PROBES(PROBES_DECLARATION)
#undef PROBES_DECLARATION

/* The probes of hooks.c, as the runtime itself calls them. */
void probe_enter(void *function, void *call_site);
void probe_exit(void *function, void *call_site);

/* probe_enter for a call that ends in another frame of the runtime: both give this stack pointer. The thread is set up.
 */
void probe_enter_at(uint64_t function, uint64_t stack_pointer, uint64_t frame_return);

/* probe_enter for a probe that has called it, with what that one was called with. */
void probe_enter_from(uint64_t function, uint64_t stack_pointer, uint64_t frame_return, uint64_t probe_return);

/* probe_exit for another function of the runtime that took its place: with the stack pointer at its first instruction,
 * and whether it was reached by a jump. */
void probe_exit_at(uint64_t function, uint64_t stack_pointer, bool tail_call);

/* Ends a call of the OS, and records its object unless that is NULL, by the thread's gate. False if the slow path has
 * to. */
bool probe_exit_flagged(struct thread *t, uint64_t function, uint64_t stack_pointer, const struct object *object);

#pragma GCC visibility pop

#endif
