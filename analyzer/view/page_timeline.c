/* Turns the events of a session into spans of calls and off-CPU times, in one lane for each thread. */
#include "view/page_timeline.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "view/thread_rank.h"
#include "view/timeline_lanes.h"

/* A span takes at least MIN_SPAN bytes of a page (9 to 40 in pages of usual programs). More than fit are not kept: to
 * keep them takes most of the time of a timeline. */
enum { MIN_SPAN = 8, MIN_SPANS = 4096, MIN_SWEEP = 64 };

/* ---- lanes ---- */

static void view_timeline_end_idle_lanes(struct view_timeline *f, uint64_t now)
{
    for (uint32_t i = 0; i < f->session->profile->thread_count; i++) {
        struct view_lane *lane = &f->lanes[i];
        if (!lane->seen || lane->ended || lane->depth || lane->end >= now)
            continue;
        zooms_end_lane(f->zooms, i);
        free(lane->stack);
        lane->stack = NULL;
        lane->room = 0;
        lane->ended = true;
        f->live--;
    }
    f->sweep_at = f->live * 2 > MIN_SWEEP ? f->live * 2 : MIN_SWEEP;
}

static struct view_lane *view_timeline_search_lane(struct view_timeline *f, const struct timeline_thread *thread,
                                                   uint64_t now)
{
    struct index_slot *slot = index_find(f->numbers, thread->thread, thread->process);
    if (!slot->value_plus_1) {
        const int32_t rank = thread_rank(f->order, thread->process, thread->thread);
        index_set(f->numbers, slot, thread->thread, thread->process, (uint32_t)(rank + 1));
        if (rank < 0)
            return NULL;
        struct view_lane *lane = &f->lanes[rank];
        const struct trace_thread *t = session_file_thread(f->session->file, thread->thread);
        lane->seen = true;
        lane->process = thread->process;
        lane->start = now;
        lane->end = t && t->end_time ? t->end_time : UINT64_MAX;
        if (++f->live >= f->sweep_at)
            view_timeline_end_idle_lanes(f, now);
        return lane;
    }
    return slot->value_plus_1 > 1 ? &f->lanes[slot->value_plus_1 - 2] : NULL;
}

static struct view_lane *view_timeline_find_lane(struct view_timeline *f, const struct timeline_thread *thread,
                                                 uint64_t now)
{
    if (!f->latest_lane || f->latest.thread != thread->thread || f->latest.process != thread->process) {
        f->latest_lane = view_timeline_search_lane(f, thread, now);
        f->latest = *thread;
    }
    return f->latest_lane;
}

/* ---- spans ---- */

static void view_timeline_add_span(struct view_timeline *f, const struct view_lane *lane, unsigned row,
                                   int32_t function, uint64_t start, uint64_t end)
{
    const struct timeline_range *r = &f->range;
    if (start < r->begin)
        start = r->begin;
    if (end > r->end)
        end = r->end;
    if (end < start)
        return;
    const struct zoom_span span = {
        .start = start - r->begin,
        .length = end - start,
        .lane = (uint32_t)(lane - f->lanes),
        .row = (uint16_t)row,
        .function = function,
        .count = 1,
    };
    zooms_add(f->zooms, &span);
}

static void view_timeline_begin_call(struct view_timeline *f, struct view_lane *lane, const struct timeline_event *e)
{
    if (e->thread->depth > TIMELINE_MAX_DEPTH)
        return;
    lane->depth = e->thread->depth - 1;
    GROW(lane->stack, lane->depth, lane->room);
    struct view_open_call *call = &lane->stack[lane->depth++];
    call->start = e->time;
    const uint32_t function = resolver_function(f->resolver, lane->process, e->call->function, e->time);
    call->rank = view_timeline_rank(f, function);
    call->root = selection_is_root(f->session->selection, function);
    lane->roots += call->root;
}

static void view_timeline_end_call(struct view_timeline *f, struct view_lane *lane, uint64_t time)
{
    const struct view_open_call *call = &lane->stack[--lane->depth];
    const bool wanted = !f->session->selection || !f->session->selection->roots || lane->roots > 0;
    lane->roots -= call->root;
    if (!wanted || time < f->range.begin)
        return;
    view_timeline_add_span(f, lane, (unsigned)(ROW_CALLS + lane->depth), call->rank, call->start, time);
    if (lane->depth >= lane->deepest)
        lane->deepest = (uint32_t)lane->depth + 1;
}

/* Whether the interval that ends at the event belongs to a call that is shown. */
static bool view_timeline_in_calls(const struct view_timeline *f, const struct view_lane *lane,
                                   const struct timeline_event *e)
{
    const struct selection *selection = f->session->selection;
    const bool begins = e->kind == TIMELINE_ENTER || e->kind == TIMELINE_FOUND || e->kind == TIMELINE_BACK;
    return e->thread->depth > (begins ? 1 : 0) && (!selection || !selection->roots || lane->roots > 0);
}

/* Cuts a time to the timeline and makes it count from its start. Returns false if nothing is left. */
static bool view_timeline_cut(const struct view_timeline *f, uint64_t *begin, uint64_t *end)
{
    const struct timeline_range *r = &f->range;
    *begin = less(*begin, r->begin);
    *end = less(smaller(*end, r->end), r->begin);
    return *begin < *end;
}

/* Adds the off-CPU times of the interval that ends at the event. */
static void view_timeline_add_off_cpu(struct view_timeline *f, const struct view_lane *lane,
                                      const struct timeline_event *e, bool in_calls)
{
    const uint64_t since = e->time - e->interval;
    const uint8_t *at = e->extras->run;
    struct decoded_off_cpu off_cpu;
    uint64_t last = 0;
    while (decode_next_off_cpu(e->extras, since, e->time, &at, &last, &off_cpu)) {
        const uint64_t begin = off_cpu.begin > since ? off_cpu.begin : since;
        const uint64_t end = off_cpu.length < e->time - begin ? begin + off_cpu.length : e->time;
        uint64_t from = begin, to = end;
        if (in_calls && view_timeline_cut(f, &from, &to)) {
            activity_add_off_cpu(f->activity, (size_t)(lane - f->lanes), off_cpu.preempted, from, to);
            heat_map_add_off_cpu(f->heat, off_cpu.preempted, from, to);
        }
        if (end > f->range.begin && begin < f->range.end)
            view_timeline_add_span(f, lane, off_cpu.preempted ? ROW_PREEMPTED : ROW_BLOCKED, ZOOM_MERGED, begin, end);
    }
}

void view_timeline_flush_calls(struct view_timeline *f, struct view_lane *lane)
{
    activity_add_calls(f->activity, (size_t)(lane - f->lanes), lane->calls_begin, lane->calls_end);
    heat_map_add_calls(f->heat, lane->calls_begin, lane->calls_end);
    lane->calls_begin = lane->calls_end = 0;
}

static void view_timeline_add_interval(struct view_timeline *f, struct view_lane *lane, const struct timeline_event *e)
{
    const bool in_calls = view_timeline_in_calls(f, lane, e);
    uint64_t begin = less(e->time, e->interval), end = e->time;
    if (in_calls && view_timeline_cut(f, &begin, &end)) {
        if (begin != lane->calls_end) {
            view_timeline_flush_calls(f, lane);
            lane->calls_begin = begin;
        }
        lane->calls_end = end;
    }
    if (e->extras->blocked || e->extras->preempted)
        view_timeline_add_off_cpu(f, lane, e, in_calls);
}

static bool view_timeline_add_event(void *context, const struct timeline_event *e)
{
    struct view_timeline *f = context;
    if (e->time >= f->range.end && f->range.cut)
        return false;
    struct view_lane *lane = view_timeline_find_lane(f, e->thread, e->time);
    if (!lane)
        return true;
    if (e->interval)
        view_timeline_add_interval(f, lane, e);
    switch (e->kind) {
    case TIMELINE_ENTER:
    case TIMELINE_FOUND:
    case TIMELINE_BACK:
        view_timeline_begin_call(f, lane, e);
        break;
    case TIMELINE_EXIT:
    case TIMELINE_LEFT:
    case TIMELINE_OPEN:
    case TIMELINE_SET_ASIDE:
        if (e->thread->depth && e->thread->depth == lane->depth)
            view_timeline_end_call(f, lane, e->time);
        break;
    default:
        break;
    }
    return true;
}

/* ---- the whole timeline ---- */

static bool view_timeline_wants_thread(void *context, uint32_t process, uint32_t thread)
{
    const struct view_timeline *f = context;
    return !f->session->selection || selection_takes(f->session->selection, f->session->file, process, thread);
}

static struct json_object *view_timeline_describe_heat(const struct heat_map *heat)
{
    if (!heat->cells)
        return NULL;
    struct json_object *object = json_object_new_object();
    json_object_object_add(object, "cell", json_object_new_uint64(heat->width));
    json_object_object_add(object, "cells", json_object_new_int(HEAT_CELLS));
    return object;
}

static struct json_object *view_timeline_describe(const struct view_timeline *f, const struct blocks *blocks)
{
    struct json_object *object = json_object_new_object(), *lanes = json_object_new_array();
    const uint64_t start = f->session->file->header.start_ticks;
    for (size_t i = 0; i < f->session->profile->thread_count; i++) {
        struct json_object *lane = json_object_new_object();
        json_object_object_add(lane, "thread", json_object_new_uint64(i));
        json_object_object_add(lane, "depth", json_object_new_uint64(f->lanes[i].deepest));
        json_object_object_add(lane, "start", json_object_new_uint64(less(f->lanes[i].start, start)));
        if (f->lanes[i].seen)
            json_object_array_add(lanes, lane);
        else
            json_object_put(lane);
    }
    json_object_object_add(object, "start", json_object_new_uint64(f->range.begin - start));
    json_object_object_add(object, "end", json_object_new_uint64(f->range.end - start));
    json_object_object_add(object, "lanes", lanes);
    json_object_object_add(object, "bin", json_object_new_uint64(f->activity->width));
    json_object_object_add(object, "heat", view_timeline_describe_heat(f->heat));
    json_object_object_add(object, "levels", blocks->zooms);
    json_object_object_add(object, "complete", json_object_new_boolean(blocks->whole));
    return object;
}

static void view_timeline_add_events(struct view_timeline *f)
{
    const struct timeline_part part = { .begin = f->range.cut ? f->range.begin : 0,
                                        .wants = view_timeline_wants_thread,
                                        .no_amounts = true,
                                        .plain = view_timeline_add_plain };
    const size_t lanes = f->session->profile->thread_count;
    timeline_run_part(f->session->file, &part, view_timeline_add_event, f);
    for (size_t i = 0; i < lanes; i++) {
        while (f->lanes[i].depth) /* calls may still be open at the end of a part */
            view_timeline_end_call(f, &f->lanes[i], f->range.end);
        if (f->lanes[i].calls_begin != f->lanes[i].calls_end)
            view_timeline_flush_calls(f, &f->lanes[i]);
    }
    zooms_end(f->zooms);
}

static void view_timeline_share_activity(struct view_timeline *f)
{
    struct times *times = rollup_groups(f->session->rollup, BY_THREAD);
    for (size_t i = 0; i < f->session->profile->thread_count; i++)
        activity_share(f->activity, i, &times[f->order->threads[i]]);
    free(times);
}

struct json_object *timeline_make(const struct analysis *analysis, const struct order *order, size_t most,
                                  struct blocks *blocks, struct activity *activity, struct heat_map *heat)
{
    struct view_timeline f = {
        .session = analysis, .order = order, .sweep_at = MIN_SWEEP, .activity = activity, .heat = heat
    };
    *blocks = (struct blocks){ 0 };
    *activity = (struct activity){ 0 };
    *heat = (struct heat_map){ 0 };
    if (!most || !timeline_range_find(&f.range, analysis))
        return NULL;
    const size_t lanes = analysis->profile->thread_count;
    f.resolver = resolver_new(analysis->file, analysis->profile);
    f.numbers = index_new();
    f.lanes = need_memory(lanes + 1, sizeof *f.lanes);
    f.zooms = zooms_new(f.range.end - f.range.begin, (uint32_t)lanes,
                        most / MIN_SPAN > MIN_SPANS ? most / MIN_SPAN : MIN_SPANS);
    activity_begin(activity, f.range.end - f.range.begin, lanes);
    heat_map_begin(heat, f.range.end - f.range.begin, analysis->file->header.ticks_per_second);
    view_timeline_add_events(&f);
    view_timeline_share_activity(&f);
    heat_map_finish(heat);
    blocks_make(blocks, f.zooms, f.range.begin - analysis->file->header.start_ticks, most);
    struct json_object *described = view_timeline_describe(&f, blocks);
    zooms_free(f.zooms);
    for (size_t i = 0; i < lanes; i++)
        free(f.lanes[i].stack);
    free(f.lanes);
    index_free(f.numbers);
    resolver_free(f.resolver);
    return described;
}
