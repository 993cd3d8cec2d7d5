/*
 * The seam between the recording and its modes. A recorder holds the cold operations of one mode, with or without
 * filters. It is chosen once, when the process is set up, and stays the same in forked children. The probes of a mode
 * are in the list of modes.h. docs/code.md says how to add a mode.
 */
#ifndef DWELL_RECORDER_H
#define DWELL_RECORDER_H

#include "attempt.h"
#include "call.h"
#include "common.h"
#include "dwell/format.h"
#include "extensions.h"
#include "modes.h"
#include "own_time.h"
#include "probes.h"
#include "runtime.h"
#include "thread.h"

#pragma GCC visibility push(hidden)

struct calibration;
struct event;
struct stack;

/* An event on the slow path, which is tried until it is recorded. */
struct attempt {
    const struct event *event;
    struct own_moment begin;      /* when the probe began */
    bool guarded;                 /* signals are held back */
    bool resumed;                 /* the event has ended the thread's pause */
    struct extensions extensions; /* what was read of the OS's work; kept from try to try */
};

/* Each operation is called on its own thread, with signals held back unless it says otherwise. A NULL operation does
 * nothing, unless it says otherwise. */
struct recorder {
    /* The probes of a thread that records, and of a paused one: without call sites, and with them. GATE_SLOW stands for
     * the probes of hooks.c. */
    enum gate gates[2], paused_gates[2];
    uint32_t ready_chunks; /* the number of chunks that the helper keeps ready at first */
    const struct calibration *calibration;

    /* Whether the probes may handle the thread's next events. `room` is zero if its chunk is full. */
    bool (*is_ready)(const struct thread *t, uint32_t room);

    /* Records an event. Signals are not held back unless attempt->guarded. */
    enum attempt_outcome (*record)(struct thread *t, struct attempt *attempt);

    /* Appends a control event to the thread's chunk. NULL if the mode keeps nothing that has a time. */
    void (*control)(struct thread *t, const struct control_event *event);

    /* A pause begins. The thread's state is still that of the recording. */
    void (*pause)(struct thread *t, uint64_t time);

    /* A pause has ended. t->pause says which calls are as they were, and the state is that of the recording again, with
     * the shadow stack's depth now. */
    void (*resume)(struct thread *t, uint64_t time);

    /* The slow path has worked since `begin`, which is in the current interval. Signals may come in. */
    void (*add_own_time)(struct thread *t, const struct own_moment *begin);

    /* Makes `to` the thread's stack, by stacks_exchange. The thread is not paused. What the OS did before the time of
     * the change belongs to the stack that it leaves. */
    void (*switch_stack)(struct thread *t, struct stack *to);

    /* Writes what waits in the thread's block to its chunk, if it has one and is not paused. */
    void (*flush)(struct thread *t);

    /* The number of open calls that the file knows of. NULL if it knows all; else an entry of the shadow stack says by
     * its `kind` whether it does. */
    uint32_t (*shown_depth)(const struct thread *t);

    /* The calling thread is about to fork. It is not paused. */
    void (*fork_begins)(struct thread *t);

    /* It is that of the forked child, and has its parent's open calls. */
    void (*forked)(struct thread *t);

    void (*end_thread)(struct thread *t);
};

#define MODES_DECLARATION(MODE, name, plain, filtered) extern const struct recorder plain, filtered;
MODES(MODES_DECLARATION)
#undef MODES_DECLARATION

/* Finds a mode by its name, which `end` ends. False if there is none. */
bool recorder_find_mode(const char *name, const char *end, enum dwell_mode *mode);

/* The recorder of a mode. */
const struct recorder *recorder_of(enum dwell_mode mode, bool filtered);

static inline bool recorder_shows_all(void)
{
    return !runtime.recorder->shown_depth;
}

/* Whether the file knows of an open call. */
static inline bool recorder_shows(const struct call *call)
{
    return recorder_shows_all() || call->kind == CALL_SHOWN;
}

static inline uint32_t recorder_shown_depth(const struct thread *t)
{
    return recorder_shows_all() ? thread_calls(t->state) : runtime.recorder->shown_depth(t);
}

static inline void recorder_flush(struct thread *t)
{
    if (runtime.recorder->flush && t->chunks.current && !t->pause.active)
        runtime.recorder->flush(t);
}

#pragma GCC visibility pop

#endif
