/*
 * Pauses of a thread: their begin and end, and the events on the slow path in between.
 */
#include "pause.h"
#include "call.h"
#include "control.h"
#include "filter.h"
#include "frames_left.h"
#include "osevents.h"
#include "runtime.h"
#include "sites.h"
#include "slow.h"
#include "thread.h"
#include "tree.h"

/* Takes away the calls that were left. False: that ended a call which a filter ignores, and the thread goes on. */
static bool pause_has_room(const struct thread *t)
{
    return (t->state >> 32) + SHADOW_FREE_CALLS * sizeof(struct call) <= t->shadow_size &&
           (uint32_t)t->state < PAUSE_LAST_POSITION;
}

static bool leave(struct thread *t, uint64_t left)
{
    t->state -= left * one_call;
    t->state++;
    pause_keep_below(t, t->state);
    if (t->state >> 32 <= t->filter.ignored_depth)
        control_reconsider(t);
    return t->pause.active;
}

bool pause_record(struct thread *t, const struct event *event, bool guarded)
{
    const int64_t left = frames_left_before(t, thread_state(t), event);
    if (left < 0)
        return true;
    if ((left > 0 || t->filter.ignored_depth || !pause_has_room(t)) && !guarded)
        return false;
    if (left > 0 && !leave(t, (uint64_t)left))
        return false;
    if (guarded) {
        if (!thread_grow_stack(t)) {
            thread_stop_for(t, DWELL_TROUBLE_NO_MEMORY);
            return true;
        }
        if ((uint32_t)t->state >= PAUSE_LAST_POSITION)
            t->state = (t->state >> 32) << 32 | PAUSE_FIRST_POSITION;
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
            call->call_site = call_site_of(&call[-1], event->function, event->stack_pointer, event->origin);
    } else {
        wanted = state - one_call;
        pause_keep_below(t, wanted);
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
                            call[-1].shown >= filter_settings.depth;
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
