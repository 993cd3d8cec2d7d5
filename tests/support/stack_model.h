/*
 * A random process whose threads change between stacks, pause, set marks and leave frames without an exit. The
 * reference computes its times by walking the whole stack for each interval. It knows the program, but not its records.
 * Chunks begin anywhere, and can end like those of a killed thread.
 */
#ifndef DWELL_TESTS_STACK_MODEL_H
#define DWELL_TESTS_STACK_MODEL_H

#include "support/session_writer.h"

enum {
    STACK_MODEL_FUNCTIONS = 5,
    STACK_MODEL_THREADS = 3,
    STACK_MODEL_STEPS = 900, /* of all threads together */
    STACK_MODEL_DEEPEST = 9,
    STACK_MODEL_CALLS = 2048,
};

struct stack_model_times {
    uint64_t elapsed_inclusive, elapsed_exclusive, flagged_inclusive, flagged_exclusive, calls;
    uint64_t shortest, longest; /* of ended calls; UINT64_MAX and 0 if there are none */
};

struct stack_model_call {
    int function;
    uint64_t begin;   /* when it was entered, or found open */
    uint64_t entered; /* `begin` plus the time that it was paused or set aside */
    uint64_t elapsed, flagged, blocked, below, flagged_below;
    bool recorded; /* its enter is recorded */
    bool lost;     /* it was set aside in a pause: when it comes back, no record shows that it is the same call */
    bool finished; /* its end is recorded */
};

/* A recorded event, with its stack. At an exit, the stack still has the call that ends. */
struct stack_model_event {
    uint64_t time;
    unsigned depth;
    struct stack_model_call *stack[STACK_MODEL_DEEPEST];
};

struct stack_model {
    struct stack_model_times functions[STACK_MODEL_FUNCTIONS];
    uint64_t threads[STACK_MODEL_THREADS]; /* elapsed */
    uint64_t enters, exits, left, stray_exits, marks, pauses, paused, intervals;
    struct stack_model_call *calls[STACK_MODEL_CALLS];
    size_t call_count;
    struct stack_model_event *events[STACK_MODEL_THREADS]; /* enters, exits and marks */
    size_t event_count[STACK_MODEL_THREADS];
    struct writer *writer; /* the session */
};

/* Makes the process from the seed. A new chunk begins before every event with a chance of one in `pieces`, or only
 * where it must if that is zero. */
struct stack_model *stack_model_new(uint64_t seed, unsigned pieces);

void stack_model_free(struct stack_model *m); /* does not free the writer */

uint64_t stack_model_address(int function);

#endif
