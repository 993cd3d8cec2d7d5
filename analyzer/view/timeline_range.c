/* Computes the range of time from the events and the selected part of a session. */
#include "view/timeline_range.h"

#include <stdlib.h>

#include "base/memory.h"
#include "trace/decode.h"

/* Times in a damaged file may be wrong. This limit keeps sums with them from overflowing. */
enum { MAX_BITS = 62 };

/* The last event of a thread's last chunk, for threads without a recorded end. */
static uint64_t timeline_range_last_event(const struct session_file *file, const struct trace_chunk *chunk)
{
    uint8_t *buffer = need_memory((size_t)chunk->size + TRACE_PADDING, 1);
    uint64_t last = chunk->start_time;
    if (decode_has_frames(chunk) && session_file_read_chunk(file, chunk, buffer)) {
        struct decoder d;
        decode_begin(&d, chunk, buffer);
        while (decode_next(&d) != DECODED_END)
            last = d.time;
    }
    free(buffer);
    return last;
}

static uint64_t timeline_range_chunk_end(const struct session_file *file, const struct trace_chunk *chunk)
{
    const struct trace_thread *t = session_file_thread(file, chunk->thread);
    if (t && t->end_time)
        return t->end_time;
    return chunk->last_of_thread ? timeline_range_last_event(file, chunk) : chunk->start_time;
}

bool timeline_range_find(struct timeline_range *r, const struct analysis *analysis)
{
    const struct session_file *file = analysis->file;
    const uint64_t start = file->header.start_ticks, latest = start + (1ull << MAX_BITS);
    *r = (struct timeline_range){ .begin = UINT64_MAX };
    for (size_t i = 0; i < file->chunk_count; i++) {
        const struct trace_chunk *chunk = &file->chunks[i];
        if (chunk->kind != DWELL_CHUNK_EVENTS ||
            !selection_takes(analysis->selection, file, chunk->process, chunk->thread))
            continue;
        const uint64_t end = timeline_range_chunk_end(file, chunk);
        if (chunk->start_time < r->begin)
            r->begin = chunk->start_time;
        if (end > r->end)
            r->end = end;
    }
    if (r->begin == UINT64_MAX)
        return false;
    if (analysis->selection && analysis->selection->cut) {
        r->begin = analysis->selection->from > r->begin ? analysis->selection->from : r->begin;
        r->cut = analysis->selection->to < r->end;
        r->end = r->cut ? analysis->selection->to : r->end;
    }
    if (r->begin < start)
        r->begin = start;
    if (r->end > latest && latest > start)
        r->end = latest;
    return r->begin < r->end;
}
