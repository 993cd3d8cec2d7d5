/*
 * Runs of plain events, which have no extensions: nearly all events of most sessions. A consumer to which a call for
 * each of them costs too much takes them over, run by run. It compiles the loop in, with actions of its own:
 *
 *     stack_apply_plain_until(&actions, &loop, run->state, run->decoder, run->until);
 *
 * The actions keep the lane's open calls by the functions below. All other events are reported one by one as usual.
 */
#ifndef DWELL_TRACE_TIMELINE_PLAIN_H
#define DWELL_TRACE_TIMELINE_PLAIN_H

#include "base/memory.h"
#include "trace/stack.h"
#include "trace/timeline.h"

struct timeline_plain {
    struct timeline_thread *thread;
    struct decoder *decoder;
    struct stack_state *state;
    uint64_t until;       /* events of that time and later are not of the run */
    size_t *room;         /* of the thread's stack */
    size_t lowest;        /* the calls above it are new */
    uint64_t stray_exits; /* to be counted */
};

static inline void timeline_plain_open(const struct timeline_plain *run, uint64_t function, uint64_t time)
{
    struct timeline_thread *t = run->thread;
    if (__builtin_expect(t->depth == *run->room, 0))
        GROW(t->stack, t->depth, *run->room);
    struct timeline_call *call = &t->stack[t->depth++];
    call->function = function;
    call->enter_time = time;
}

static inline void timeline_plain_close(struct timeline_plain *run)
{
    if (--run->thread->depth < run->lowest)
        run->lowest = run->thread->depth;
}

#endif
