/*
 * The mode profile: no intervals are kept, but sums of them, in a call tree that each thread has in the session file
 * itself. A usual event adds the time since the last one to a node, and finds the next node in a table by its parent
 * and function. Others take the slow path below.
 *
 * While a thread is in this mode, the low half of its state is the time of its last event. So the claim takes the
 * interval and the shadow stack's entry at once: a signal handler can neither count an interval twice nor leave one
 * out. As the low half may not be zero, the last bit of all times is set.
 */
#include "calibrate.h"
#include "call.h"
#include "call_tree.h"
#include "clock.h"
#include "duration_rows.h"
#include "filter.h"
#include "frames_left.h"
#include "gate.h"
#include "osevents.h"
#include "probe_steps.h"
#include "probes.h"
#include "process.h"
#include "recorder.h"
#include "runtime.h"
#include "sites.h"
#include "slow.h"
#include "stacks.h"
#include "switches.h"
#include "sys.h"
#include "thread.h"
#include "thread_chunks.h"
#include "tree_table.h"
#include "wait_sums.h"

PROBES_DEFINITION(tree, STEPS_TIMED | STEPS_TREE)
PROBES_DEFINITION(tree_sites, STEPS_TIMED | STEPS_TREE | STEPS_SITES)
PROBES_DEFINITION(tree_filter, STEPS_TIMED | STEPS_TREE | STEPS_FILTER)
PROBES_DEFINITION(tree_filter_sites, STEPS_TIMED | STEPS_TREE | STEPS_FILTER | STEPS_SITES)

static bool profile_is_ready(const struct thread *t, uint32_t room)
{
    (void)room;
    return t->tree.head && !t->modules.stale && !t->stopped && runtime.clock != DWELL_CLOCK_MONOTONIC;
}

/* ---- events ---- */

struct passed {
    uint64_t time, own; /* ticks; `own` is what the runtime took */
    bool flagged;
    uint32_t count; /* number of OS events */
    uint64_t waits; /* number of times that the thread was blocked */
    uint64_t blocked, preempted, page_faults;
    const struct object *object; /* what the call that ends waited for; else NULL */
};

static void profile_add_os_events(struct passed *passed, const struct os_events *events)
{
    const uint32_t count = (uint32_t)switches_sum(&events->switches) + events->page_faults;
    passed->flagged = true;
    passed->waits += events->switches.waits;
    passed->blocked += events->blocked;
    passed->preempted += events->preempted;
    passed->page_faults += events->page_faults;
    passed->count += count ? count : 1;
}

/* The time of the last event. Where a handler has interrupted a probe, t->last may be that of an earlier event than
 * the time in the state. */
static uint64_t profile_last_time(const struct thread *t)
{
    return t->last + (uint32_t)((uint32_t)t->state - (uint32_t)t->last);
}

static void profile_add_wait(struct thread *t, const struct dwell_tree_node *node, const struct passed *passed,
                             uint64_t blocked)
{
    const uint64_t last = profile_last_time(t);
    wait_rows_add(t, &(struct wait_interval){ node->number, last, last + passed->time, blocked }, passed->object);
}

/* Where the time was read before the OS events, the OS may have intervened after it: off-CPU time is limited to the
 * interval. */
static void profile_add_interval(struct thread *t, const struct passed *passed)
{
    const uint64_t blocked = smaller_of(passed->blocked, passed->time),
                   preempted = smaller_of(passed->preempted, passed->time - blocked);
    struct dwell_tree_node *node = thread_call(t, t->state)[-1].node;
    sum_add(&node->elapsed, passed->time);
    if (!passed->flagged)
        return;
    sum_add(&node->flagged, passed->time - smaller_of(passed->own, passed->time - blocked - preempted));
    sum_add(&node->flagged_intervals, 1);
    sum_add(&node->os_events, passed->count);
    sum_add(&node->blocked, blocked);
    sum_add(&node->preempted, preempted);
    sum_add(&node->page_faults, passed->page_faults);
    if (blocked && runtime.os_calls)
        profile_add_wait(t, node, passed, blocked);
}

/* Adds what the slow path took since `begin` to the innermost call. It is called at the end of the interval that an
 * event ends, and at the beginning of the next one. */
static void profile_add_own_time(struct thread *t, const struct own_moment *begin)
{
    if (begin->time == 0 || !t->tree.head || t->pause.active || t->stopped)
        return;
    const struct own_span took = own_since(t, begin);
    struct own_in_interval *const own = &t->tree.own;
    sum_add(&thread_call(t, t->state)[-1].node->runtime, took.cpu);
    if (own->since != profile_last_time(t))
        *own = (struct own_in_interval){ .since = profile_last_time(t) };
    own->cpu += took.cpu;
    own->waits += took.waits;
}

static void profile_read_os_events(struct thread *t, struct passed *passed, uint64_t until)
{
    bool more = true;
    while (more && *t->os.word != t->os.seen) {
        struct os_events events;
        uint64_t head = os_read_until(t, until, &events);
        more = !events.until;
        if (os_commit(t, head, &events) && events.flagged) {
            t->switches.recorded += switches_sum(&events.switches);
            profile_add_os_events(passed, &events);
        }
    }
}

/* If only the runtime has waited, for a chunk, then nobody has waited for the call's object. */
static void profile_take_own_time(struct passed *passed, const struct own_in_interval *own)
{
    passed->own = own->cpu;
    if (own->waits && passed->waits <= own->waits)
        passed->object = NULL;
}

/* Adds the time since the last event to the innermost call, and returns the time. */
static uint64_t profile_add_passed(struct thread *t, struct passed *passed, uint64_t now)
{
    const uint64_t last = profile_last_time(t);
    if (now < last)
        now = last;
    passed->time = now - last;
    if (t->tree.own.since == last)
        profile_take_own_time(passed, &t->tree.own);
    if (passed->flagged && passed->count == 0)
        passed->count = 1;
    profile_add_interval(t, passed);
    t->state = steps_with_time(t->state, now);
    return now;
}

/* The interval ends now, and the OS events before the clock was read belong to it. Returns the time. */
static uint64_t profile_end_interval(struct thread *t, struct passed *passed)
{
    uint64_t now;
    do {
        profile_read_os_events(t, passed, OS_NOW);
        now = clock_now(runtime.clock) | 1;
    } while (os_intervened(t));
    return profile_add_passed(t, passed, now);
}

/* The same at a known time. */
static uint64_t profile_end_interval_at(struct thread *t, uint64_t now)
{
    struct passed passed = { .flagged = false };
    profile_read_os_events(t, &passed, now);
    return profile_add_passed(t, &passed, now);
}

/* False if the call was hidden. */
static bool profile_end_call(struct thread *t, uint64_t now)
{
    const struct call *call = thread_call(t, t->state) - 1;
    const bool shown = call->node != call[-1].node;
    const uint64_t duration = now - call->enter_time;
    if (shown && duration > call->node->longest)
        call->node->longest = duration;
    if (shown && duration < call->node->shortest)
        duration_rows_note(t, call->node, duration);
    t->state -= one_call;
    return shown;
}

static void profile_leave(struct thread *t, int64_t left, uint64_t now)
{
    for (; left > 0; left--) {
        if (profile_end_call(t, now))
            t->tree.head->left++;
    }
}

static bool profile_enter(struct thread *t, const struct event *event, uint64_t now)
{
    struct call *call = thread_call(t, t->state);
    *call =
        (struct call){ event->function, event->stack_pointer, now, event->frame_id, sites_of_event(&call[-1], event),
                       { NULL } };
    call->node = tree_node_of(t, call, now);
    if (!call->node)
        return false;
    if (call->node != call[-1].node)
        sum_add(&call->node->calls, 1);
    else
        sum_add(&call->node->runtime, filter_settings.hidden_cost / DWELL_PROBE_FRACTION);
    const uint32_t depth = (uint32_t)(t->state >> 32);
    t->state += one_call;
    if (filter_action(event->function) & DWELL_FILTER_IGNORE)
        filter_ignore(t, depth, now);
    return true;
}

/* Begins the thread's tree, if it has none. */
static bool profile_prepare(struct thread *t)
{
    if (!t->tree.head)
        t->state = steps_with_time(t->state, t->last | 1);
    if (!thread_grow_stack(t) || (!t->tree.head && !tree_begin(t, t->last | 1)))
        return false;
    if (t->tree.seen_unloads != __atomic_load_n(&runtime.process->modules.unloads, __ATOMIC_RELAXED))
        tree_forget_unloaded(t);
    return true;
}

/* Sets *moment to that of the event. */
static bool profile_apply(struct thread *t, const struct event *event, struct own_moment *moment)
{
    const int64_t left = frames_left_before(t, t->state, event);
    struct passed passed = { .flagged = event->flagged, .object = event->object };
    const uint64_t now = profile_end_interval(t, &passed);
    if (runtime.clock != DWELL_CLOCK_MONOTONIC)
        *moment = own_of_event(t, now);
    if (left >= 0) {
        profile_leave(t, left, now);
        if (event->enter && !profile_enter(t, event, now))
            return false;
        if (!event->enter)
            profile_end_call(t, now);
    }
    if (!t->pause.active) /* a filter may have paused the thread */
        tree_note_last(t, now, thread_call(t, t->state)[-1].node);
    return true;
}

/* The tree cannot grow. The reason is a lack of memory unless a chunk could not be had, whose reason is known. */
static void profile_stop(struct thread *t)
{
    if (!runtime.process->stopped)
        session_trouble(&runtime.session, DWELL_TROUBLE_NO_MEMORY);
    thread_stop(t);
}

/* The thread's state holds a position until its tree has begun. */
static enum attempt_outcome profile_record(struct thread *t, struct attempt *attempt)
{
    uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED) {
        thread_stop_for(t, DWELL_TROUBLE_REFUSED);
        slow_count_lost();
        return ATTEMPT_DONE;
    }
    if (UNLIKELY(t->pause.active)) { /* since a handler has come */
        sys_restore_signals(mask);
        return ATTEMPT_AGAIN;
    }
    struct own_moment moment = { .time = 0 };
    bool done = profile_prepare(t);
    if (done) {
        profile_add_own_time(t, &attempt->begin);
        done = profile_apply(t, attempt->event, &moment);
    }
    if (!done) {
        profile_stop(t);
        slow_count_lost();
    }
    thread_set_limit(t);
    profile_add_own_time(t, &moment);
    sys_restore_signals(mask);
    os_forget_own(t);
    return ATTEMPT_DONE;
}

/* ---- pauses and stacks ---- */

static struct dwell_tree_node *profile_top(const struct thread *t)
{
    return thread_call(t, t->state)[-1].node;
}

static void profile_pause(struct thread *t, uint64_t time)
{
    if (!t->tree.head)
        return;
    time = profile_end_interval_at(t, time | 1);
    tree_note_last(t, time, profile_top(t));
    t->tree.head->paused = 1;
}

static void profile_resume(struct thread *t, uint64_t time)
{
    os_skip(t, time);
    t->state = steps_with_time(t->state, time | 1);
    t->last = time | 1;
    if (!t->tree.head)
        return;
    if (!tree_find_open_calls(t, t->pause.kept_depth, time)) {
        profile_stop(t);
        return;
    }
    tree_note_last(t, time | 1, profile_top(t));
    t->tree.head->paused = 0;
}

/* The nodes of the stack's calls may be in the tree of another thread. */
static void profile_switch_stack(struct thread *t, struct stack *to)
{
    struct passed passed = { .flagged = false };
    const uint64_t now = t->tree.head ? profile_end_interval(t, &passed) : stacks_now(t);
    stacks_exchange(t, to, now);
    t->state = thread_with_depth(t->state, to->depth);
    if (!t->tree.head) {
        t->last = now;
        return;
    }
    if (to->tree_of != t->serial && !tree_find_open_calls(t, sizeof(struct call), now))
        profile_stop(t);
    else
        tree_note_last(t, now, profile_top(t));
}

#define PROFILE_OPERATIONS                                                                                             \
    .ready_chunks = 1, .calibration = &calibration_of_trees, .is_ready = profile_is_ready, .record = profile_record,   \
    .pause = profile_pause, .resume = profile_resume, .add_own_time = profile_add_own_time,                            \
    .switch_stack = profile_switch_stack, .end_thread = tree_end

const struct recorder profile_recorder = {
    .gates = { GATE_TREE, GATE_TREE_SITES },
    .paused_gates = { GATE_QUIET, GATE_QUIET_SITES },
    PROFILE_OPERATIONS,
};

const struct recorder profile_filtered_recorder = {
    .gates = { GATE_TREE_FILTER, GATE_TREE_FILTER_SITES },
    .paused_gates = { GATE_QUIET_FILTER, GATE_QUIET_FILTER_SITES },
    PROFILE_OPERATIONS,
};
