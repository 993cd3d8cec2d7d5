/* Finds the chunks of rings. */
#include "recorder/keep_rings.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "trace/decode.h"

static int keep_rings_compare(const void *a, const void *b)
{
    const struct trace_chunk *x = *(const struct trace_chunk *const *)a, *y = *(const struct trace_chunk *const *)b;
    return ORDER_BY(x, y, kind, thread, sequence);
}

static struct keep_rings keep_rings_list(const struct session_file *file, bool live, unsigned kind, unsigned other)
{
    struct keep_rings r = { .list = need_memory(file->chunk_count, sizeof *r.list), .live = live };
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == kind || file->chunks[i].kind == other)
            r.list[r.count++] = &file->chunks[i];
    if (r.count)
        qsort(r.list, r.count, sizeof *r.list, keep_rings_compare);
    return r;
}

struct keep_rings keep_rings_find(const struct session_file *file, bool live)
{
    return keep_rings_list(file, live, DWELL_CHUNK_EVENTS, DWELL_CHUNK_TRACE_EVENTS);
}

struct keep_rings keep_rings_of_values(const struct session_file *file)
{
    return keep_rings_list(file, false, DWELL_CHUNK_VALUES, DWELL_CHUNK_VALUES);
}

/* The time of a chunk's last event. */
static uint64_t keep_rings_last_event(const struct session_file *file, const struct trace_chunk *chunk,
                                      struct chunk_window *w)
{
    struct decoder d;
    if (chunk->kind != DWELL_CHUNK_EVENTS || !window_begin(w, file, chunk, &d))
        return UINT64_MAX;
    do
        while (decode_next(&d) != DECODED_END)
            d.has_extras = false;
    while (window_more(w, &d));
    return d.time;
}

uint64_t keep_rings_end(const struct session_file *file, struct keep_rings *r, size_t i)
{
    const struct trace_chunk *chunk = r->list[i], *next = i + 1 < r->count ? r->list[i + 1] : NULL;
    if (next && next->kind == chunk->kind && next->thread == chunk->thread && next->sequence == chunk->sequence + 1)
        return next->start_time;
    return r->live && !chunk->used ? UINT64_MAX : keep_rings_last_event(file, chunk, &r->window);
}

uint64_t keep_values_end(const struct keep_rings *r, size_t i)
{
    const bool last = i + 1 == r->count || r->list[i + 1]->thread != r->list[i]->thread;
    return last ? UINT64_MAX : r->list[i + 1]->start_time;
}

void keep_rings_free(struct keep_rings *r)
{
    window_free(&r->window);
    free(r->list);
}
