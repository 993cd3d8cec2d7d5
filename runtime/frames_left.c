/*
 * Frames that were left without an exit, by longjmp or an exception: how many of the shadow stack's uppermost entries
 * an event shows to be gone.
 */
#include <signal.h>

#include "call.h"
#include "frames_left.h"
#include "slow.h"
#include "sys.h"
#include "thread.h"

/* Whether a signal handler runs on a stack of its own, and the frame at the top of the shadow stack lies on another.
 * Their stack pointers cannot be compared then. */
static bool frames_on_other_stack(uint64_t stack_pointer, uint64_t top)
{
    stack_t stack;
    if (SYS2(sigaltstack, NULL, &stack) < 0 || !(stack.ss_flags & SS_ONSTACK))
        return false;
    uint64_t begin = (uint64_t)stack.ss_sp, end = begin + stack.ss_size;
    bool here = stack_pointer >= begin && stack_pointer < end;
    bool there = top >= begin && top < end;
    return here != there;
}

/* The number of calls that were left without an exit before this enter. */
static uint32_t frames_left_before_enter(const struct thread *t, uint64_t state, const struct event *event)
{
    const struct call *call = thread_call(t, state) - 1;
    if (!call_was_left(call, event->stack_pointer, event->frame_id) ||
        frames_on_other_stack(event->stack_pointer, call->stack_pointer))
        return 0;
    uint32_t left = 0;
    while (call_was_left(call, event->stack_pointer, event->frame_id)) {
        call--;
        left++;
    }
    return left;
}

static bool frames_is_frame_of(const struct call *call, const struct event *event)
{
    if (call->function != event->function)
        return false;
    if (event->tail_call)
        return event->stack_pointer <= call[-1].stack_pointer;
    return event->stack_pointer <= call->stack_pointer;
}

/* The number of frames that were left between this exit's own and the top. -1 if its enter was not recorded. */
static int64_t frames_left_before_exit(const struct thread *t, uint64_t state, const struct event *event)
{
    const struct call *first = (const struct call *)t->shadow;
    const struct call *top = thread_call(t, state) - 1;
    for (const struct call *call = top; call > first; call--)
        if (frames_is_frame_of(call, event))
            return top - call;
    for (const struct call *call = top; call > first; call--) /* the call is on another stack */
        if (call->function == event->function)
            return top - call;
    return -1;
}

int64_t frames_left_before(const struct thread *t, uint64_t state, const struct event *event)
{
    return event->enter ? frames_left_before_enter(t, state, event) : frames_left_before_exit(t, state, event);
}

/* No stack pointer is below zero: such a frame counts as left at the next event. Safe at any moment, as the state
 * stays. */
void frames_leave_below(struct thread *t, uint64_t stack_pointer)
{
    struct call *first = (struct call *)t->shadow;
    for (struct call *call = thread_call(t, thread_state(t)) - 1; call > first && call->stack_pointer < stack_pointer;
         call--)
        call->stack_pointer = 0;
}
