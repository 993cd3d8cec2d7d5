/* The end time of each chunk: chunks are sorted by thread and sequence, and each ends where the next one begins. */
#include "profile/chunk_ends.h"

#include <stdlib.h>

#include "base/memory.h"
#include "trace/chunk_order.h"

static int chunk_ends_compare_chunks(const void *a, const void *b, void *context)
{
    const struct trace_chunk *chunks = context;
    return chunk_order_compare(&chunks[*(const size_t *)a], &chunks[*(const size_t *)b]);
}

static bool chunk_ends_follows(const struct trace_chunk *next, const struct trace_chunk *chunk)
{
    return next->process == chunk->process && next->thread == chunk->thread && next->sequence == chunk->sequence + 1;
}

uint64_t *chunk_ends(const struct session_file *file)
{
    uint64_t *ends = need_memory(file->chunk_count, sizeof *ends);
    size_t *order = need_memory(file->chunk_count, sizeof *order), count = 0;
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_EVENTS)
            order[count++] = i;
    if (count)
        qsort_r(order, count, sizeof *order, chunk_ends_compare_chunks, file->chunks);
    for (size_t i = 0; i < count; i++) {
        const bool known = i + 1 < count && chunk_ends_follows(&file->chunks[order[i + 1]], &file->chunks[order[i]]);
        ends[order[i]] = known ? file->chunks[order[i + 1]].start_time : UINT64_MAX;
    }
    free(order);
    return ends;
}
