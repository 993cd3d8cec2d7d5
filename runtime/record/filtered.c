/*
 * The modes trace and ring with filters: their probes, the events on the slow path, pauses and switches of stacks. All
 * calls are in the shadow stack, and each entry's `kind` says whether the file knows of the call.
 *
 * With a shortest duration, enters wait. They are written when a call below them, or their own end, shows that they are
 * to be kept. Everything else is written after them.
 */
#include "calibrate.h"
#include "call.h"
#include "clock.h"
#include "extensions.h"
#include "filter.h"
#include "frames_left.h"
#include "gate.h"
#include "objects.h"
#include "osevents.h"
#include "pause.h"
#include "probe_steps.h"
#include "probes.h"
#include "record.h"
#include "recorder.h"
#include "runtime.h"
#include "sites.h"
#include "slow.h"
#include "stacks.h"
#include "sys.h"
#include "thread.h"
#include "thread_chunks.h"
#include <string.h>

PROBES_DEFINITION(filter, STEPS_TIMED | STEPS_FILTER)
PROBES_DEFINITION(filter_sites, STEPS_TIMED | STEPS_FILTER | STEPS_SITES)

/* Hidden calls need no room. */
static bool filtered_is_ready(const struct thread *t, uint32_t room)
{
    (void)room;
    return !t->modules.stale && !t->stopped && runtime.clock != DWELL_CLOCK_MONOTONIC;
}

static uint32_t filtered_shown_depth(const struct thread *t)
{
    uint32_t count = 0;
    const struct call *end = thread_call(t, t->state);
    for (const struct call *call = (const struct call *)t->shadow + 1; call < end; call++)
        count += call->kind == CALL_SHOWN;
    return count;
}

/* ---- writing; signals are held back ---- */

/* A new chunk must not list calls that were left. So it is begun, if needed, before they are written. */
static bool filtered_make_room(struct thread *t)
{
    if (!t->chunks.current || t->ring.ends_early || (uint32_t)t->state + 2 * MAX_CONTROL_WORDS > t->chunks.end)
        thread_next_chunk(t, 2 * MAX_CONTROL_WORDS);
    return !t->stopped;
}

/* Begins the extensions with what is kept for the record at `time`. `cost`: the ticks that it says. */
static void filtered_begin_extensions(struct thread *t, struct extensions *e, uint64_t time, uint64_t cost,
                                      struct kept_events *kept)
{
    if (kept)
        kept_put(kept, e, time - t->last);
    if (cost)
        e->length += cost_words(e->words + e->length, cost);
    t->filter.cost_recorded += cost * DWELL_PROBE_FRACTION;
    extensions_put_unwind(e, t->filter.left_unrecorded);
}

/* Writes an enter or exit of a call, which may lie above the top of the shadow stack. `kept`: OS events before it, or
 * NULL. `object`: what a call that ends waited for or acted on, or NULL. */
static void filtered_write(struct thread *t, uint64_t time, const struct call *call, bool enter,
                           struct kept_events *kept, const struct object *object)
{
    if (!filtered_make_room(t)) {
        slow_count_lost();
        return;
    }
    uint16_t storage[MAX_EVENT_WORDS];
    struct extensions e = { storage, 0 };
    if (time < t->last)
        time = t->last;
    const bool waited = enter && call->kind == CALL_WAITING;
    filtered_begin_extensions(t, &e, time,
                              waited ? filter_cost_up_to(&t->filter, call->cost) : filter_cost_ticks(&t->filter), kept);
    if (object)
        object_put(&e, object);
    extensions_put_time(&e, time, t->last);
    unsigned half = 0;
    if (enter) {
        half = extensions_put_upper(&e, t, call->function);
        e.length += sites_put(e.words + e.length, call->call_site, call[-1].kind == CALL_SHOWN ? &call[-1] : NULL);
    }
    const uint32_t word = timed_word(enter ? (uint32_t)DWELL_WORD_ENTER_0 + half : (uint32_t)DWELL_WORD_EXIT, time);
    t->chunks.current->open.left += t->filter.left_unrecorded;
    t->chunks.current->open.extension_bytes += extensions_bytes(&e);
    extensions_store(&e, t->base + (uint32_t)t->state, word, enter, call->function);
    holes_note_zeros(&t->holes, (uint32_t)t->state, e.words, e.length);
    t->state += extensions_bytes(&e) + (enter ? ENTER_BYTES : EXIT_BYTES);
    t->last = time;
    t->filter.left_unrecorded = 0;
    if (enter)
        extensions_take_upper(t, half, call->function);
}

static uint32_t filtered_depth_of(const struct thread *t, const struct call *call)
{
    return (uint32_t)((const char *)call - t->shadow);
}

/* Calls of the parent process that wait are the innermost ones of its calls. The next chunk begins with them, when the
 * last record was written: nothing but they has run since. */
static void filtered_show_inherited(struct thread *t)
{
    struct call *end = thread_call(t, t->state), *call = end;
    while (call > (struct call *)t->shadow + 1 && call[-1].kind != CALL_SHOWN)
        call--;
    const struct call *inherited = call;
    while (inherited < end && inherited->kind != CALL_INHERITED)
        inherited++;
    if (inherited == end)
        return;
    holes_fill(t);
    thread_give_up_chunk(t, true);
    for (; call < end; call++)
        if (call->kind == CALL_INHERITED)
            call->kind = CALL_SHOWN;
    filtered_make_room(t);
}

static bool filtered_has_waited(const struct thread *t, const struct call *call, uint32_t next)
{
    return next < t->filter.waiting_count && t->filter.waiting[next].depth == filtered_depth_of(t, call);
}

/* Writes the enters that wait. Between them comes what is kept there. What came after the last one waits for the next
 * record. */
static void filtered_flush(struct thread *t)
{
    struct thread_filter *const f = &t->filter;
    struct kept_events *kept = &f->kept;
    uint32_t next = 0;
    struct call *end = thread_call(t, t->state);
    if (!filter_settings.waits)
        return;
    filtered_show_inherited(t);
    for (struct call *call = (struct call *)t->shadow + 1; call < end; call++) {
        if (call->kind != CALL_WAITING) {
            if (filtered_has_waited(t, call, next)) /* inherited */
                kept_merge(&f->kept, &f->waiting[next++].events);
            continue;
        }
        filtered_write(t, call->enter_time, call, true, kept, NULL);
        call->kind = CALL_SHOWN;
        kept = filtered_has_waited(t, call, next) ? &f->waiting[next++].events : NULL;
    }
    if (kept && kept != &f->kept)
        kept_merge(&f->kept, kept);
    f->waiting_count = 0;
}

/* The depth of the innermost call that waits; zero if there is none. */
static uint32_t filtered_waiting_depth(const struct thread *t)
{
    const struct call *call = thread_call(t, t->state) - 1;
    while (call > (const struct call *)t->shadow && !call_waits(call))
        call--;
    return filtered_depth_of(t, call);
}

/* Where OS events are kept that come now. Without room, those since an earlier enter. */
static struct kept_events *filtered_kept(struct thread *t)
{
    struct thread_filter *const f = &t->filter;
    const uint32_t depth = filter_settings.targets ? filtered_waiting_depth(t) : 0, count = f->waiting_count;
    if (depth == 0)
        return &f->kept;
    if (count && f->waiting[count - 1].depth == depth)
        return &f->waiting[count - 1].events;
    if (!f->waiting)
        f->waiting = sys_memory(PAGE);
    if (f->waiting && count < MAX_KEPT_WAITING) {
        f->waiting[f->waiting_count++] = (struct kept_waiting){ .depth = depth };
        return &f->waiting[count].events;
    }
    return count ? &f->waiting[count - 1].events : &f->kept;
}

/* The innermost call waits no more, and is not recorded: its time is its caller's. */
static void filtered_drop_waiting(struct thread *t)
{
    struct thread_filter *const f = &t->filter;
    const uint32_t depth = (uint32_t)(t->state >> 32) - (uint32_t)sizeof(struct call);
    if (f->waiting_count == 0 || f->waiting[f->waiting_count - 1].depth != depth)
        return;
    const struct kept_events events = f->waiting[--f->waiting_count].events;
    t->state -= one_call;
    kept_merge(filtered_kept(t), &events);
    t->state += one_call;
}

/* Keeps OS events up to `now` for the next record. A call that is too short so far is recorded before them, as the OS
 * intervened in it. `own`: ticks that the runtime took. */
static void filtered_keep(struct thread *t, const struct extensions *events, uint64_t now, uint64_t own)
{
    const uint64_t since = t->filter.last_seen > t->last ? t->filter.last_seen : t->last;
    const uint64_t ticks = saturating_difference(now, since);
    if (!filter_settings.targets)
        filtered_flush(t);
    kept_add(filtered_kept(t), events, ticks, smaller_of(own, ticks));
}

/* What the OS did before it was kept. */
static void filtered_append_control(struct thread *t, const struct control_event *event)
{
    uint16_t storage[MAX_CONTROL_WORDS];
    struct extensions e = { storage, 0 };
    filtered_flush(t);
    if (!filtered_make_room(t))
        return;
    filtered_begin_extensions(t, &e, event->time, filter_cost_ticks(&t->filter), &t->filter.kept);
    extensions_put_control(&e, t, event);
    extensions_append_control(t, &e, event);
    t->filter.last_seen = event->time;
}

/* Keeps what the OS did until `time`, or until now if it is zero. Returns that time. */
static uint64_t filtered_keep_until(struct thread *t, uint64_t time)
{
    uint16_t storage[MAX_OS_WORDS];
    struct extensions e = { storage, 0 };
    if (time)
        extensions_read_os_events(t, &e, time);
    else
        time = extensions_end_interval(t, &e);
    if (e.length)
        filtered_keep(t, &e, time, 0);
    return time;
}

static void filtered_control(struct thread *t, const struct control_event *event)
{
    if (t->stopped)
        return;
    struct control_event at = *event;
    holes_fill(t);
    at.time = filtered_keep_until(t, at.time);
    filtered_append_control(t, &at);
}

/* ---- events ---- */

static bool filtered_lasts(const struct call *call, uint64_t now)
{
    return now - call->enter_time >= filter_settings.shortest[call->time];
}

/* The innermost call was left without its exit. */
static void filtered_leave(struct thread *t, uint64_t now)
{
    const struct call *call = thread_call(t, t->state) - 1;
    if (call_waits(call) && filtered_lasts(call, now))
        filtered_flush(t);
    if (call_waits(call))
        filtered_drop_waiting(t);
    t->filter.left_unrecorded += call->kind == CALL_SHOWN;
    t->state -= one_call;
}

static void filtered_exit(struct thread *t, uint64_t now, const struct object *object)
{
    const struct call *call = thread_call(t, t->state) - 1;
    if (call_waits(call) && filtered_lasts(call, now))
        filtered_flush(t);
    if (call->kind == CALL_SHOWN)
        filtered_write(t, now, call, false, &t->filter.kept, object);
    if (call_waits(call)) {
        filtered_drop_waiting(t);
        t->filter.cost += filter_settings.short_cost;
    }
    t->state -= one_call;
}

static void filtered_enter(struct thread *t, const struct event *event, uint64_t now)
{
    struct call *call = thread_call(t, t->state);
    const uint32_t action = filter_action(event->function);
    const enum call_kind kind = filter_kind(&call[-1], action & DWELL_FILTER_IGNORE ? DWELL_FILTER_SUPPRESS : action);
    struct call entry = {
        .function = event->function,
        .stack_pointer = event->stack_pointer,
        .enter_time = now,
        .frame_id = event->frame_id,
        .call_site = sites_of_event(&call[-1], event),
        .filter = filter_of_call(&call[-1], action, kind, filter_cost_mark(&t->filter)),
    };
    if (kind == CALL_SHOWN)
        filtered_flush(t);
    *call = entry;
    if (kind == CALL_SHOWN)
        filtered_write(t, now, call, true, &t->filter.kept, NULL);
    if (kind == CALL_HIDDEN)
        t->filter.cost += filter_settings.hidden_cost;
    call = thread_call(t, t->state); /* the stack may have moved */
    *call = entry;
    const uint32_t depth = (uint32_t)(t->state >> 32);
    t->state += one_call;
    if (action & DWELL_FILTER_IGNORE)
        filter_ignore(t, depth, now);
}

/* Adds what the slow path took between the two moments. Returns these ticks. */
static uint64_t filtered_add_cost(struct thread *t, const struct own_moment *begin, const struct own_moment *end)
{
    if (!begin->time || end->cpu <= begin->cpu || end->cpu - begin->cpu >= INT64_MAX / DWELL_PROBE_FRACTION)
        return 0;
    sum_add(&t->filter.cost, (end->cpu - begin->cpu) * DWELL_PROBE_FRACTION);
    return end->cpu - begin->cpu;
}

/* Keeps the OS events before an event, and returns its moment. `begin`: when the slow path began. */
static struct own_moment filtered_end_interval(struct thread *t, bool flagged, const struct own_moment *begin)
{
    uint16_t storage[MAX_OS_WORDS];
    struct extensions e = { storage, 0 };
    const uint64_t now = extensions_end_interval(t, &e);
    const struct own_moment moment = begin->time ? own_of_event(t, now) : (struct own_moment){ .time = now };
    const uint64_t own = filtered_add_cost(t, begin, &moment);
    if (flagged || e.length)
        filtered_keep(t, &e, now, own);
    return moment;
}

static void filtered_add_own_time(struct thread *t, const struct own_moment *begin)
{
    const struct own_moment now = own_now(t);
    filtered_add_cost(t, begin, &now);
}

/* `begin`: when the probe began. Returns the event's moment. */
static struct own_moment filtered_apply(struct thread *t, const struct event *event, const struct own_moment *begin)
{
    int64_t left = frames_left_before(t, t->state, event);
    if (!thread_grow_stack(t)) {
        thread_stop_for(t, DWELL_TROUBLE_NO_MEMORY);
        slow_count_lost();
        return (struct own_moment){ .time = 0 };
    }
    if (left > 0)
        holes_fill(t);
    const struct own_moment moment = filtered_end_interval(t, event->flagged, begin);
    const uint64_t now = moment.time;
    t->filter.last_seen = now;
    for (; left > 0; left--)
        filtered_leave(t, now);
    if (left == 0 && event->enter)
        filtered_enter(t, event, now);
    else if (left == 0)
        filtered_exit(t, now, event->object);
    return moment;
}

static enum attempt_outcome filtered_record(struct thread *t, struct attempt *attempt)
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
    const struct own_moment moment = filtered_apply(t, attempt->event, &attempt->begin);
    thread_set_limit(t);
    sys_restore_signals(mask);
    os_forget_own(t);
    if (attempt->begin.time && !t->pause.active)
        filtered_add_own_time(t, &moment);
    return ATTEMPT_DONE;
}

/* ---- pauses, stacks and forks ---- */

static void filtered_pause(struct thread *t, uint64_t time)
{
    if (t->chunks.current)
        filtered_control(t, &(struct control_event){ .type = DWELL_EXT_PAUSE, .time = time });
}

/* The kinds of the calls that were entered in the pause. */
static void filtered_set_kinds(struct thread *t)
{
    struct call *call = (struct call *)(t->shadow + t->pause.kept_depth);
    for (const struct call *end = thread_call(t, t->state); call < end; call++) {
        const uint32_t action = filter_action(call->function);
        const bool hidden = action & DWELL_FILTER_IGNORE || filter_kind(&call[-1], action) == CALL_HIDDEN;
        call->filter = filter_of_call(&call[-1], action, hidden ? CALL_HIDDEN : CALL_SHOWN, call->cost);
    }
}

/* The resume event says how many calls ended in the pause, not which of them were hidden: if any did, the next chunk
 * begins with the calls that are open. */
static void filtered_resume(struct thread *t, uint64_t time)
{
    uint16_t words[PAUSE_RESUME_WORDS];
    const struct control_event resume = pause_resume_event(t, time, words);
    const bool same = resume.opened == 0 && resume.ended == 0;
    filtered_set_kinds(t);
    if (t->chunks.current && (!same || !pause_resume_fits(t, &resume)))
        thread_give_up_chunk(t, false);
    os_skip(t, time);
    if (t->chunks.current)
        filtered_control(t, &resume);
    t->last = t->filter.last_seen = time;
}

static void filtered_switch_stack(struct thread *t, struct stack *to)
{
    holes_fill(t);
    if ((uint32_t)t->state + STACKS_SWITCH_ROOM > t->chunks.end)
        thread_next_chunk(t, STACKS_SWITCH_ROOM);
    const uint64_t now = filtered_keep_until(t, 0);
    filtered_flush(t);
    const uint32_t ended = filtered_shown_depth(t);
    const uint16_t words[] = { (uint16_t)to->number, (uint16_t)(to->number >> 16) };
    stacks_exchange(t, to, now);
    t->state = thread_with_depth(t->state, sizeof(struct call));
    if (t->chunks.current && !t->stopped)
        filtered_append_control(t, &(struct control_event){ DWELL_EXT_SWITCH, now, words, 2, 0, ended });
    thread_give_up_chunk(t, true); /* the next one begins with the calls of the stack */
    t->state = thread_with_depth(t->state, to->depth);
    t->last = t->filter.last_seen = now;
}

static void filtered_fork_begins(struct thread *t)
{
    holes_fill(t);
    filtered_flush(t);
}

static void filtered_forked(struct thread *t)
{
    struct call *end = thread_call(t, t->state);
    for (struct call *call = (struct call *)t->shadow + 1; call < end; call++)
        if (call->kind == CALL_WAITING)
            call->kind = CALL_INHERITED;
}

const struct recorder filtered_recorder = {
    .gates = { GATE_FILTER, GATE_FILTER_SITES },
    .paused_gates = { GATE_QUIET_FILTER, GATE_QUIET_FILTER_SITES },
    .ready_chunks = 2,
    .calibration = &calibration_of_events,
    .is_ready = filtered_is_ready,
    .record = filtered_record,
    .control = filtered_control,
    .pause = filtered_pause,
    .resume = filtered_resume,
    .switch_stack = filtered_switch_stack,
    .add_own_time = filtered_add_own_time,
    .flush = filtered_flush,
    .shown_depth = filtered_shown_depth,
    .fork_begins = filtered_fork_begins,
    .forked = filtered_forked,
};
