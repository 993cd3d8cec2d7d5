/*
 * Finds the times in which events of threads are missing. Chunks of a thread are numbered, so a missing one leaves a
 * hole before the next one. Where the session has lost its end, each thread has a hole after its last chunk began.
 */
#include "causes/wait_holes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "trace/chunk_order.h"

/* Nobody knows where the events were that had no room, or what a damaged chunk was. */
static bool wait_holes_lack_an_end(const struct session_file *file)
{
    return file->header.lost_events || file->header.lost_threads || file->health.damaged_chunks ||
           file->health.damaged_bytes || file->health.lacks_parts || file->size < file->header.cursor;
}

static void wait_holes_add(struct wait_holes *h, uint64_t begin, uint64_t end)
{
    GROW(h->list, h->count, h->room);
    h->list[h->count++] = (struct wait_hole){ begin, end };
}

/* The end of the chunk before is not known without reading it, so its start counts. */
static void wait_holes_add_before(struct wait_holes *h, const struct session_file *file,
                                  const struct trace_chunk *before, const struct trace_chunk *chunk)
{
    const bool follows = before && before->thread == chunk->thread && before->process == chunk->process;
    if (follows && before->sequence + 1 != chunk->sequence)
        wait_holes_add(h, before->start_time, chunk->start_time);
    else if (!follows && chunk->sequence > 0) {
        const struct trace_thread *t = session_file_thread(file, chunk->thread);
        wait_holes_add(h, t ? t->start_time : 0, chunk->start_time);
    }
}

static int wait_holes_compare_chunks(const void *a, const void *b)
{
    return chunk_order_compare(*(const struct trace_chunk *const *)a, *(const struct trace_chunk *const *)b);
}

static int wait_holes_compare(const void *a, const void *b)
{
    const struct wait_hole *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static void wait_holes_join(struct wait_holes *h)
{
    size_t kept = 0;
    if (h->count)
        qsort(h->list, h->count, sizeof *h->list, wait_holes_compare);
    for (size_t i = 0; i < h->count; i++) {
        struct wait_hole *last = kept ? &h->list[kept - 1] : NULL;
        if (!last || h->list[i].begin > last->end)
            h->list[kept++] = h->list[i];
        else if (h->list[i].end > last->end)
            last->end = h->list[i].end;
    }
    h->count = kept;
}

struct wait_holes wait_holes_find(const struct session_file *file)
{
    struct wait_holes h = { NULL, 0, 0 };
    const bool endless = wait_holes_lack_an_end(file);
    const struct trace_chunk **chunks = need_memory(file->chunk_count + 1, sizeof *chunks);
    size_t count = 0;
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_EVENTS)
            chunks[count++] = &file->chunks[i];
    if (count)
        qsort(chunks, count, sizeof *chunks, wait_holes_compare_chunks);
    for (size_t i = 0; i < count; i++) {
        wait_holes_add_before(&h, file, i ? chunks[i - 1] : NULL, chunks[i]);
        if (endless && (i + 1 == count || chunks[i + 1]->thread != chunks[i]->thread))
            wait_holes_add(&h, chunks[i]->start_time, UINT64_MAX);
    }
    free(chunks);
    wait_holes_join(&h);
    return h;
}

bool wait_holes_overlap(const struct wait_holes *h, uint64_t begin, uint64_t end)
{
    const size_t later = LOWER_BOUND(hole, h->list, h->count, hole->end <= begin);
    return later < h->count && h->list[later].begin < end;
}

void wait_holes_drop(struct wait_holes *h)
{
    free(h->list);
}
