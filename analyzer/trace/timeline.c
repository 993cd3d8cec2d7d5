/* Runs the lanes of all threads in the order of time, by a heap of their next events. */
#include "trace/timeline.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/progress.h"
#include "trace/chunk_order.h"
#include "trace/timeline_lane.h"

/* ---- the order ---- */

static void timeline_sift_down(struct timeline *l, size_t at)
{
    struct timeline_lane *lane = l->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= l->heap_count)
            break;
        if (child + 1 < l->heap_count && lane_is_before(l->heap[child + 1], l->heap[child]))
            child++;
        if (!lane_is_before(l->heap[child], lane))
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
    return l->heap_count > 2 && lane_is_before(l->heap[2], l->heap[1]) ? l->heap[2] : l->heap[1];
}

static void timeline_run_heap(struct timeline *l)
{
    while (l->heap_count && !l->enough) {
        struct timeline_lane *lane = l->heap[0];
        const struct timeline_lane *next = timeline_second_lane(l);
        const bool lives = lane_advance(l, lane, next);
        if (!lives) {
            lane_free(lane);
            l->heap[0] = l->heap[--l->heap_count];
        }
        if (l->heap_count)
            timeline_sift_down(l, 0);
    }
}

/* ---- beginning and end ---- */

/* Ends the calls on stacks that no thread has changed back to. */
static void timeline_end_set_aside(struct timeline *l, size_t process)
{
    static const struct decoded_extras none;
    struct timeline_thread thread = { .process =
                                          process < l->file->process_count ? l->file->processes[process].serial : 0 };
    const struct set_aside_call *found;
    for (size_t at = 0; !l->enough && (found = set_aside_next(&l->set_aside[process], &at));) {
        struct timeline_call call = found->call;
        thread.thread = found->thread;
        l->enough =
            !l->take(l->context,
                     &(struct timeline_event){
                         .kind = TIMELINE_OPEN, .time = l->last, .extras = &none, .thread = &thread, .call = &call });
    }
    set_aside_free(&l->set_aside[process]);
}

static int timeline_compare_chunks(const void *a, const void *b, void *context)
{
    const struct trace_chunk *chunks = context;
    return chunk_order_compare(&chunks[*(const uint32_t *)a], &chunks[*(const uint32_t *)b]);
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

/* Whether the i-th sorted chunk ends before `begin`: the thread's next chunk begins before that. */
static bool timeline_chunk_is_past(const struct timeline *l, size_t i, size_t count, uint64_t begin)
{
    const struct trace_chunk *chunk = &l->file->chunks[l->order[i]];
    const struct trace_chunk *next = i + 1 < count ? &l->file->chunks[l->order[i + 1]] : NULL;
    const bool follows = next && timeline_same_thread(next, chunk);
    return follows ? next->start_time < begin : timeline_ended_before(l->file, chunk->thread, begin);
}

/* Keeps the chunks of the part at the beginning of the `count` sorted ones, and returns their number. */
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
    l.set_aside = need_memory(file->process_count + 1, sizeof *l.set_aside);
    timeline_find_lanes(&l, part);
    timeline_run_heap(&l); /* if a lane is left, the consumer has stopped and gets no more events */
    progress_end();
    for (size_t i = 0; i < l.heap_count; i++)
        lane_free(l.heap[i]);
    for (size_t i = 0; i <= file->process_count; i++)
        timeline_end_set_aside(&l, i);
    free(l.set_aside);
    free(l.order);
    free(l.lanes);
    free(l.heap);
    return l.counts;
}
