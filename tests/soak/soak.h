/* Shared by the program and its libraries: the counts of calls, by caller and callee. */
#ifndef SOAK_H
#define SOAK_H

#define KEPT __attribute__((noinline))
#define QUIET __attribute__((no_instrument_function))
#define AFTER __asm__ volatile("")

enum soak_function {
    NOBODY, /* no instrumented function */
    ANY,    /* any function that a signal interrupts */
    LEAF,
    WORK,
    THROWER,
    WIDE,
    CATCHER,
    JUMPER,
    LANDING,
    LOADER,
    VICTIM,
    CHILD,
    FORKER,
    HANDLER,
    TURN,
    RUN,
    WAVE,
    PLUGIN_A,
    PLUGIN_B,
    PLUGIN_LEAF,
    FUNCTIONS
};

#define SOAK_NAMES                                                                                                     \
    {                                                                                                                  \
        "-", "*", "leaf", "work", "thrower", "wide", "catcher", "jumper", "landing", "loader", "victim", "child",      \
            "forker", "handler", "turn", "run", "wave", "plugin_a", "plugin_b", "plugin_leaf"                          \
    }

typedef long edge_counts[FUNCTIONS][FUNCTIONS];
typedef void soak_plugin(edge_counts *edges);

extern edge_counts *soak_edges;

/* One instruction, because a handler on the same thread and other processes add to the same counts. */
#define COUNT(caller, callee) __atomic_fetch_add(&(*soak_edges)[caller][callee], 1, __ATOMIC_RELAXED)

#endif
