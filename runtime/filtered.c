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
#include <string.h>

PROBES_DEFINITION(filter, STEPS_TIMED | STEPS_FILTER)
PROBES_DEFINITION(filter_sites, STEPS_TIMED | STEPS_FILTER | STEPS_SITES)

static bool filtered_is_ready(const struct thread *t, uint32_t room)
{
    (void)t;
    return room > 0;
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
    if (!t->chunks.current || (uint32_t)t->state + 2 * MAX_CONTROL_WORDS > t->chunks.end)
        thread_next_chunk(t, 2 * MAX_CONTROL_WORDS);
    return !t->stopped;
}

static void filtered_keep_os_events(struct thread *t)
{
    struct thread_filter *const f = &t->filter;
    uint16_t storage[MAX_OS_WORDS];
    struct extensions e = { storage, 0 };
    extensions_read_os_events(t, &e);
    if (!e.length)
        return;
    if (f->kept_words + (uint32_t)e.length > KEPT_WORDS - 1) {
        e.length = 0;
        extensions_put_head(&e, DWELL_EXT_OS, 0);
    }
    if (f->kept_words + (uint32_t)e.length <= KEPT_WORDS) {
        memcpy(f->kept + f->kept_words, e.words, (size_t)e.length * sizeof *e.words);
        f->kept_words += (uint32_t)e.length;
    }
}

/* Records that the OS intervened, unless a kept word does already. */
static void filtered_keep_flag(struct thread *t)
{
    if (t->filter.kept_words == 0)
        t->filter.kept[t->filter.kept_words++] = extension_word(DWELL_EXT_OS, 0);
}

/* Begins the extensions with what the thread has kept. */
static void filtered_begin_extensions(struct thread *t, struct extensions *e)
{
    e->length = (int)t->filter.kept_words;
    memcpy(e->words, t->filter.kept, t->filter.kept_words * sizeof *t->filter.kept);
    extensions_put_unwind(e, t->filter.left_unrecorded);
}

/* Writes an enter or exit of a call, which may lie above the top of the shadow stack. */
static void filtered_write(struct thread *t, uint64_t time, const struct call *call, bool enter)
{
    if (!filtered_make_room(t)) {
        slow_count_lost();
        return;
    }
    uint16_t storage[MAX_EVENT_WORDS];
    struct extensions e = { storage, 0 };
    filtered_begin_extensions(t, &e);
    if (time < t->last)
        time = t->last;
    extensions_put_time(&e, time, t->last);
    unsigned half = 0;
    if (enter) {
        half = extensions_put_upper(&e, t, call->function);
        e.length += sites_put(e.words + e.length, call->call_site, call[-1].kind == CALL_SHOWN ? &call[-1] : NULL);
    }
    const uint32_t word = timed_word(enter ? (uint32_t)DWELL_WORD_ENTER_0 + half : (uint32_t)DWELL_WORD_EXIT, time);
    t->chunks.current->exits += t->filter.left_unrecorded;
    t->chunks.current->enters += extensions_bytes(&e);
    extensions_store(&e, t->base + (uint32_t)t->state, word, enter, call->function);
    t->state += extensions_bytes(&e) + (enter ? ENTER_BYTES : EXIT_BYTES);
    t->last = time;
    t->filter.left_unrecorded = t->filter.kept_words = 0;
    if (enter)
        extensions_take_upper(t, half, call->function);
}

/* Writes the enters that wait. */
static void filtered_flush(struct thread *t)
{
    struct call *end = thread_call(t, t->state);
    for (struct call *call = (struct call *)t->shadow + 1; call < end; call++) {
        if (call->kind != CALL_WAITING)
            continue;
        filtered_write(t, call->enter_time, call, true);
        call->kind = CALL_SHOWN;
    }
}

static void filtered_control(struct thread *t, const struct control_event *event)
{
    if (t->stopped)
        return;
    holes_fill(t);
    filtered_keep_os_events(t);
    filtered_flush(t);
    if (!filtered_make_room(t))
        return;
    uint16_t storage[MAX_CONTROL_WORDS];
    struct extensions e = { storage, 0 };
    filtered_begin_extensions(t, &e);
    t->filter.kept_words = 0;
    extensions_put_control(&e, t, event);
    extensions_append_control(t, &e, event);
}

/* ---- events ---- */

static bool filtered_lasts(const struct call *call, uint64_t now)
{
    return now - call->enter_time >= filter_settings.shortest;
}

/* The innermost call was left without its exit. */
static void filtered_leave(struct thread *t, uint64_t now)
{
    const struct call *call = thread_call(t, t->state) - 1;
    if (call->kind == CALL_WAITING && filtered_lasts(call, now))
        filtered_flush(t);
    t->filter.left_unrecorded += call->kind == CALL_SHOWN;
    t->state -= one_call;
}

static void filtered_exit(struct thread *t, uint64_t now, bool flagged)
{
    const struct call *call = thread_call(t, t->state) - 1;
    if (call->kind == CALL_WAITING && (t->filter.kept_words || filtered_lasts(call, now)))
        filtered_flush(t);
    if (call->kind == CALL_SHOWN) {
        if (flagged)
            filtered_keep_flag(t);
        filtered_write(t, now, call, false);
    }
    t->state -= one_call;
}

static void filtered_enter(struct thread *t, const struct event *event, uint64_t now)
{
    struct call *call = thread_call(t, t->state);
    const uint32_t action = filter_action(event->function);
    const enum call_kind kind = filter_kind(&call[-1], action & DWELL_FILTER_IGNORE ? DWELL_FILTER_SUPPRESS : action);
    const struct call entry = {
        .function = event->function,
        .stack_pointer = event->stack_pointer,
        .enter_time = now,
        .frame_id = event->frame_id,
        .call_site = sites_of_event(&call[-1], event),
        .kind = kind,
        .shown = call[-1].shown + (kind != CALL_HIDDEN),
    };
    *call = entry;
    if (kind == CALL_SHOWN)
        filtered_write(t, now, call, true);
    call = thread_call(t, t->state); /* the stack may have moved */
    *call = entry;
    const uint32_t depth = (uint32_t)(t->state >> 32);
    t->state += one_call;
    if (action & DWELL_FILTER_IGNORE)
        filter_ignore(t, depth, now);
}

static void filtered_apply(struct thread *t, const struct event *event)
{
    uint64_t now = clock_now(runtime.clock);
    if (now < t->last)
        now = t->last;
    int64_t left = frames_left_before(t, t->state, event);
    if (!thread_grow_stack(t)) {
        thread_stop_for(t, DWELL_TROUBLE_NO_MEMORY);
        slow_count_lost();
        return;
    }
    if (left < 0)
        return;
    if (left > 0)
        holes_fill(t);
    filtered_keep_os_events(t);
    if (t->filter.kept_words)
        filtered_flush(t);
    for (; left > 0; left--)
        filtered_leave(t, now);
    if (event->enter)
        filtered_enter(t, event, now);
    else
        filtered_exit(t, now, event->flagged);
}

static enum attempt_outcome filtered_record(struct thread *t, struct attempt *attempt)
{
    uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED) {
        thread_stop_for(t, DWELL_TROUBLE_REFUSED);
        slow_count_lost();
        return ATTEMPT_DONE;
    }
    filtered_apply(t, attempt->event);
    thread_set_limit(t);
    sys_restore_signals(mask);
    os_forget_own(t);
    return ATTEMPT_DONE;
}

/* ---- pauses and stacks ---- */

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
        const bool hidden = filter_action(call->function) & (DWELL_FILTER_SUPPRESS | DWELL_FILTER_IGNORE) ||
                            call[-1].shown >= filter_settings.depth;
        call->kind = hidden ? CALL_HIDDEN : CALL_SHOWN;
        call->shown = call[-1].shown + !hidden;
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
    os_skip(t);
    if (t->chunks.current)
        filtered_control(t, &resume);
    t->last = time;
}

static void filtered_switch_stack(struct thread *t, struct stack *to, uint64_t now)
{
    holes_fill(t);
    if ((uint32_t)t->state + STACKS_SWITCH_ROOM > t->chunks.end)
        thread_next_chunk(t, STACKS_SWITCH_ROOM);
    filtered_flush(t);
    const uint32_t ended = filtered_shown_depth(t);
    const uint16_t words[] = { (uint16_t)to->number, (uint16_t)(to->number >> 16) };
    stacks_exchange(t, to, now);
    t->state = thread_with_depth(t->state, sizeof(struct call));
    if (t->chunks.current)
        filtered_control(t, &(struct control_event){ DWELL_EXT_SWITCH, now, words, 2, 0, ended });
    thread_give_up_chunk(t, true); /* the next one begins with the calls of the stack */
    t->state = thread_with_depth(t->state, to->depth);
    t->last = now;
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
    .flush = filtered_flush,
    .shown_depth = filtered_shown_depth,
};
