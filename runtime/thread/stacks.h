/*
 * Several stacks on one thread, each with a shadow stack of its own.
 */
#ifndef DWELL_STACKS_H
#define DWELL_STACKS_H

#include "common.h"

#pragma GCC visibility push(hidden)

struct thread;
struct ucontext_t;

/* A stack that a thread can run on, and its shadow stack while no thread runs on it. */
struct stack {
    uint64_t low, high;   /* its addresses; zeros if they are not known */
    char *calls;          /* the shadow stack */
    uint32_t size, depth; /* of the shadow stack, in bytes */
    uint32_t number;      /* in the process; zero for a thread's own */
    uint32_t tree_of;     /* mode profile: serial of the thread in whose tree the calls' nodes are */
    uint32_t threads;     /* number of threads on it: more than one if some have left it unnoticed */
    bool given_up;        /* nothing will run on it: it is unused when the last thread has left it */
    uint64_t aside_at;    /* time at which it was put aside */
    struct stack *next;   /* in the list of unused ones */
};

/* The addresses of a stack; empty if it has no bytes. A thread's block has that of its shadow stack, for the fast
 * path. */
struct stack_range {
    uint64_t low, span; /* bytes */
};

static inline bool stack_range_has(const struct stack_range *range, uint64_t stack_pointer)
{
    return stack_pointer - range->low < range->span;
}

/* In a thread's block. The shadow stack in use is in the thread's own members, and in `on` while it is put aside. */
struct thread_stacks {
    struct stack *on;      /* the stack that the thread runs on: `own` or another */
    struct stack own;      /* the thread's own stack */
    uint32_t seen_changes; /* the process' `stacks.changes` that the thread has seen */
};

/* In the process' block. */
struct process_stacks {
    uint32_t lock;
    uint32_t changes; /* number of changes of the known stacks' addresses */
};

/* Bytes of a chunk, enough for a switch of stacks with all that comes before it. */
enum { STACKS_SWITCH_ROOM = 1024 };

/* The number of calls on a stack that no thread runs on. */
uint32_t stacks_calls(const struct stack *s);

/* For recorders: puts the thread's shadow stack aside, and takes up that of `to`. The calls on it become as if they had
 * begun later, by the time that it was put aside. The caller sets the depth in the thread's state. Signals are held
 * back.
 */
void stacks_exchange(struct thread *t, struct stack *to, uint64_t now);

/* The present time, which is not before the thread's last event. */
uint64_t stacks_now(const struct thread *t);

void stacks_begin_thread(struct thread *t);

/* The calling thread ends. Its block has its own stack then. */
void stacks_end_thread(struct thread *t);

/* Makes the shadow stack that of the stack which `stack_pointer` lies on. Any time, on the calling thread `t`. */
void stacks_find(struct thread *t, uint64_t stack_pointer);

/* The alternate stack of signal handlers while a handler runs on it; else an empty range. */
struct stack_range stacks_handlers(void);
bool stacks_is_handlers(uint64_t stack_pointer);

/* Whether the process has or had stacks besides the threads' own. */
bool stacks_are_used(void);

/* makecontext has made a context with a stack of its own. */
void stacks_context_made(const struct ucontext_t *context);

/* The calling thread is about to run in this context. */
void stacks_context_chosen(const struct ucontext_t *context);

#pragma GCC visibility pop

#endif
