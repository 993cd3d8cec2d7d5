/*
 * The list of the probes. Those of hooks.c handle the usual event; an event that does not pass a thread's limit goes to
 * the probes that the thread's gate names.
 */
#ifndef DWELL_PROBES_H
#define DWELL_PROBES_H

#include "common.h"

struct thread;

/* What a probe does: its steps (probe_steps.h) are specialised by these flags. */
enum probe_steps {
    STEPS_TIMED = 1,    /* reads the clock, and whether the operating system intervened; else it only keeps calls */
    STEPS_SITES = 2,    /* call sites are recorded */
    STEPS_FILTER = 4,   /* filters hide calls */
    STEPS_TREE = 8,     /* adds to the thread's call tree instead of writing records */
    STEPS_FLAGGED = 16, /* the end of a call of the OS: the interval before is flagged */
};

/* Each line is a gate, the prefix of its probes' names, and their flags. */
#define PROBES(X)                                                                                                      \
    X(QUIET, quiet, 0)                                                                                                 \
    X(QUIET_SITES, quiet_sites, STEPS_SITES)                                                                           \
    X(QUIET_FILTER, quiet_filter, STEPS_FILTER)                                                                        \
    X(QUIET_FILTER_SITES, quiet_filter_sites, STEPS_FILTER | STEPS_SITES)                                              \
    X(SITES, sites, STEPS_TIMED | STEPS_SITES)                                                                         \
    X(FILTER, filter, STEPS_TIMED | STEPS_FILTER)                                                                      \
    X(FILTER_SITES, filter_sites, STEPS_TIMED | STEPS_FILTER | STEPS_SITES)                                            \
    X(TREE, tree, STEPS_TIMED | STEPS_TREE)                                                                            \
    X(TREE_SITES, tree_sites, STEPS_TIMED | STEPS_TREE | STEPS_SITES)                                                  \
    X(TREE_FILTER, tree_filter, STEPS_TIMED | STEPS_TREE | STEPS_FILTER)                                               \
    X(TREE_FILTER_SITES, tree_filter_sites, STEPS_TIMED | STEPS_TREE | STEPS_FILTER | STEPS_SITES)

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
    bool name##_exit_flagged(struct thread *t, uint64_t function, uint64_t stack_pointer);
PROBES(PROBES_DECLARATION)
#undef PROBES_DECLARATION

/* The probes of hooks.c, as the runtime itself calls them. */
void probe_enter(void *function, void *call_site);
void probe_exit(void *function, void *call_site);

/* Ends a call of the OS by the thread's gate. False if the slow path has to. */
bool probe_exit_flagged(struct thread *t, uint64_t function, uint64_t stack_pointer);

#pragma GCC visibility pop

#endif
