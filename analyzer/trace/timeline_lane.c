/* Applies the events of a thread to its lane: opens and removes calls, adds up their times, and reports each event. */
#include "trace/timeline_lane.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/progress.h"
#include "trace/timeline_plain.h"

/* ---- reports ---- */

/* The event is filled in place: a copy would be loaded before its parts are stored, and the CPU would wait. */
static void lane_report_event(struct timeline *timeline, struct timeline_lane *lane, enum timeline_kind kind,
                              uint64_t time, struct timeline_call *call)
{
    static const struct decoded_extras none;
    struct timeline_event *event = &timeline->event;
    event->kind = kind;
    event->time = time;
    event->call = call;
    event->thread = &lane->shown;
    /* If several events are reported for one record, the first has the interval. */
    event->interval = lane->unreported ? lane->interval : 0;
    event->extras = lane->unreported ? &lane->decoder.extras : &none;
    lane->unreported = false;
    if (!timeline->enough && !timeline->take(timeline->context, event))
        timeline->enough = true;
}

static struct timeline_call *lane_innermost(struct timeline_lane *lane)
{
    return lane->shown.depth ? &lane->shown.stack[lane->shown.depth - 1] : NULL;
}

/* ---- calls ---- */

static uint32_t lane_slot_of(struct timeline_lane *lane, uint64_t function)
{
    struct index_slot *slot = index_find(lane->slots, function, 0);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    GROW(lane->innermost, lane->slot_count, lane->slot_room);
    lane->innermost[lane->slot_count] = 0;
    index_set(lane->slots, slot, function, 0, (uint32_t)lane->slot_count);
    return (uint32_t)lane->slot_count++;
}

static struct timeline_call *lane_new_call(struct timeline_lane *lane)
{
    GROW(lane->shown.stack, lane->shown.depth, lane->room);
    return &lane->shown.stack[lane->shown.depth++];
}

static void lane_begin_amounts(struct timeline_lane *lane, struct timeline_call *call)
{
    call->count_slot = lane_slot_of(lane, call->function);
    call->outer = lane->innermost[call->count_slot];
    lane->innermost[call->count_slot] = (uint32_t)lane->shown.depth;
    call->begin.elapsed = lane->sums.elapsed;
    call->begin.flagged = lane->sums.flagged;
    call->begin.blocked = lane->sums.blocked;
}

static void lane_push_call(struct timeline *timeline, struct timeline_lane *lane, enum timeline_kind kind,
                           struct timeline_call *call, uint64_t time)
{
    if (!timeline->no_amounts)
        lane_begin_amounts(lane, call);
    lane_report_event(timeline, lane, kind, time, call);
}

static void lane_end_amounts(struct timeline_lane *lane, struct timeline_call *call)
{
    const uint64_t passed = lane->sums.elapsed - call->begin.elapsed,
                   flagged = lane->sums.flagged - call->begin.flagged;
    call->elapsed += passed;
    call->flagged += flagged;
    call->blocked += lane->sums.blocked - call->begin.blocked;
    if (lane->shown.depth > 1) {
        call[-1].below += passed;
        call[-1].flagged_below += flagged;
    }
    call->once += passed;
    if (call->outer)
        lane->shown.stack[call->outer - 1].once -= passed; /* which is added to it when it is removed */
    lane->innermost[call->count_slot] = call->outer;
}

/* Removes the innermost call. `ended` says that its end is recorded. */
static void lane_pop_call(struct timeline *timeline, struct timeline_lane *lane, enum timeline_kind kind, uint64_t time,
                          bool ended)
{
    struct timeline_call *call = lane_innermost(lane);
    call->ended = ended;
    if (!timeline->no_amounts)
        lane_end_amounts(lane, call);
    lane_report_event(timeline, lane, kind, time, call);
    lane->shown.depth--;
}

/* ---- several stacks ---- */

/* The last list is for the calls of all unknown processes. */
static struct set_aside *lane_set_aside_of(struct timeline *timeline, const struct timeline_lane *lane)
{
    return &timeline->set_aside[session_file_process_index(timeline->file, lane->shown.process)];
}

/* Opens a call that is found open: it was set aside, or its enter is unknown. */
static void lane_open_call(struct timeline *timeline, struct timeline_lane *lane, const struct dwell_frame *frame,
                           uint64_t time)
{
    struct timeline_call *call = lane_new_call(lane);
    *call = (struct timeline_call){ .function = frame->function, .enter_time = frame->enter_time };
    const bool back = set_aside_remove(lane_set_aside_of(timeline, lane), frame, time, call);
    lane_push_call(timeline, lane, back ? TIMELINE_BACK : TIMELINE_FOUND, call, time);
}

/* ---- actions on events ---- */

/* A lane whose event is applied. */
struct lane_turn {
    struct timeline *timeline;
    struct timeline_lane *lane;
};

static inline size_t lane_depth(const void *to)
{
    const struct lane_turn *turn = to;
    return turn->lane->shown.depth;
}

static void lane_add_interval(struct timeline_lane *lane, uint64_t interval)
{
    const struct decoded_extras *extras = &lane->decoder.extras;
    lane->interval = interval;
    lane->sums.elapsed += interval;
    lane->sums.flagged += lane->blind ? interval : decode_flagged(extras, interval);
    if (extras->blocked)
        lane->sums.blocked += extras->blocked < interval ? extras->blocked : interval;
    lane->unreported = true;
}

static inline void lane_end_interval(void *to, const struct decoder *d, uint64_t begin)
{
    const struct lane_turn *turn = to;
    lane_add_interval(turn->lane, d->time - begin);
}

static void lane_skip_interval(void *to, const struct decoder *d, uint64_t begin)
{
    const struct lane_turn *turn = to;
    (void)d;
    (void)begin;
    lane_add_interval(turn->lane, 0);
}

static void lane_delay_open_calls(struct timeline_lane *lane, uint64_t ticks)
{
    for (size_t i = 0; i < lane->shown.depth; i++) {
        lane->shown.stack[i].enter_time += ticks;
        lane->shown.stack[i].delay += ticks;
    }
}

static void lane_delay_calls(void *to, uint64_t ticks)
{
    const struct lane_turn *turn = to;
    lane_delay_open_calls(turn->lane, ticks);
}

static inline void lane_enter_call(void *to, const struct decoder *d)
{
    const struct lane_turn *turn = to;
    struct timeline_call *call = lane_new_call(turn->lane);
    call->function = d->function;
    call->enter_time = d->time;
    call->elapsed = call->once = call->flagged = call->blocked = call->below = call->flagged_below = 0;
    call->delay = 0;
    call->note = 0;
    call->entered = true;
    lane_push_call(turn->timeline, turn->lane, TIMELINE_ENTER, call, d->time);
}

static inline void lane_exit_call(void *to, const struct decoder *d)
{
    const struct lane_turn *turn = to;
    lane_pop_call(turn->timeline, turn->lane, TIMELINE_EXIT, d->time, true);
}

static void lane_leave_call(void *to, const struct decoder *d)
{
    const struct lane_turn *turn = to;
    lane_pop_call(turn->timeline, turn->lane, TIMELINE_LEFT, d->time, true);
}

static void lane_lose_call(void *to, const struct decoder *d)
{
    const struct lane_turn *turn = to;
    lane_pop_call(turn->timeline, turn->lane, TIMELINE_LEFT, d->time, false);
}

static void lane_count_stray_exit(void *to, const struct decoder *d)
{
    const struct lane_turn *turn = to;
    (void)d;
    turn->timeline->counts.stray_exits++;
}

static void lane_set_aside(void *to, const struct decoder *d)
{
    const struct lane_turn *turn = to;
    struct timeline_lane *lane = turn->lane;
    while (lane->shown.depth) {
        lane_pop_call(turn->timeline, lane, TIMELINE_SET_ASIDE, d->time, false);
        set_aside_add(lane_set_aside_of(turn->timeline, lane), &lane->shown.stack[lane->shown.depth], d->time,
                      lane->shown.thread);
    }
}

static void lane_reopen_call(void *to, const struct decoder *d, const struct dwell_frame *frame, uint64_t site)
{
    const struct lane_turn *turn = to;
    (void)site;
    lane_open_call(turn->timeline, turn->lane, frame, d->time);
}

static void lane_report_pause(void *to, const struct decoder *d)
{
    const struct lane_turn *turn = to;
    lane_report_event(turn->timeline, turn->lane, TIMELINE_PAUSE, d->time, lane_innermost(turn->lane));
}

static void lane_report_resume(void *to, const struct decoder *d)
{
    const struct lane_turn *turn = to;
    lane_report_event(turn->timeline, turn->lane, TIMELINE_RESUME, d->time, lane_innermost(turn->lane));
}

static void lane_report_mark(void *to, const struct decoder *d)
{
    const struct lane_turn *turn = to;
    struct timeline_event *event = &turn->timeline->event;
    const struct decoded_mark mark = decode_mark(d);
    event->mark_number = mark.number;
    event->mark_text = mark.text;
    event->mark_length = mark.length;
    event->mark_time = mark.time;
    lane_report_event(turn->timeline, turn->lane, TIMELINE_MARK, d->time, lane_innermost(turn->lane));
}

/* Applies the event that was decoded. */
static void lane_apply_event(struct timeline *timeline, struct timeline_lane *lane)
{
    static const struct stack_actions actions = {
        .depth = lane_depth,
        .interval = lane_end_interval,
        .skip = lane_skip_interval,
        .delay = lane_delay_calls,
        .enter = lane_enter_call,
        .exit = lane_exit_call,
        .left = lane_leave_call,
        .ended = lane_lose_call,
        .stray_exit = lane_count_stray_exit,
        .set_aside = lane_set_aside,
        .open = lane_reopen_call,
        .pause = lane_report_pause,
        .resume = lane_report_resume,
        .mark = lane_report_mark,
    };
    struct lane_turn turn = { timeline, lane };
    stack_apply(&actions, &turn, &lane->state, lane->event, &lane->decoder);
    if (__builtin_expect(lane->unreported && lane->shown.depth, 0))
        lane_report_event(timeline, lane, TIMELINE_INTERVAL, lane->state.last, lane_innermost(lane));
}

/* ---- chunks ---- */

/* A chunk that directly follows the previous one has the same open calls, even if their enter times differ. In a pause
 * between them, calls can have ended and other calls of the same functions begun. */
static void lane_match_frames(struct timeline *timeline, struct timeline_lane *lane)
{
    const struct trace_chunk *chunk = lane->chunk;
    const uint64_t now = lane->key;
    size_t same = 0;
    for (; same < chunk->depth && same < lane->shown.depth; same++) {
        const struct dwell_frame frame = stack_frame(chunk, lane->window.buffer, (uint32_t)same);
        const struct timeline_call *call = &lane->shown.stack[same];
        if (frame.function != call->function || (!lane->follows && frame.enter_time != call->enter_time))
            break;
    }
    while (lane->shown.depth > same)
        lane_pop_call(timeline, lane, TIMELINE_LEFT, now, false);
    for (uint32_t i = (uint32_t)same; i < chunk->depth; i++) {
        const struct dwell_frame frame = stack_frame(chunk, lane->window.buffer, i);
        lane_open_call(timeline, lane, &frame, now);
    }
}

static uint64_t lane_begin_chunk(struct timeline_lane *lane, const struct trace_chunk *chunk)
{
    const struct trace_chunk *before = lane->chunk;
    const struct stack_state state = lane->state;
    stack_begin(&lane->state, chunk);
    lane->chunk = chunk;
    lane->follows = before && before->sequence + 1 == chunk->sequence && !state.paused;
    if (before && state.paused && state.last < chunk->start_time)
        lane_delay_open_calls(lane, chunk->start_time - state.last);
    return before && state.last > chunk->start_time ? state.last : chunk->start_time;
}

/* Returns false if the lane has no chunk left. */
static bool lane_begin_next_chunk(struct timeline *timeline, struct timeline_lane *lane)
{
    while (lane->next_chunk < lane->chunk_count) {
        const struct trace_chunk *chunk = &timeline->file->chunks[lane->chunks[lane->next_chunk++]];
        progress_add(1);
        if (window_begin(&lane->window, timeline->file, chunk, &lane->decoder)) {
            lane->key = lane_begin_chunk(lane, chunk);
            return true;
        }
        timeline->counts.damaged_chunks++;
    }
    return false;
}

/* The time at which open calls end: the end of the thread if it is known, else its last event. */
static uint64_t lane_end_time(const struct timeline *timeline, const struct timeline_lane *lane)
{
    const struct trace_thread *t = lane->chunk ? stack_thread_end(timeline->file, lane->chunk, &lane->state) : NULL;
    const uint64_t end = t ? t->end_time : lane->state.last;
    return end > lane->key ? end : lane->key;
}

static const char *lane_innermost_module(const struct timeline *timeline, struct timeline_lane *lane)
{
    const struct timeline_call *call = lane_innermost(lane);
    const struct trace_process *process = session_file_process(timeline->file, lane->shown.process);
    const struct trace_module *module =
        call && process ? trace_module_at(process, call->function, call->enter_time) : NULL;
    return module ? module->path : "";
}

static void lane_end_calls(struct timeline *timeline, struct timeline_lane *lane)
{
    const struct trace_thread *t = lane->chunk ? stack_thread_end(timeline->file, lane->chunk, &lane->state) : NULL;
    if (t) {
        const uint64_t interval = t->end_time - lane->state.last;
        lane->decoder.extras = stack_end_extras(t, lane_innermost_module(timeline, lane), interval);
        lane_add_interval(lane, interval);
    }
    while (lane->shown.depth)
        lane_pop_call(timeline, lane, TIMELINE_OPEN, lane->key, false);
    if (lane->key > timeline->last)
        timeline->last = lane->key;
}

void lane_free(struct timeline_lane *lane)
{
    window_free(&lane->window);
    free(lane->shown.stack);
    free(lane->innermost);
    if (lane->slots)
        index_free(lane->slots);
    *lane = (struct timeline_lane){ 0 };
}

static enum decoded lane_decode_event(struct timeline_lane *lane)
{
    enum decoded event;
    do
        event = decode_next(&lane->decoder);
    while (event == DECODED_END && window_more(&lane->window, &lane->decoder));
    return event;
}

/* Lets the consumer take over the plain events that are before those of `next`. */
static void lane_offer_plain(struct timeline *timeline, struct timeline_lane *lane, const struct timeline_lane *next)
{
    struct timeline_plain run = {
        .thread = &lane->shown,
        .decoder = &lane->decoder,
        .state = &lane->state,
        .until = next ? next->key + (lane < next) : UINT64_MAX,
        .room = &lane->room,
        .lowest = lane->shown.depth,
    };
    const uint8_t *const at = lane->decoder.at;
    timeline->plain(timeline->context, &run);
    if (lane->decoder.at != at)
        lane->unreported = false;
    for (size_t i = run.lowest; i < lane->shown.depth; i++) {
        struct timeline_call *call = &lane->shown.stack[i];
        *call = (struct timeline_call){ .function = call->function, .enter_time = call->enter_time, .entered = true };
    }
    timeline->counts.stray_exits += run.stray_exits;
}

static void lane_find_next(struct timeline *timeline, struct timeline_lane *lane, const struct timeline_lane *next)
{
    if (timeline->plain && lane->slots && !lane->state.paused)
        lane_offer_plain(timeline, lane, next);
    lane->event = lane->slots ? lane_decode_event(lane) : DECODED_END;
    if (lane->event != DECODED_END) {
        lane->next = NEXT_EVENT;
        lane->key = lane->decoder.time;
        return;
    }
    timeline->counts.damaged_chunks += lane->decoder.damaged;
    const bool another = lane_begin_next_chunk(timeline, lane);
    lane->next = another ? NEXT_CHUNK : NEXT_END;
    if (!another)
        lane->key = lane_end_time(timeline, lane);
    if (!lane->slots)
        lane->slots = index_new();
}

/* Returns false if that was the last event. */
static bool lane_apply_next(struct timeline *timeline, struct timeline_lane *lane, const struct timeline_lane *next)
{
    if (lane->next == NEXT_END) {
        lane_end_calls(timeline, lane);
        return false;
    }
    if (lane->next == NEXT_CHUNK)
        lane_match_frames(timeline, lane);
    else
        lane_apply_event(timeline, lane);
    lane_find_next(timeline, lane, next);
    return true;
}

bool lane_advance(struct timeline *timeline, struct timeline_lane *lane, const struct timeline_lane *next)
{
    if (!lane->slots) /* it has not begun yet */
        lane_find_next(timeline, lane, next);
    bool lives = true;
    while (lives && !timeline->enough && (!next || lane_is_before(lane, next)))
        lives = lane_apply_next(timeline, lane, next);
    return lives;
}
