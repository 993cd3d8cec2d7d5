/*
 * Pauses of a thread: their start and end, and the events on the slow path in between.
 */
#include "pause.h"
#include "activation.h"
#include "call.h"
#include "extensions.h"
#include "frames_left.h"
#include "gate.h"
#include "recorder.h"
#include "runtime.h"
#include "sites.h"
#include "slow.h"
#include "thread.h"
#include "thread_chunks.h"

/* Removes the calls that were left. False if that ended a call which a filter ignores: the thread records again. */
static bool pause_has_room(const struct thread *t)
{
    return (t->state >> 32) + SHADOW_FREE_CALLS * sizeof(struct call) <= t->shadow_size &&
           (uint32_t)t->state < PAUSE_LAST_POSITION;
}

static bool pause_leave(struct thread *t, uint64_t left)
{
    t->state -= left * one_call;
    t->state++;
    pause_keep_below(t, t->state);
    if (t->state >> 32 <= t->filter.ignored_depth)
        activation_reconsider(t);
    return t->pause.active;
}

enum attempt_outcome pause_record(struct thread *t, const struct event *event, bool guarded)
{
    const int64_t left = frames_left_before(t, thread_state(t), event);
    if (left < 0)
        return ATTEMPT_DONE;
    if ((left > 0 || t->filter.ignored_depth || !pause_has_room(t)) && !guarded)
        return ATTEMPT_GUARDED;
    if (left > 0 && !pause_leave(t, (uint64_t)left))
        return ATTEMPT_AGAIN;
    if (guarded) {
        if (!thread_grow_stack(t)) {
            thread_stop_for(t, DWELL_TROUBLE_NO_MEMORY);
            return ATTEMPT_DONE;
        }
        if ((uint32_t)t->state >= PAUSE_LAST_POSITION)
            t->state = (t->state >> 32) << 32 | PAUSE_FIRST_POSITION;
    }
    const uint64_t state = thread_state(t);
    if (!t->pause.active) /* any more: the state is that of the recording */
        return ATTEMPT_AGAIN;
    uint64_t wanted = state + one_call;
    if (event->enter) {
        struct call *call = thread_call(t, state);
        *call = (struct call){
            .function = event->function,
            .stack_pointer = event->stack_pointer,
            .frame_id = event->frame_id,
            .call_site = sites_of_event(&call[-1], event),
        };
    } else {
        wanted = state - one_call;
        pause_keep_below(t, wanted);
    }
    if (!thread_claim(t, state, wanted + 1))
        return pause_record(t, event, guarded);
    if (UNLIKELY(wanted >> 32 <= t->filter.ignored_depth))
        activation_reconsider(t);
    return ATTEMPT_DONE;
}

void pause_begin(struct thread *t, uint64_t time)
{
    if (time < t->last)
        time = t->last;
    runtime.recorder->pause(t, time);
    const uint32_t depth = (uint32_t)(t->state >> 32);
    t->pause.active = 1;
    t->pause.since = time;
    t->pause.depth = t->pause.kept_depth = depth;
    t->pause.resume_position = (uint32_t)t->state;
    t->state = (uint64_t)depth << 32 | t->pause.next_position;
}

/* Calls that go on from before the pause are as if they had begun later by its length; others begin now. */
static void pause_move_enter_times(struct thread *t, uint64_t time)
{
    struct call *call = (struct call *)t->shadow + 1;
    const struct call *kept = (const struct call *)(t->shadow + t->pause.kept_depth);
    const struct call *end = thread_call(t, t->state);
    for (; call < end; call++)
        call->enter_time = call < kept ? call->enter_time + (time - t->pause.since) : time;
}

struct control_event pause_resume_event(const struct thread *t, uint64_t time, uint16_t words[PAUSE_RESUME_WORDS])
{
    const uint32_t depth = (uint32_t)(t->state >> 32);
    const uint32_t ended = (t->pause.depth - t->pause.kept_depth) / (uint32_t)sizeof(struct call);
    words[0] = (uint16_t)ended;
    words[1] = (uint16_t)(ended >> 16);
    return (struct control_event){
        .type = DWELL_EXT_RESUME,
        .time = time,
        .words = words,
        .count = PAUSE_RESUME_WORDS,
        .opened = (depth - t->pause.kept_depth) / (uint32_t)sizeof(struct call),
        .ended = ended,
    };
}

bool pause_resume_fits(const struct thread *t, const struct control_event *resume)
{
    return resume->opened <= MAX_OPENED && (uint32_t)t->state + extensions_control_bytes(resume) <= t->chunks.end;
}

void pause_end(struct thread *t, uint64_t time)
{
    if (time < t->pause.since)
        time = t->pause.since;
    pause_move_enter_times(t, time);
    t->pause.next_position = (uint32_t)t->state + 1;
    t->pause.active = 0;
    t->state = t->state >> 32 << 32 | t->pause.resume_position;
    runtime.recorder->resume(t, time);
}
