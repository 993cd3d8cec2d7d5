#include "trace/timeline.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/table.h"
#include "trace/away.h"
#include "trace/chunk_window.h"

/* What is to be taken next from a lane. */
enum lane_next { NEXT_EVENT, NEXT_CHUNK, NEXT_END };

struct lane {
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
    struct table_index *slots; /* function -> index of open */
    uint32_t *open;            /* how many calls of it are on the stack */
    size_t slot_count, slot_room;
};

struct timeline {
    const struct session_file *file;
    timeline_taker *take;
    void *context;
    uint64_t last;   /* of all lanes that have ended */
    uint32_t *order; /* chunks by thread and sequence number */
    struct lane *lanes;
    size_t lane_count;
    struct lane **heap; /* the one with the earliest event first */
    size_t heap_count;
    struct away *away; /* by process */
    struct timeline_counts counts;
    bool enough;
    struct timeline_event event; /* that is told of */
};

/* ---- telling ---- */

/* The event is filled in its place: one that is copied would be read before its parts have been stored. */
static void tell(struct timeline *l, struct lane *lane, enum timeline_kind kind, uint64_t time,
                 struct timeline_call *call)
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

static struct timeline_call *innermost(struct lane *lane)
{
    return lane->shown.depth ? &lane->shown.stack[lane->shown.depth - 1] : NULL;
}

/* ---- calls ---- */

static uint32_t slot_of(struct lane *lane, uint64_t function)
{
    struct table_slot *slot = table_find(lane->slots, function, 0);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    GROW(lane->open, lane->slot_count, lane->slot_room);
    lane->open[lane->slot_count] = 0;
    table_set(lane->slots, slot, function, 0, (uint32_t)lane->slot_count);
    return (uint32_t)lane->slot_count++;
}

static struct timeline_call *new_call(struct lane *lane)
{
    GROW(lane->shown.stack, lane->shown.depth, lane->room);
    return &lane->shown.stack[lane->shown.depth++];
}

static void push(struct timeline *l, struct lane *lane, enum timeline_kind kind, struct timeline_call *call,
                 uint64_t time)
{
    call->count_slot = slot_of(lane, call->function);
    call->outermost = lane->open[call->count_slot]++ == 0;
    call->begin.elapsed = lane->sums.elapsed;
    call->begin.flagged = lane->sums.flagged;
    call->begin.blocked = lane->sums.blocked;
    tell(l, lane, kind, time, call);
}

static void enter(struct timeline *l, struct lane *lane)
{
    struct timeline_call *call = new_call(lane);
    call->function = lane->decoder.function;
    call->enter_time = lane->decoder.time;
    call->elapsed = call->once = call->flagged = call->blocked = call->below = call->flagged_below = 0;
    call->note = 0;
    call->entered = true;
    push(l, lane, TIMELINE_ENTER, call, lane->decoder.time);
}

static void pop(struct timeline *l, struct lane *lane, enum timeline_kind kind, uint64_t time)
{
    struct timeline_call *call = innermost(lane);
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
    tell(l, lane, kind, time, call);
    lane->shown.depth--;
}

/* ---- several stacks ---- */

/* Those of processes that the session does not know are together at the end. */
static struct away *away_of(struct timeline *l, const struct lane *lane)
{
    const struct trace_process *process = session_file_process(l->file, lane->shown.process);
    return &l->away[process ? (size_t)(process - l->file->processes) : l->file->process_count];
}

static void leave_stack(struct timeline *l, struct lane *lane, uint64_t time)
{
    while (lane->shown.depth) {
        pop(l, lane, TIMELINE_AWAY, time);
        away_put(away_of(l, lane), &lane->shown.stack[lane->shown.depth], time, lane->shown.thread);
    }
}

/* A call that is found open: one that was away, or one that is new here. */
static void open_call(struct timeline *l, struct lane *lane, const struct dwell_frame *frame, uint64_t time)
{
    struct timeline_call *call = new_call(lane);
    *call = (struct timeline_call){ .function = frame->function, .enter_time = frame->enter_time };
    const bool back = away_take(away_of(l, lane), frame, time, call);
    push(l, lane, back ? TIMELINE_BACK : TIMELINE_FOUND, call, time);
}

static void open_again(struct timeline *l, struct lane *lane)
{
    const struct decoder *d = &lane->decoder;
    struct dwell_frame frame;
    for (const uint8_t *at = d->run; (at = decode_opened(d, at, &frame));)
        open_call(l, lane, &frame, d->time);
}

/* ---- events ---- */

static void add_interval(struct lane *lane)
{
    const struct decoded_extras *extras = &lane->decoder.extras;
    lane->sums.elapsed += lane->interval;
    if (extras->flagged || lane->blind)
        lane->sums.flagged += lane->interval;
    if (extras->blocked)
        lane->sums.blocked += extras->blocked < lane->interval ? extras->blocked : lane->interval;
    lane->untold = true;
}

static void take_interval(struct lane *lane)
{
    const bool resumes =
        lane->event == DECODED_CONTROL && lane->decoder.control_type == DWELL_EXT_RESUME && lane->paused;
    lane->interval = resumes ? 0 : lane->decoder.time - lane->last;
    add_interval(lane);
    lane->last = lane->decoder.time;
}

static void tell_mark(struct timeline *l, struct lane *lane)
{
    const struct decoder *d = &lane->decoder;
    const struct decoded_mark mark = decode_mark(d);
    l->event.mark_number = mark.number;
    l->event.mark_text = mark.text;
    l->event.mark_length = mark.length;
    l->event.mark_time = mark.time;
    tell(l, lane, TIMELINE_MARK, d->time, innermost(lane));
}

static void resume(struct timeline *l, struct lane *lane)
{
    const struct decoder *d = &lane->decoder;
    uint64_t ended = decode_number(d->control, 2);
    tell(l, lane, TIMELINE_RESUME, d->time, innermost(lane));
    for (; ended > 0 && lane->shown.depth; ended--)
        pop(l, lane, TIMELINE_LEFT, d->time);
    open_again(l, lane);
    lane->paused = false;
}

static void take_control(struct timeline *l, struct lane *lane)
{
    const struct decoder *d = &lane->decoder;
    switch (d->control_type) {
    case DWELL_EXT_PAUSE:
        lane->paused = true;
        tell(l, lane, TIMELINE_PAUSE, d->time, innermost(lane));
        break;
    case DWELL_EXT_RESUME:
        if (lane->paused)
            resume(l, lane);
        break;
    case DWELL_EXT_SWITCH:
        leave_stack(l, lane, d->time);
        open_again(l, lane);
        break;
    case DWELL_EXT_MARK:
        tell_mark(l, lane);
        break;
    default:
        break;
    }
}

/* The event that was decoded. */
static void take_event(struct timeline *l, struct lane *lane)
{
    struct decoder *d = &lane->decoder;
    take_interval(lane);
    if (d->has_extras)
        for (uint32_t i = d->extras.unwound; i > 0 && lane->shown.depth; i--)
            pop(l, lane, TIMELINE_LEFT, d->time);
    if (lane->event == DECODED_CONTROL)
        take_control(l, lane);
    else if (lane->event == DECODED_ENTER)
        enter(l, lane);
    else if (lane->shown.depth)
        pop(l, lane, TIMELINE_EXIT, d->time);
    else
        l->counts.stray_exits++;
    if (d->has_extras)
        memset(&d->extras, 0, sizeof d->extras);
    d->has_extras = false;
}

/* ---- chunks ---- */

/* In a chunk that follows the one before, the same calls are open, whatever it says of when they began. */
static void match_frames(struct timeline *l, struct lane *lane)
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
        pop(l, lane, TIMELINE_LEFT, lane->last);
    for (uint32_t i = (uint32_t)same; i < chunk->depth; i++) {
        const struct dwell_frame frame = decode_frame(lane->window.buffer, i);
        open_call(l, lane, &frame, lane->last);
    }
}

/* False: the lane has none left. */
static bool begin_next_chunk(struct timeline *l, struct lane *lane)
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
static uint64_t end_time(const struct timeline *l, const struct lane *lane)
{
    const struct trace_thread *t = session_file_thread(l->file, lane->shown.thread);
    const bool known = lane->chunk && lane->chunk->last_of_thread && !lane->paused && t;
    return known && t->end_time > lane->last ? t->end_time : lane->last;
}

static const char *innermost_module(const struct timeline *l, struct lane *lane)
{
    const struct timeline_call *call = innermost(lane);
    const struct trace_process *process = session_file_process(l->file, lane->shown.process);
    const struct trace_module *module =
        call && process ? trace_module_at(process, call->function, call->enter_time) : NULL;
    return module ? module->path : "";
}

static void end_calls(struct timeline *l, struct lane *lane)
{
    const struct trace_thread *t = session_file_thread(l->file, lane->shown.thread);
    if (lane->key > lane->last) {
        lane->interval = lane->key - lane->last;
        lane->decoder.extras.flagged = t && t->end_flagged;
        lane->decoder.extras.blocked = t ? trace_end_blocked(t, innermost_module(l, lane), lane->interval) : 0;
        lane->decoder.extras.preempted = t ? t->end_preempted : 0;
        add_interval(lane);
    }
    while (lane->shown.depth)
        pop(l, lane, TIMELINE_OPEN, lane->key);
    if (lane->key > l->last)
        l->last = lane->key;
}

static void free_lane(struct lane *lane)
{
    window_free(&lane->window);
    free(lane->shown.stack);
    free(lane->open);
    if (lane->slots)
        table_free(lane->slots);
    *lane = (struct lane){ 0 };
}

/* Calls on stacks that no thread has come back to. */
static void end_away(struct timeline *l, size_t process)
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

static enum decoded decode(struct lane *lane)
{
    enum decoded event;
    do
        event = decode_next(&lane->decoder);
    while (event == DECODED_END && window_more(&lane->window, &lane->decoder));
    return event;
}

static void find_next(struct timeline *l, struct lane *lane)
{
    lane->event = lane->slots ? decode(lane) : DECODED_END;
    if (lane->event != DECODED_END) {
        lane->next = NEXT_EVENT;
        lane->key = lane->decoder.time;
        return;
    }
    l->counts.damaged_chunks += lane->decoder.damaged;
    const bool another = begin_next_chunk(l, lane);
    lane->next = another ? NEXT_CHUNK : NEXT_END;
    lane->key = another ? lane->last : end_time(l, lane);
    if (!lane->slots)
        lane->slots = table_new();
}

/* False: that was the last. */
static bool take_next(struct timeline *l, struct lane *lane)
{
    if (lane->next == NEXT_END) {
        end_calls(l, lane);
        return false;
    }
    if (lane->next == NEXT_CHUNK)
        match_frames(l, lane);
    else
        take_event(l, lane);
    find_next(l, lane);
    return true;
}

/* ---- the order ---- */

static bool is_before(const struct lane *a, const struct lane *b)
{
    return a->key != b->key ? a->key < b->key : a < b;
}

static void sift_down(struct timeline *l, size_t at)
{
    struct lane *lane = l->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= l->heap_count)
            break;
        if (child + 1 < l->heap_count && is_before(l->heap[child + 1], l->heap[child]))
            child++;
        if (!is_before(l->heap[child], lane))
            break;
        l->heap[at] = l->heap[child];
        at = child;
    }
    l->heap[at] = lane;
}

static const struct lane *second(const struct timeline *l)
{
    if (l->heap_count < 2)
        return NULL;
    return l->heap_count > 2 && is_before(l->heap[2], l->heap[1]) ? l->heap[2] : l->heap[1];
}

static void run_heap(struct timeline *l)
{
    while (l->heap_count && !l->enough) {
        struct lane *lane = l->heap[0];
        const struct lane *next = second(l);
        bool lives = true;
        if (!lane->slots) /* its time has come */
            find_next(l, lane);
        while (lives && !l->enough && (!next || is_before(lane, next)))
            lives = take_next(l, lane);
        if (!lives) {
            free_lane(lane);
            l->heap[0] = l->heap[--l->heap_count];
        }
        if (l->heap_count)
            sift_down(l, 0);
    }
}

/* ---- beginning and end ---- */

static int compare_chunks(const void *a, const void *b, void *context)
{
    const struct trace_chunk *chunks = context;
    return session_file_compare_chunks(&chunks[*(const uint32_t *)a], &chunks[*(const uint32_t *)b]);
}

static bool are_of_one_thread(const struct trace_chunk *a, const struct trace_chunk *b)
{
    return a->process == b->process && a->thread == b->thread;
}

static size_t count_lanes(const struct timeline *l, size_t count)
{
    size_t lanes = 0;
    for (size_t i = 0; i < count; i++)
        lanes += i == 0 || !are_of_one_thread(&l->file->chunks[l->order[i - 1]], &l->file->chunks[l->order[i]]);
    return lanes;
}

static void add_lane(struct timeline *l, const uint32_t *chunk)
{
    const struct trace_chunk *first = &l->file->chunks[*chunk];
    struct lane *lane = l->lane_count ? &l->lanes[l->lane_count - 1] : NULL;
    if (!lane || lane->shown.process != first->process || lane->shown.thread != first->thread) {
        lane = &l->lanes[l->lane_count++];
        const struct trace_thread *t = session_file_thread(l->file, first->thread);
        *lane = (struct lane){
            .shown = { .process = first->process, .thread = first->thread },
            .chunks = chunk,
            .key = first->start_time,
            .blind = t && t->announced && t->os_source == DWELL_OS_NONE,
        };
        l->heap[l->heap_count++] = lane;
    }
    lane->chunk_count++;
}

static bool ended_before(const struct session_file *file, uint32_t thread, uint64_t begin)
{
    const struct trace_thread *t = session_file_thread(file, thread);
    return t && t->end_time && t->end_time < begin;
}

/* Whether the chunk at `i` of the sorted ones ends before `begin`: the thread's next one begins before it. */
static bool is_past(const struct timeline *l, size_t i, size_t count, uint64_t begin)
{
    const struct trace_chunk *chunk = &l->file->chunks[l->order[i]];
    const struct trace_chunk *next = i + 1 < count ? &l->file->chunks[l->order[i + 1]] : NULL;
    const bool follows = next && are_of_one_thread(next, chunk);
    return follows ? next->start_time < begin : ended_before(l->file, chunk->thread, begin);
}

/* Returns how many of the `count` sorted chunks are left, at the beginning of the order. */
static size_t keep_part(struct timeline *l, size_t count, const struct timeline_part *part)
{
    size_t kept = 0;
    for (size_t i = 0; part->begin && i < count; i++)
        if (!is_past(l, i, count, part->begin))
            l->order[kept++] = l->order[i];
    return part->begin ? kept : count;
}

static void find_lanes(struct timeline *l, const struct timeline_part *part)
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
        qsort_r(l->order, count, sizeof *l->order, compare_chunks, l->file->chunks);
    count = keep_part(l, count, part);
    const size_t lanes = count_lanes(l, count);
    l->lanes = need_memory(lanes + 1, sizeof *l->lanes);
    l->heap = need_memory(lanes + 1, sizeof(struct lane *));
    for (size_t i = 0; i < count; i++)
        add_lane(l, &l->order[i]);
    for (size_t i = l->heap_count / 2; i-- > 0;)
        sift_down(l, i);
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
    find_lanes(&l, part);
    run_heap(&l); /* either no lane is left, or the taker has enough and is told nothing of those that are */
    progress_end();
    for (size_t i = 0; i < l.heap_count; i++)
        free_lane(l.heap[i]);
    for (size_t i = 0; i <= file->process_count; i++)
        end_away(&l, i);
    free(l.away);
    free(l.order);
    free(l.lanes);
    free(l.heap);
    return l.counts;
}
