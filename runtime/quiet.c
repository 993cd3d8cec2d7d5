/*
 * The probes of a paused thread. They keep the shadow stack, so that a recording which goes on in the middle of a
 * stack begins with the calls that are open then; they read no clock and write no record.
 *
 * While a thread is paused, the low half of its state counts events instead of being a position, for the same reason:
 * a probe that a handler interrupted must find that the state has changed.
 */
#include "call.h"
#include "control.h"
#include "filter.h"
#include "frames_left.h"
#include "osevents.h"
#include "pause.h"
#include "runtime.h"
#include "sites.h"
#include "slow.h"
#include "thread.h"
#include "tree.h"

enum {
    FREE_CALLS = 64, /* entries of the shadow stack that are kept free */
};

#define FIRST_QUIET 0x78000000u
#define LAST_QUIET 0xf0000000u

static inline bool has_room(const struct thread *t, uint64_t state)
{
    return (state >> 32) + FREE_CALLS * sizeof(struct call) <= t->shadow_size && (uint32_t)state < LAST_QUIET;
}

/* What lies below the lowest depth is what it was when the pause began. Written before the claim: where that fails,
 * the probe tries again. */
static inline void keep_below(struct thread *t, uint64_t state)
{
    if ((uint32_t)(state >> 32) < t->pause.kept_depth)
        t->pause.kept_depth = (uint32_t)(state >> 32);
}

/* `origin` where call sites are recorded. False: it is not a usual event. */
static ALWAYS_INLINE bool enter_usual(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t frame_id,
                                      const struct origin *origin)
{
    const uint64_t state = thread_state(t);
    struct call *call = thread_call(t, state);
    if (UNLIKELY(stack_pointer - t->stack.low >= t->stack.span))
        return false;
    if (UNLIKELY(!has_room(t, state) || call_was_left(&call[-1], stack_pointer, frame_id)))
        return false;
    *call = (struct call){ .function = function, .stack_pointer = stack_pointer, .frame_id = frame_id };
    if (origin)
        call->call_site = call_site_of(&call[-1], function, stack_pointer, origin->frame_return, origin->probe_return);
    return LIKELY(thread_claim(t, state, state + one_call + 1));
}

static ALWAYS_INLINE void enter(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t frame_id)
{
    if (UNLIKELY(!enter_usual(t, function, stack_pointer, frame_id, NULL)))
        slow_enter(function, stack_pointer, frame_id);
}

void quiet_enter_from(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t frame_return,
                      uint64_t probe_return)
{
    const struct origin origin = { frame_return, probe_return };
    if (UNLIKELY(runtime.filter.starts && filter_action(function) & DWELL_FILTER_START) ||
        UNLIKELY(!enter_usual(t, function, stack_pointer, frame_id_of(frame_return, probe_return), &origin)))
        slow_enter_from(function, stack_pointer, frame_return, probe_return);
}

/* A start-on filter may end the pause. All that is unusual is a tail call, so that the usual saves no registers. */
static __attribute__((noinline)) void enter_filtered(struct thread *t, uint64_t function, uint64_t stack_pointer,
                                                     uint64_t frame_id)
{
    if (filter_action(function) & DWELL_FILTER_START)
        slow_enter(function, stack_pointer, frame_id);
    else
        enter(t, function, stack_pointer, frame_id);
}

void quiet_enter(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t frame_id)
{
    if (UNLIKELY(runtime.filter.starts))
        enter_filtered(t, function, stack_pointer, frame_id);
    else
        enter(t, function, stack_pointer, frame_id);
}

void quiet_exit(struct thread *t, uint64_t function, uint64_t stack_pointer, bool tail_call)
{
    const uint64_t state = thread_state(t);
    const struct call *call = thread_call(t, state) - 1;
    if (UNLIKELY(stack_pointer - t->stack.low >= t->stack.span ||
                 !call_exits(call, function, stack_pointer, tail_call)))
        goto slow;
    if (UNLIKELY((state - one_call) >> 32 <= t->filter.ignored_depth))
        goto slow; /* the end of a call that a filter ignores */
    keep_below(t, state - one_call);
    if (UNLIKELY(!thread_claim(t, state, state - one_call + 1)))
        goto slow;
    return;
slow:
    slow_exit(function, stack_pointer, tail_call);
}

/* Takes away the calls that were left. False: that ended a call which a filter ignores, and the thread goes on. */
static bool leave(struct thread *t, uint64_t left)
{
    t->state -= left * one_call;
    t->state++;
    keep_below(t, t->state);
    if (t->state >> 32 <= t->filter.ignored_depth)
        control_reconsider(t);
    return t->pause.active;
}

bool pause_record(struct thread *t, const struct event *event, bool guarded)
{
    const int64_t left = frames_left_before(t, thread_state(t), event);
    if (left < 0)
        return true;
    if ((left > 0 || t->filter.ignored_depth || !has_room(t, t->state)) && !guarded)
        return false;
    if (left > 0 && !leave(t, (uint64_t)left))
        return false;
    if (guarded) {
        if (!thread_grow_stack(t)) {
            thread_stop_for(t, DWELL_TROUBLE_NO_MEMORY);
            return true;
        }
        if ((uint32_t)t->state >= LAST_QUIET)
            t->state = (t->state >> 32) << 32 | FIRST_QUIET;
    }
    const uint64_t state = thread_state(t);
    uint64_t wanted = state + one_call;
    if (event->enter) {
        struct call *call = thread_call(t, state);
        *call = (struct call){
            .function = event->function,
            .stack_pointer = event->stack_pointer,
            .frame_id = event->frame_id,
        };
        if (runtime.call_sites)
            call->call_site = call_site_of(&call[-1], event->function, event->stack_pointer, event->frame_return,
                                           event->probe_return);
    } else {
        wanted = state - one_call;
        keep_below(t, wanted);
    }
    if (!thread_claim(t, state, wanted + 1))
        return pause_record(t, event, guarded);
    if (UNLIKELY(wanted >> 32 <= t->filter.ignored_depth))
        control_reconsider(t);
    return true;
}

void pause_begin(struct thread *t, uint64_t time)
{
    if (time < t->last)
        time = t->last;
    if (t->chunks.current)
        slow_control(t, &(struct control_event){ .type = DWELL_EXT_PAUSE, .time = time });
    if (runtime.mode == DWELL_MODE_PROFILE)
        tree_pause(t, time);
    const uint32_t depth = (uint32_t)(t->state >> 32);
    t->pause.active = 1;
    t->pause.since = time;
    t->pause.depth = t->pause.kept_depth = depth;
    t->pause.resume_position = (uint32_t)t->state;
    t->state = (uint64_t)depth << 32 | t->pause.next_position;
}

/* Calls that go on from before the pause are as if they had begun later by its length; others begin now. */
static void move_enter_times(struct thread *t, uint64_t time)
{
    struct call *call = (struct call *)t->shadow + 1;
    const struct call *kept = (const struct call *)(t->shadow + t->pause.kept_depth);
    const struct call *end = thread_call(t, t->state);
    for (; call < end; call++)
        call->enter_time = call < kept ? call->enter_time + (time - t->pause.since) : time;
}

/* Calls that were entered in the pause. */
static void choose_kinds(struct thread *t)
{
    struct call *call = (struct call *)(t->shadow + t->pause.kept_depth);
    for (const struct call *end = thread_call(t, t->state); call < end; call++) {
        const bool hidden = filter_action(call->function) & (DWELL_FILTER_SUPPRESS | DWELL_FILTER_IGNORE) ||
                            call[-1].shown >= runtime.filter.depth;
        call->kind = hidden ? CALL_HIDDEN : CALL_SHOWN;
        call->shown = call[-1].shown + !hidden;
    }
}

void pause_end(struct thread *t, uint64_t time)
{
    if (time < t->pause.since)
        time = t->pause.since;
    const uint32_t depth = (uint32_t)(t->state >> 32);
    const bool same = t->pause.kept_depth == t->pause.depth && t->pause.kept_depth == depth;
    const uint32_t ended = (t->pause.depth - t->pause.kept_depth) / (uint32_t)sizeof(struct call);
    const uint32_t opened = (depth - t->pause.kept_depth) / (uint32_t)sizeof(struct call);
    const uint16_t words[] = { (uint16_t)ended, (uint16_t)(ended >> 16) };
    const struct control_event resume = { DWELL_EXT_RESUME, time, words, 2, opened, ended };
    move_enter_times(t, time);
    if (runtime.filtered && runtime.mode != DWELL_MODE_PROFILE)
        choose_kinds(t);
    t->pause.next_position = (uint32_t)t->state + 1;
    t->pause.active = 0;
    t->state = (uint64_t)(runtime.filtered ? depth : t->pause.depth) << 32 | t->pause.resume_position;
    if (t->chunks.current && (opened > MAX_OPENED || (runtime.filtered && !same) ||
                              t->pause.resume_position + slow_control_bytes(&resume) > t->chunks.end))
        thread_give_up_chunk(t, !runtime.filtered); /* the next one begins with the calls that are open */
    t->state = (uint64_t)depth << 32 | t->pause.resume_position;
    os_skip(t);
    if (t->chunks.current)
        slow_control(t, &resume);
    t->last = time;
    if (runtime.mode == DWELL_MODE_PROFILE)
        tree_resume(t, time);
}
