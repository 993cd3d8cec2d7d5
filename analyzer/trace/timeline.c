/* Runs the lanes of all threads in the order of time, by a heap of their next events. */
#include "trace/timeline.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/progress.h"
#include "trace/chunk_order.h"
#include "trace/timeline_lane.h"

/* ---- the order ---- */

static void timeline_sift_down(struct timeline *timeline, size_t at)
{
    struct timeline_lane *lane = timeline->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= timeline->heap_count)
            break;
        if (child + 1 < timeline->heap_count && lane_is_before(timeline->heap[child + 1], timeline->heap[child]))
            child++;
        if (!lane_is_before(timeline->heap[child], lane))
            break;
        timeline->heap[at] = timeline->heap[child];
        at = child;
    }
    timeline->heap[at] = lane;
}

static const struct timeline_lane *timeline_second_lane(const struct timeline *timeline)
{
    if (timeline->heap_count < 2)
        return NULL;
    return timeline->heap_count > 2 && lane_is_before(timeline->heap[2], timeline->heap[1]) ? timeline->heap[2]
                                                                                            : timeline->heap[1];
}

static void timeline_run_heap(struct timeline *timeline)
{
    while (timeline->heap_count && !timeline->enough) {
        struct timeline_lane *lane = timeline->heap[0];
        const struct timeline_lane *next = timeline_second_lane(timeline);
        const bool lives = lane_advance(timeline, lane, next);
        if (!lives) {
            lane_free(lane);
            timeline->heap[0] = timeline->heap[--timeline->heap_count];
        }
        if (timeline->heap_count)
            timeline_sift_down(timeline, 0);
    }
}

/* ---- beginning and end ---- */

/* Ends the calls on stacks that no thread has changed back to. */
static void timeline_end_set_aside(struct timeline *timeline, size_t process)
{
    static const struct decoded_extras none;
    struct timeline_thread thread = { .process = process < timeline->file->process_count
                                                     ? timeline->file->processes[process].serial
                                                     : 0 };
    const struct set_aside_call *found;
    for (size_t at = 0; !timeline->enough && (found = set_aside_next(&timeline->set_aside[process], &at));) {
        struct timeline_call call = found->call;
        thread.thread = found->thread;
        timeline->enough = !timeline->take(
            timeline->context,
            &(struct timeline_event){
                .kind = TIMELINE_OPEN, .time = timeline->last, .extras = &none, .thread = &thread, .call = &call });
    }
    set_aside_free(&timeline->set_aside[process]);
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

static size_t timeline_count_lanes(const struct timeline *timeline, size_t count)
{
    size_t lanes = 0;
    for (size_t i = 0; i < count; i++)
        lanes += i == 0 || !timeline_same_thread(&timeline->file->chunks[timeline->order[i - 1]],
                                                 &timeline->file->chunks[timeline->order[i]]);
    return lanes;
}

static void timeline_add_lane(struct timeline *timeline, const uint32_t *chunk)
{
    const struct trace_chunk *first = &timeline->file->chunks[*chunk];
    struct timeline_lane *lane = timeline->lane_count ? &timeline->lanes[timeline->lane_count - 1] : NULL;
    if (!lane || lane->shown.process != first->process || lane->shown.thread != first->thread) {
        lane = &timeline->lanes[timeline->lane_count++];
        const struct trace_thread *t = session_file_thread(timeline->file, first->thread);
        *lane = (struct timeline_lane){
            .shown = { .process = first->process, .thread = first->thread },
            .chunks = chunk,
            .key = first->start_time,
            .blind = t && t->announced && t->os_source == DWELL_OS_NONE,
        };
        timeline->heap[timeline->heap_count++] = lane;
    }
    lane->chunk_count++;
}

static bool timeline_ended_before(const struct session_file *file, uint32_t thread, uint64_t begin)
{
    const struct trace_thread *t = session_file_thread(file, thread);
    return t && t->end_time && t->end_time < begin;
}

/* Whether the i-th sorted chunk ends before `begin`: the thread's next chunk begins before that. */
static bool timeline_chunk_is_past(const struct timeline *timeline, size_t i, size_t count, uint64_t begin)
{
    const struct trace_chunk *chunk = &timeline->file->chunks[timeline->order[i]];
    const struct trace_chunk *next = i + 1 < count ? &timeline->file->chunks[timeline->order[i + 1]] : NULL;
    const bool follows = next && timeline_same_thread(next, chunk);
    return follows ? next->start_time < begin : timeline_ended_before(timeline->file, chunk->thread, begin);
}

/* Keeps the chunks of the part at the beginning of the `count` sorted ones, and returns their number. */
static size_t timeline_keep_part(struct timeline *timeline, size_t count, const struct timeline_part *part)
{
    size_t kept = 0;
    for (size_t i = 0; part->begin && i < count; i++)
        if (!timeline_chunk_is_past(timeline, i, count, part->begin))
            timeline->order[kept++] = timeline->order[i];
    return part->begin ? kept : count;
}

static void timeline_find_lanes(struct timeline *timeline, const struct timeline_part *part)
{
    size_t count = 0;
    timeline->order = need_memory(timeline->file->chunk_count + 1, sizeof *timeline->order);
    for (uint32_t i = 0; i < timeline->file->chunk_count; i++) {
        const struct trace_chunk *chunk = &timeline->file->chunks[i];
        if (chunk->kind == DWELL_CHUNK_EVENTS &&
            (!part->wants || part->wants(timeline->context, chunk->process, chunk->thread)))
            timeline->order[count++] = i;
    }
    if (count)
        qsort_r(timeline->order, count, sizeof *timeline->order, timeline_compare_chunks, timeline->file->chunks);
    count = timeline_keep_part(timeline, count, part);
    const size_t lanes = timeline_count_lanes(timeline, count);
    timeline->lanes = need_memory(lanes + 1, sizeof *timeline->lanes);
    timeline->heap = need_memory(lanes + 1, sizeof(struct timeline_lane *));
    for (size_t i = 0; i < count; i++)
        timeline_add_lane(timeline, &timeline->order[i]);
    for (size_t i = timeline->heap_count / 2; i-- > 0;)
        timeline_sift_down(timeline, i);
    progress_begin("following", timeline->file->path, count);
}

struct timeline_counts timeline_run(const struct session_file *file, timeline_taker *take, void *context)
{
    return timeline_run_part(file, &(struct timeline_part){ 0 }, take, context);
}

struct timeline_counts timeline_run_part(const struct session_file *file, const struct timeline_part *part,
                                         timeline_taker *take, void *context)
{
    struct timeline timeline = { .file = file, .take = take, .context = context, .no_amounts = part->no_amounts };
    timeline.plain = part->no_amounts ? part->plain : NULL;
    timeline.set_aside = need_memory(file->process_count + 1, sizeof *timeline.set_aside);
    timeline_find_lanes(&timeline, part);
    timeline_run_heap(&timeline); /* if a lane is left, the consumer has stopped and gets no more events */
    progress_end();
    for (size_t i = 0; i < timeline.heap_count; i++)
        lane_free(timeline.heap[i]);
    for (size_t i = 0; i <= file->process_count; i++)
        timeline_end_set_aside(&timeline, i);
    free(timeline.set_aside);
    free(timeline.order);
    free(timeline.lanes);
    free(timeline.heap);
    return timeline.counts;
}
