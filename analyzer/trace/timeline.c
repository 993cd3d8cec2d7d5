#include "trace/timeline.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/progress.h"
#include "trace/away.h"
#include "trace/chunk_window.h"

/* What is to be taken next from a lane. */
enum lane_next { NEXT_EVENT, NEXT_CHUNK, NEXT_END };

struct timeline_lane {
    struct timeline_thread shown;
    size_t room;            /* of the stack */
    const uint32_t *chunks; /* of the file, by sequence number */
    size_t chunk_count, next_chunk;
    const struct trace_chunk *chunk;
    struct chunk_window window; /* of it */
    struct decoder decoder;
    enum lane_next next;
    enum decoded event;        /* decoded, and not told of yet */
    uint64_t key;              /* when that is */
    bool follows;              /* the chunk at hand is the one behind the one before */
    uint64_t last;             /* time of the event before */
    struct timeline_sums sums; /* of all intervals so far */
    bool blind;                /* what the OS did is not known */
    uint64_t interval;
    bool untold; /* nobody was told of the interval yet */
    bool paused;
    struct number_index *slots; /* function -> index of open */
    uint32_t *open;             /* how many calls of it are on the stack */
    size_t slot_count, slot_room;
};

struct timeline {
    const struct session_file *file;
    timeline_taker *take;
    void *context;
    uint64_t last;   /* of all lanes that have ended */
    uint32_t *order; /* chunks by thread and sequence number */
    struct timeline_lane *lanes;
    size_t lane_count;
    struct timeline_lane **heap; /* the one with the earliest event first */
    size_t heap_count;
    struct away *away; /* by process */
    struct timeline_counts counts;
    bool enough;
    struct timeline_event event; /* that is told of */
};

/* ---- telling ---- */

/* The event is filled in its place: one that is copied would be read before its parts have been stored. */
static void timeline_report_event(struct timeline *l, struct timeline_lane *lane, enum timeline_kind kind,
                                  uint64_t time, struct timeline_call *call)
{
    static const struct decoded_extras none;
    struct timeline_event *event = &l->event;
    event->kind = kind;
    event->time = time;
    event->call = call;
    event->thread = &lane->shown;
    /* Of several events at once, the first ends the interval. */
    event->interval = lane->untold ? lane->interval : 0;
    event->extras = lane->untold ? &lane->decoder.extras : &none;
    lane->untold = false;
    if (!l->enough && !l->take(l->context, event))
        l->enough = true;
}

static struct timeline_call *timeline_innermost(struct timeline_lane *lane)
{
    return lane->shown.depth ? &lane->shown.stack[lane->shown.depth - 1] : NULL;
}

/* ---- calls ---- */

static uint32_t timeline_slot_of(struct timeline_lane *lane, uint64_t function)
{
    struct index_slot *slot = index_find(lane->slots, function, 0);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    GROW(lane->open, lane->slot_count, lane->slot_room);
    lane->open[lane->slot_count] = 0;
    index_set(lane->slots, slot, function, 0, (uint32_t)lane->slot_count);
    return (uint32_t)lane->slot_count++;
}

static struct timeline_call *timeline_new_call(struct timeline_lane *lane)
{
    GROW(lane->shown.stack, lane->shown.depth, lane->room);
    return &lane->shown.stack[lane->shown.depth++];
}

static void timeline_push_call(struct timeline *l, struct timeline_lane *lane, enum timeline_kind kind,
                               struct timeline_call *call, uint64_t time)
{
    call->count_slot = timeline_slot_of(lane, call->function);
    call->outermost = lane->open[call->count_slot]++ == 0;
    call->begin.elapsed = lane->sums.elapsed;
    call->begin.flagged = lane->sums.flagged;
    call->begin.blocked = lane->sums.blocked;
    timeline_report_event(l, lane, kind, time, call);
}

static void timeline_enter_call(struct timeline *l, struct timeline_lane *lane)
{
    struct timeline_call *call = timeline_new_call(lane);
    call->function = lane->decoder.function;
    call->enter_time = lane->decoder.time;
    call->elapsed = call->once = call->flagged = call->blocked = call->below = call->flagged_below = 0;
    call->note = 0;
    call->entered = true;
    timeline_push_call(l, lane, TIMELINE_ENTER, call, lane->decoder.time);
}

static void timeline_pop_call(struct timeline *l, struct timeline_lane *lane, enum timeline_kind kind, uint64_t time)
{
    struct timeline_call *call = timeline_innermost(lane);
    const uint64_t passed = lane->sums.elapsed - call->begin.elapsed,
                   flagged = lane->sums.flagged - call->begin.flagged;
    call->elapsed += passed;
    call->flagged += flagged;
    call->blocked += lane->sums.blocked - call->begin.blocked;
    if (lane->shown.depth > 1) {
        call[-1].below += passed;
        call[-1].flagged_below += flagged;
    }
    if (call->outermost)
        call->once += passed;
    lane->open[call->count_slot]--;
    timeline_report_event(l, lane, kind, time, call);
    lane->shown.depth--;
}

/* ---- several stacks ---- */

/* Those of processes that the session does not know are together at the end. */
static struct away *timeline_away_of(struct timeline *l, const struct timeline_lane *lane)
{
    const struct trace_process *process = session_file_process(l->file, lane->shown.process);
    return &l->away[process ? (size_t)(process - l->file->processes) : l->file->process_count];
}

static void timeline_leave_stack(struct timeline *l, struct timeline_lane *lane, uint64_t time)
{
    while (lane->shown.depth) {
        timeline_pop_call(l, lane, TIMELINE_AWAY, time);
        away_put(timeline_away_of(l, lane), &lane->shown.stack[lane->shown.depth], time, lane->shown.thread);
    }
}

/* A call that is found open: one that was away, or one that is new here. */
static void timeline_open_call(struct timeline *l, struct timeline_lane *lane, const struct dwell_frame *frame,
                               uint64_t time)
{
    struct timeline_call *call = timeline_new_call(lane);
    *call = (struct timeline_call){ .function = frame->function, .enter_time = frame->enter_time };
    const bool back = away_take(timeline_away_of(l, lane), frame, time, call);
    timeline_push_call(l, lane, back ? TIMELINE_BACK : TIMELINE_FOUND, call, time);
}

static void timeline_reopen_calls(struct timeline *l, struct timeline_lane *lane)
{
    const struct decoder *d = &lane->decoder;
    struct dwell_frame frame;
    for (const uint8_t *at = d->run; (at = decode_opened(d, at, &frame));)
        timeline_open_call(l, lane, &frame, d->time);
}

/* ---- events ---- */

static void timeline_add_interval(struct timeline_lane *lane)
{
    const struct decoded_extras *extras = &lane->decoder.extras;
    lane->sums.elapsed += lane->interval;
    if (extras->flagged || lane->blind)
        lane->sums.flagged += lane->interval;
    if (extras->blocked)
        lane->sums.blocked += extras->blocked < lane->interval ? extras->blocked : lane->interval;
    lane->untold = true;
}

static void timeline_end_interval(struct timeline_lane *lane)
{
    const bool resumes =
        lane->event == DECODED_CONTROL && lane->decoder.control_type == DWELL_EXT_RESUME && lane->paused;
    lane->interval = resumes ? 0 : lane->decoder.time - lane->last;
    timeline_add_interval(lane);
    lane->last = lane->decoder.time;
}

static void timeline_report_mark(struct timeline *l, struct timeline_lane *lane)
{
    const struct decoder *d = &lane->decoder;
    const struct decoded_mark mark = decode_mark(d);
    l->event.mark_number = mark.number;
    l->event.mark_text = mark.text;
    l->event.mark_length = mark.length;
    l->event.mark_time = mark.time;
    timeline_report_event(l, lane, TIMELINE_MARK, d->time, timeline_innermost(lane));
}

static void timeline_resume_lane(struct timeline *l, struct timeline_lane *lane)
{
    const struct decoder *d = &lane->decoder;
    uint64_t ended = decode_number(d->control, 2);
    timeline_report_event(l, lane, TIMELINE_RESUME, d->time, timeline_innermost(lane));
    for (; ended > 0 && lane->shown.depth; ended--)
        timeline_pop_call(l, lane, TIMELINE_LEFT, d->time);
    timeline_reopen_calls(l, lane);
    lane->paused = false;
}

static void timeline_apply_control(struct timeline *l, struct timeline_lane *lane)
{
    const struct decoder *d = &lane->decoder;
    switch (d->control_type) {
    case DWELL_EXT_PAUSE:
        lane->paused = true;
        timeline_report_event(l, lane, TIMELINE_PAUSE, d->time, timeline_innermost(lane));
        break;
    case DWELL_EXT_RESUME:
        if (lane->paused)
            timeline_resume_lane(l, lane);
        break;
    case DWELL_EXT_SWITCH:
        timeline_leave_stack(l, lane, d->time);
        timeline_reopen_calls(l, lane);
        break;
    case DWELL_EXT_MARK:
        timeline_report_mark(l, lane);
        break;
    default:
        break;
    }
}

/* The event that was decoded. */
static void timeline_apply_event(struct timeline *l, struct timeline_lane *lane)
{
    struct decoder *d = &lane->decoder;
    timeline_end_interval(lane);
    if (d->has_extras)
        for (uint32_t i = d->extras.unwound; i > 0 && lane->shown.depth; i--)
            timeline_pop_call(l, lane, TIMELINE_LEFT, d->time);
    if (lane->event == DECODED_CONTROL)
        timeline_apply_control(l, lane);
    else if (lane->event == DECODED_ENTER)
        timeline_enter_call(l, lane);
    else if (lane->shown.depth)
        timeline_pop_call(l, lane, TIMELINE_EXIT, d->time);
    else
        l->counts.stray_exits++;
    if (d->has_extras)
        memset(&d->extras, 0, sizeof d->extras);
    d->has_extras = false;
}

/* ---- chunks ---- */

/* In a chunk that follows the one before, the same calls are open, whatever it says of when they began. */
static void timeline_match_frames(struct timeline *l, struct timeline_lane *lane)
{
    const struct trace_chunk *chunk = lane->chunk;
    size_t same = 0;
    for (; same < chunk->depth && same < lane->shown.depth; same++) {
        const struct dwell_frame frame = decode_frame(lane->window.buffer, (uint32_t)same);
        const struct timeline_call *call = &lane->shown.stack[same];
        if (frame.function != call->function || (!lane->follows && frame.enter_time != call->enter_time))
            break;
    }
    while (lane->shown.depth > same)
        timeline_pop_call(l, lane, TIMELINE_LEFT, lane->last);
    for (uint32_t i = (uint32_t)same; i < chunk->depth; i++) {
        const struct dwell_frame frame = decode_frame(lane->window.buffer, i);
        timeline_open_call(l, lane, &frame, lane->last);
    }
}

/* False: the lane has none left. */
static bool timeline_begin_next_chunk(struct timeline *l, struct timeline_lane *lane)
{
    const struct trace_chunk *before = lane->chunk;
    while (lane->next_chunk < lane->chunk_count) {
        const struct trace_chunk *chunk = &l->file->chunks[lane->chunks[lane->next_chunk++]];
        progress_add(1);
        if (!window_begin(&lane->window, l->file, chunk, &lane->decoder)) {
            l->counts.damaged_chunks++;
            continue;
        }
        lane->chunk = chunk;
        lane->paused = false;
        lane->follows = before && before->sequence + 1 == chunk->sequence;
        if (!before || chunk->start_time > lane->last)
            lane->last = chunk->start_time;
        return true;
    }
    return false;
}

/* When nothing more is recorded of the thread: what was open then was so until its end, if that is known. */
static uint64_t timeline_end_time(const struct timeline *l, const struct timeline_lane *lane)
{
    const struct trace_thread *t = session_file_thread(l->file, lane->shown.thread);
    const bool known = lane->chunk && lane->chunk->last_of_thread && !lane->paused && t;
    return known && t->end_time > lane->last ? t->end_time : lane->last;
}

static const char *timeline_innermost_module(const struct timeline *l, struct timeline_lane *lane)
{
    const struct timeline_call *call = timeline_innermost(lane);
    const struct trace_process *process = session_file_process(l->file, lane->shown.process);
    const struct trace_module *module =
        call && process ? trace_module_at(process, call->function, call->enter_time) : NULL;
    return module ? module->path : "";
}

static void timeline_end_calls(struct timeline *l, struct timeline_lane *lane)
{
    const struct trace_thread *t = session_file_thread(l->file, lane->shown.thread);
    if (lane->key > lane->last) {
        lane->interval = lane->key - lane->last;
        lane->decoder.extras.flagged = t && t->end_flagged;
        lane->decoder.extras.blocked = t ? trace_end_blocked(t, timeline_innermost_module(l, lane), lane->interval) : 0;
        lane->decoder.extras.preempted = t ? t->end_preempted : 0;
        timeline_add_interval(lane);
    }
    while (lane->shown.depth)
        timeline_pop_call(l, lane, TIMELINE_OPEN, lane->key);
    if (lane->key > l->last)
        l->last = lane->key;
}

static void timeline_free_lane(struct timeline_lane *lane)
{
    window_free(&lane->window);
    free(lane->shown.stack);
    free(lane->open);
    if (lane->slots)
        index_free(lane->slots);
    *lane = (struct timeline_lane){ 0 };
}

/* Calls on stacks that no thread has come back to. */
static void timeline_end_away(struct timeline *l, size_t process)
{
    static const struct decoded_extras none;
    struct timeline_thread thread = { .process =
                                          process < l->file->process_count ? l->file->processes[process].serial : 0 };
    const struct away_call *away;
    for (size_t at = 0; !l->enough && (away = away_next(&l->away[process], &at));) {
        struct timeline_call call = away->call;
        thread.thread = away->thread;
        l->enough =
            !l->take(l->context,
                     &(struct timeline_event){
                         .kind = TIMELINE_OPEN, .time = l->last, .extras = &none, .thread = &thread, .call = &call });
    }
    away_free(&l->away[process]);
}

static enum decoded timeline_decode_event(struct timeline_lane *lane)
{
    enum decoded event;
    do
        event = decode_next(&lane->decoder);
    while (event == DECODED_END && window_more(&lane->window, &lane->decoder));
    return event;
}

static void timeline_find_next(struct timeline *l, struct timeline_lane *lane)
{
    lane->event = lane->slots ? timeline_decode_event(lane) : DECODED_END;
    if (lane->event != DECODED_END) {
        lane->next = NEXT_EVENT;
        lane->key = lane->decoder.time;
        return;
    }
    l->counts.damaged_chunks += lane->decoder.damaged;
    const bool another = timeline_begin_next_chunk(l, lane);
    lane->next = another ? NEXT_CHUNK : NEXT_END;
    lane->key = another ? lane->last : timeline_end_time(l, lane);
    if (!lane->slots)
        lane->slots = index_new();
}

/* False: that was the last. */
static bool timeline_advance_lane(struct timeline *l, struct timeline_lane *lane)
{
    if (lane->next == NEXT_END) {
        timeline_end_calls(l, lane);
        return false;
    }
    if (lane->next == NEXT_CHUNK)
        timeline_match_frames(l, lane);
    else
        timeline_apply_event(l, lane);
    timeline_find_next(l, lane);
    return true;
}

/* ---- the order ---- */

static bool timeline_is_before(const struct timeline_lane *a, const struct timeline_lane *b)
{
    return a->key != b->key ? a->key < b->key : a < b;
}

static void timeline_sift_down(struct timeline *l, size_t at)
{
    struct timeline_lane *lane = l->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= l->heap_count)
            break;
        if (child + 1 < l->heap_count && timeline_is_before(l->heap[child + 1], l->heap[child]))
            child++;
        if (!timeline_is_before(l->heap[child], lane))
            break;
        l->heap[at] = l->heap[child];
        at = child;
    }
    l->heap[at] = lane;
}

static const struct timeline_lane *timeline_second_lane(const struct timeline *l)
{
    if (l->heap_count < 2)
        return NULL;
    return l->heap_count > 2 && timeline_is_before(l->heap[2], l->heap[1]) ? l->heap[2] : l->heap[1];
}

static void timeline_run_heap(struct timeline *l)
{
    while (l->heap_count && !l->enough) {
        struct timeline_lane *lane = l->heap[0];
        const struct timeline_lane *next = timeline_second_lane(l);
        bool lives = true;
        if (!lane->slots) /* its time has come */
            timeline_find_next(l, lane);
        while (lives && !l->enough && (!next || timeline_is_before(lane, next)))
            lives = timeline_advance_lane(l, lane);
        if (!lives) {
            timeline_free_lane(lane);
            l->heap[0] = l->heap[--l->heap_count];
        }
        if (l->heap_count)
            timeline_sift_down(l, 0);
    }
}

/* ---- beginning and end ---- */

static int timeline_compare_chunks(const void *a, const void *b, void *context)
{
    const struct trace_chunk *chunks = context;
    return session_file_compare_chunks(&chunks[*(const uint32_t *)a], &chunks[*(const uint32_t *)b]);
}

static bool timeline_same_thread(const struct trace_chunk *a, const struct trace_chunk *b)
{
    return a->process == b->process && a->thread == b->thread;
}

static size_t timeline_count_lanes(const struct timeline *l, size_t count)
{
    size_t lanes = 0;
    for (size_t i = 0; i < count; i++)
        lanes += i == 0 || !timeline_same_thread(&l->file->chunks[l->order[i - 1]], &l->file->chunks[l->order[i]]);
    return lanes;
}

static void timeline_add_lane(struct timeline *l, const uint32_t *chunk)
{
    const struct trace_chunk *first = &l->file->chunks[*chunk];
    struct timeline_lane *lane = l->lane_count ? &l->lanes[l->lane_count - 1] : NULL;
    if (!lane || lane->shown.process != first->process || lane->shown.thread != first->thread) {
        lane = &l->lanes[l->lane_count++];
        const struct trace_thread *t = session_file_thread(l->file, first->thread);
        *lane = (struct timeline_lane){
            .shown = { .process = first->process, .thread = first->thread },
            .chunks = chunk,
            .key = first->start_time,
            .blind = t && t->announced && t->os_source == DWELL_OS_NONE,
        };
        l->heap[l->heap_count++] = lane;
    }
    lane->chunk_count++;
}

static bool timeline_ended_before(const struct session_file *file, uint32_t thread, uint64_t begin)
{
    const struct trace_thread *t = session_file_thread(file, thread);
    return t && t->end_time && t->end_time < begin;
}

/* Whether the chunk at `i` of the sorted ones ends before `begin`: the thread's next one begins before it. */
static bool timeline_chunk_is_past(const struct timeline *l, size_t i, size_t count, uint64_t begin)
{
    const struct trace_chunk *chunk = &l->file->chunks[l->order[i]];
    const struct trace_chunk *next = i + 1 < count ? &l->file->chunks[l->order[i + 1]] : NULL;
    const bool follows = next && timeline_same_thread(next, chunk);
    return follows ? next->start_time < begin : timeline_ended_before(l->file, chunk->thread, begin);
}

/* Returns how many of the `count` sorted chunks are left, at the beginning of the order. */
static size_t timeline_keep_part(struct timeline *l, size_t count, const struct timeline_part *part)
{
    size_t kept = 0;
    for (size_t i = 0; part->begin && i < count; i++)
        if (!timeline_chunk_is_past(l, i, count, part->begin))
            l->order[kept++] = l->order[i];
    return part->begin ? kept : count;
}

static void timeline_find_lanes(struct timeline *l, const struct timeline_part *part)
{
    size_t count = 0;
    l->order = need_memory(l->file->chunk_count + 1, sizeof *l->order);
    for (uint32_t i = 0; i < l->file->chunk_count; i++) {
        const struct trace_chunk *chunk = &l->file->chunks[i];
        if (chunk->kind == DWELL_CHUNK_EVENTS &&
            (!part->wants || part->wants(l->context, chunk->process, chunk->thread)))
            l->order[count++] = i;
    }
    if (count)
        qsort_r(l->order, count, sizeof *l->order, timeline_compare_chunks, l->file->chunks);
    count = timeline_keep_part(l, count, part);
    const size_t lanes = timeline_count_lanes(l, count);
    l->lanes = need_memory(lanes + 1, sizeof *l->lanes);
    l->heap = need_memory(lanes + 1, sizeof(struct timeline_lane *));
    for (size_t i = 0; i < count; i++)
        timeline_add_lane(l, &l->order[i]);
    for (size_t i = l->heap_count / 2; i-- > 0;)
        timeline_sift_down(l, i);
    progress_begin("following", l->file->path, count);
}

struct timeline_counts timeline_run(const struct session_file *file, timeline_taker *take, void *context)
{
    return timeline_run_part(file, &(struct timeline_part){ 0 }, take, context);
}

struct timeline_counts timeline_run_part(const struct session_file *file, const struct timeline_part *part,
                                         timeline_taker *take, void *context)
{
    struct timeline l = { .file = file, .take = take, .context = context };
    l.away = need_memory(file->process_count + 1, sizeof *l.away);
    timeline_find_lanes(&l, part);
    timeline_run_heap(&l); /* either no lane is left, or the taker has enough and is told nothing of those that are */
    progress_end();
    for (size_t i = 0; i < l.heap_count; i++)
        timeline_free_lane(l.heap[i]);
    for (size_t i = 0; i <= file->process_count; i++)
        timeline_end_away(&l, i);
    free(l.away);
    free(l.order);
    free(l.lanes);
    free(l.heap);
    return l.counts;
}
