/* Divides threads into stretches that are read one by one, and puts together what is known only of whole threads. */
#include "causes/why_segments.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "trace/chunk_order.h"

enum { SEGMENT_CHUNKS = 8 };

static size_t why_thread_end(const struct session_file *file, const uint32_t *order, size_t first)
{
    size_t end = first + 1;
    while (end < file->chunk_count && file->chunks[order[end]].thread == file->chunks[order[first]].thread &&
           file->chunks[order[end]].process == file->chunks[order[first]].process)
        end++;
    return end;
}

static void why_divide_thread(struct why_segments *s, const struct session_file *file, size_t first, size_t thread_end)
{
    while (first < thread_end && file->chunks[s->order[first]].kind != DWELL_CHUNK_EVENTS)
        first++;
    for (size_t at = first; at < thread_end; at += SEGMENT_CHUNKS) {
        GROW(s->list, s->count, s->room);
        s->list[s->count++] = (struct why_segment){ .first = at,
                                                    .end = smaller(at + SEGMENT_CHUNKS, thread_end),
                                                    .thread_end = thread_end,
                                                    .begins = at == first,
                                                    .from_start = file->chunks[s->order[first]].sequence == 0,
                                                    .cpus = why_cpus_begin() };
    }
}

struct why_segments why_segments_find(const struct session_file *file)
{
    struct why_segments s = { .order = chunk_order_by_thread(file) };
    for (size_t i = 0, end; i < file->chunk_count; i = end) {
        end = why_thread_end(file, s.order, i);
        why_divide_thread(&s, file, i, end);
    }
    return s;
}

void why_segments_drop(struct why_segments *s)
{
    free(s->order);
    free(s->list);
}

static void why_join_first(const struct why_segment *s, const struct trace_chunk *chunk, unsigned session,
                           struct why_found *found)
{
    GROW(found->firsts, found->first_count, found->first_room);
    found->firsts[found->first_count++] = (struct why_first){ chunk->process, chunk->thread, s->call, session };
}

void why_segments_join(const struct why_segments *s, const struct session_file *file, unsigned session,
                       struct why_found *found)
{
    struct why_cpus *before = need_memory(s->count + 1, sizeof *before), cpus = { 0 };
    bool called = false;
    for (size_t i = 0; i < s->count; i++) {
        const struct why_segment *segment = &s->list[i];
        if (segment->begins) {
            cpus = (struct why_cpus){ 0 };
            called = !segment->from_start;
        }
        if (segment->called && !called)
            why_join_first(segment, &file->chunks[s->order[segment->first]], session, found);
        called |= segment->called;
        before[i] = cpus;
        cpus = why_cpus_after(&cpus, &segment->cpus);
    }
    for (size_t i = 0; i < found->sampled_count; i++) {
        struct why_sampled *call = &found->sampled[i];
        call->cpus = why_cpus_after(&before[call->segment], &call->cpus);
    }
    free(before);
}
