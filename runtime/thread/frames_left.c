/*
 * Frames that were left without an exit, by longjmp or an exception: how many of the shadow stack's uppermost entries
 * an event shows to be gone.
 */
#include "frames_left.h"
#include "call.h"
#include "level_table.h"
#include "slow.h"
#include "sys.h"
#include "thread.h"

/* Whether one of the two lies on the stack of the signal handlers, and the other on another stack. They cannot be
 * compared then. */
static bool frames_on_other_stack(uint64_t stack_pointer, uint64_t top)
{
    const struct stack_range handlers = stacks_handlers();
    return stack_range_has(&handlers, stack_pointer) != stack_range_has(&handlers, top);
}

/* The number of calls that were left without an exit before this enter. */
static uint32_t frames_left_before_enter(const struct thread *t, uint64_t state, const struct event *event)
{
    const struct call *top = thread_call(t, state) - 1, *call = top;
    while (call->stack_pointer == 0) /* marked by frames_leave */
        call--;
    if (call_was_left(call, event->stack_pointer, event->frame_id) &&
        !frames_on_other_stack(event->stack_pointer, call->stack_pointer))
        while (call_was_left(call, event->stack_pointer, event->frame_id))
            call--;
    return (uint32_t)(top - call);
}

static bool frames_is_frame_of(const struct call *call, const struct event *event)
{
    if (call->function != event->function)
        return false;
    if (event->tail_call)
        return event->stack_pointer <= call[-1].stack_pointer;
    return event->stack_pointer <= call->stack_pointer;
}

/* Whether a call above `call` is certainly not left, as the exit comes from below its frame. A function that is inlined
 * in that of `call` says nothing: it has the same frame. */
static bool frames_goes_on_above(const struct call *call, const struct call *top, const struct event *event)
{
    for (const struct call *above = top; above > call; above--)
        if (above->stack_pointer > event->stack_pointer && (above->frame_id ^ call->frame_id) >> 32)
            return true;
    return false;
}

/* The number of frames that were left between this exit's own and the top. -1 if its enter was not recorded. While a
 * function's level changes, that can be so although an earlier call of it is open: a signal handler may have made the
 * second one. */
static int64_t frames_left_before_exit(const struct thread *t, uint64_t state, const struct event *event)
{
    const struct call *first = (const struct call *)t->shadow;
    const struct call *top = thread_call(t, state) - 1;
    for (const struct call *call = top; call > first; call--)
        if (frames_is_frame_of(call, event))
            return levels_table && frames_goes_on_above(call, top, event) ? -1 : top - call;
    for (const struct call *call = top; call > first; call--) /* the call is on another stack */
        if (call->function == event->function)
            return top - call;
    return -1;
}

/* ---- exits of functions some of whose calls are counted ---- */

/* Whether a call below the frame returns to that address. Each call has the address on the stack. What an earlier call
 * has left there may be taken for it: then the exit is not recorded. If the frame is not the exit's own, nothing beyond
 * the exit's frame is read, as that has the address: the frame may be on another stack. */
static bool frames_return_below(uint64_t frame, const struct frame_exit *exit)
{
    for (uint64_t at = exit->stack_pointer + sizeof(uint64_t); at <= frame; at += sizeof(uint64_t))
        if (*(const volatile uint64_t *)at == exit->returns)
            return true;
    return false;
}

/* A frame has the same stack pointer at its exit as at its enter. It has a lower one after alloca, and a higher one if
 * the exit is a jump. A call below it is lower in any case. */
static bool frames_is_ended(const struct call *call, const struct stack_range *stack, const struct frame_exit *exit)
{
    const uint64_t frame = call->stack_pointer;
    if (call->function != exit->function || !stack_range_has(stack, frame) ||
        (exit->returns && (uint32_t)exit->returns != call->frame_id >> 32))
        return false;
    if (exit->tail_call)
        return exit->stack_pointer > frame && exit->stack_pointer <= call[-1].stack_pointer;
    return exit->stack_pointer == frame ||
           (exit->stack_pointer < frame && exit->returns && exit->stack_pointer % sizeof(uint64_t) == 0 &&
            !frames_return_below(frame, exit));
}

const struct call *frames_ended(const struct thread *t, uint64_t state, const struct frame_exit *exit)
{
    const struct stack_range own = t->stack;
    const struct stack_range stack = stack_range_has(&own, exit->stack_pointer) ? own : stacks_handlers();
    for (const struct call *call = thread_call(t, state) - 1; call > (const struct call *)t->shadow; call--) {
        if (frames_is_ended(call, &stack, exit))
            return call;
        if (stack_range_has(&stack, call->stack_pointer) && exit->stack_pointer < call->stack_pointer + exit->tail_call)
            return NULL; /* the call goes on */
    }
    return NULL;
}

/* Whether the exit was checked as one of a NESTED function. The function may be NESTED only since then, or no more. */
static bool frames_is_nested_exit(const struct thread *t, const struct event *event)
{
    return t->levels.exit.function == event->function && t->levels.exit.stack_pointer == event->stack_pointer;
}

static int64_t frames_left_before_nested_exit(const struct thread *t, uint64_t state)
{
    const struct frame_exit exit = t->levels.exit;
    const struct call *ended = frames_ended(t, state, &exit);
    return ended ? thread_call(t, state) - 1 - ended : -1;
}

int64_t frames_left_before(const struct thread *t, uint64_t state, const struct event *event)
{
    if (event->enter)
        return frames_left_before_enter(t, state, event);
    if (frames_is_nested_exit(t, event))
        return frames_left_before_nested_exit(t, state);
    return frames_left_before_exit(t, state, event);
}

/* No stack pointer is below zero: such a frame counts as left at the next event. Safe at any moment, as the state
 * stays. The stack of the signal handlers may lie above the target. All calls on it are left nevertheless. */
void frames_leave(struct thread *t, uint64_t from, uint64_t target)
{
    struct stack_range handlers = { 0 };
    if (from > target)
        handlers = stacks_handlers();
    if (stack_range_has(&handlers, target))
        handlers.span = 0;
    struct call *first = (struct call *)t->shadow;
    for (struct call *call = thread_call(t, thread_state(t)) - 1; call > first; call--) {
        if (call->stack_pointer >= target && !stack_range_has(&handlers, call->stack_pointer))
            break;
        call->stack_pointer = 0;
    }
}
