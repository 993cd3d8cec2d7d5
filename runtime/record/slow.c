/*
 * The slow path: the first event of a thread, the first after the OS intervened, after a long time, after frames were
 * left, at the end of a chunk. It brings the thread to the requested state, and hands the event to the
 * recorder of the mode.
 *
 * Reentrant: a signal handler may record events at any point of it.
 */
#include <errno.h>

#include "activation.h"
#include "call.h"
#include "filter.h"
#include "gate.h"
#include "pause.h"
#include "recorder.h"
#include "recording.h"
#include "runtime.h"
#include "session.h"
#include "slow.h"
#include "stacks.h"
#include "sys.h"
#include "thread.h"
#include "upward.h"

/* In the file at once: a kill would lose a count that is not there yet. */
void slow_count_lost(void)
{
    if (runtime.session.header && (!runtime.off || runtime.lossy))
        session_lose(&runtime.session, 1);
}

static bool slow_hold_signals(struct thread *t, uint64_t *mask)
{
    *mask = sys_block_signals();
    if (*mask != SYS_NOT_BLOCKED)
        return true;
    thread_stop_for(t, DWELL_TROUBLE_REFUSED);
    return false;
}

static void slow_update_modules(struct thread *t, const struct event *event)
{
    uint64_t mask;
    if (!slow_hold_signals(t, &mask))
        return;
    if (t->wiped->alive) { /* else a handler has forked */
        const bool loading = upward.is_loading(t, event->stack_pointer);
        t->modules.stale = !upward.update_modules(loading, event->function) || loading;
        thread_set_limit(t);
    }
    sys_restore_signals(mask);
}

/* The calling thread, set up. NULL if nothing is recorded. A thread's time begins when it is set up, but that of a
 * forked child began with the fork. */
static struct thread *slow_thread(struct attempt *attempt)
{
    struct thread *t = thread_self;
    if (LIKELY(t && t->wiped->alive))
        return t;
    attempt->extensions.length = 0; /* what was read belongs to the parent process */
    attempt->begin = (struct own_moment){ .time = 0 };
    if (!t)
        return thread_begin();
    const struct own_unset before = own_before_setup();
    t = thread_begin();
    if (t)
        attempt->begin = own_after_setup(t, &before);
    return t;
}

static void slow_set_limit(struct thread *t)
{
    uint64_t mask;
    if (!slow_hold_signals(t, &mask))
        return;
    thread_set_limit(t);
    sys_restore_signals(mask);
}

static enum attempt_outcome slow_try_inside(struct thread *t, struct attempt *attempt)
{
    const struct event *const event = attempt->event;
    if (UNLIKELY(gate_has_to_attend(t)))
        activation_attend(t);
    if (UNLIKELY(t->stopped)) {
        if (!t->pause.active && !(event->enter && upward.takes_enter(t, event)))
            slow_count_lost();
        return ATTEMPT_DONE;
    }
    /* The runtime's own time is measured from here. A thread that is stopped may not be allowed to read the clock any
     * more. */
    if (attempt->begin.time == 0 && !t->pause.active && runtime.clock != DWELL_CLOCK_MONOTONIC)
        attempt->begin = own_now(t);
    if (UNLIKELY(t->modules.stale))
        slow_update_modules(t, event);
    stacks_find(t, event->stack_pointer);
    if (UNLIKELY(t->levels.asked)) {
        upward.answer_levels(t, event->stack_pointer);
        slow_set_limit(t);
    }
    /* Nothing is recorded of an enter by a call that was not rewritten yet, or of one that is counted. No exit will
     * follow. An exit finds no enter. */
    if (UNLIKELY(event->enter && upward.takes_enter(t, event)))
        return ATTEMPT_DONE;
    if (event->enter) {
        filter_trigger(event);
        if (UNLIKELY(gate_has_to_attend(t)))
            return ATTEMPT_AGAIN;
    }
    if (UNLIKELY(t->pause.active)) {
        const enum attempt_outcome outcome = pause_record(t, event, attempt->guarded);
        attempt->resumed = outcome == ATTEMPT_DONE && !t->pause.active;
        return outcome;
    }
    return runtime.recorder->record(t, attempt);
}

/* If a signal handler leaves this by a jump, the thread counts as inside permanently. That is safe. */
static enum attempt_outcome slow_try(struct thread *t, struct attempt *attempt)
{
    __atomic_store_n(&t->levels.inside, t->levels.inside + 1, __ATOMIC_RELEASE);
    const enum attempt_outcome outcome = slow_try_inside(t, attempt);
    __atomic_store_n(&t->levels.inside, t->levels.inside - 1, __ATOMIC_RELEASE);
    return outcome;
}

static void slow_record(const struct event *event)
{
    uint16_t words[MAX_EVENT_WORDS];
    struct attempt attempt = { .event = event, .extensions.words = words };
    uint64_t mask = 0;
    enum attempt_outcome outcome = ATTEMPT_AGAIN;
    while (outcome != ATTEMPT_DONE) {
        struct thread *t = slow_thread(&attempt);
        if (!t) {
            slow_count_lost();
            break;
        }
        outcome = slow_try(t, &attempt);
        if (outcome == ATTEMPT_GUARDED && !attempt.guarded)
            attempt.guarded = slow_hold_signals(t, &mask);
    }
    if (attempt.guarded)
        sys_restore_signals(mask);
    if (UNLIKELY(attempt.resumed) && runtime.recorder->add_own_time && runtime.clock != DWELL_CLOCK_MONOTONIC) {
        const struct own_moment resumed = own_of_event(thread_self, thread_self->last);
        runtime.recorder->add_own_time(thread_self, &resumed);
    }
}

/* The probe is one of calibrate.c's, which the slow path would spoil. */
static bool slow_is_calibration(void)
{
    return thread_self && thread_self->serial == 0;
}

void slow_take_event(const struct event *event)
{
    if (UNLIKELY(slow_is_calibration() || process_is_being_set_up))
        return;
    if (runtime.off) {
        slow_count_lost();
        return;
    }
    int error = errno;
    slow_record(event);
    errno = error;
}
