/* Reads a chunk of events piece by piece into a window of memory. */
#include "trace/chunk_window.h"

#include <stdlib.h>

#include "base/memory.h"
#include "trace/session_seal.h"

enum {
    USUAL_SIZE = 64 << 10, /* fits into a core's cache, together with the tables that the readers build */
    LONGEST_EVENT = 6,     /* without extensions */
};

static void chunk_window_reserve(struct chunk_window *w, size_t size)
{
    if (size <= w->room)
        return;
    w->buffer = need_more(w->buffer, size + (size_t)2 * TRACE_PADDING, 1);
    w->room = size;
}

/* Reads the next bytes after the `kept` ones in the buffer. */
static void chunk_window_refill(struct chunk_window *w, struct decoder *d, size_t kept)
{
    const uint64_t left = w->end - w->next;
    const size_t size = w->room - kept < left ? w->room - kept : (size_t)left;
    d->more = size < left;
    session_file_read_part(w->file, w->chunk, w->next, w->buffer + kept, size + (d->more ? 0 : w->behind));
    w->next += size;
    d->limit = w->buffer + kept + size;
    d->end = d->more ? d->limit - (LONGEST_EVENT - 2) : d->limit;
}

/* A chunk that is to be compared with its checksum is wholly in the buffer. */
static bool chunk_window_is_whole(const struct chunk_window *w)
{
    if (seal_holds_bytes(w->chunk, w->buffer))
        return true;
    __atomic_store_n(w->file->health.found_bad, true, __ATOMIC_RELAXED);
    return false;
}

bool window_begin(struct chunk_window *w, const struct session_file *file, const struct trace_chunk *chunk,
                  struct decoder *d)
{
    if (!decode_has_frames(chunk))
        return false;
    const size_t skip = decode_skip(chunk), end = decode_end(chunk);
    const bool late = seal_is_late(file, chunk);
    /* The call sites of the frames can follow; they are shorter. */
    chunk_window_reserve(w, late && end > 2 * skip + USUAL_SIZE ? end : 2 * skip + USUAL_SIZE);
    w->file = file;
    w->chunk = chunk;
    w->next = 0;
    w->end = end;
    w->behind = chunk->size - end < TRACE_PADDING ? chunk->size - (uint32_t)end : TRACE_PADDING;
    decode_begin_at(d, chunk, w->buffer + skip, w->buffer + skip);
    chunk_window_refill(w, d, 0);
    return session_file_is_chunk(chunk, w->buffer) && (!late || chunk_window_is_whole(w));
}

bool window_more(struct chunk_window *w, struct decoder *d)
{
    if (!d->more)
        return false;
    const size_t kept = (size_t)(d->limit - d->at), before = (size_t)(d->at - w->buffer);
    if (before == 0)
        chunk_window_reserve(w, 2 * w->room); /* a single event fills the window */
    memmove(w->buffer, w->buffer + before, kept);
    d->at = w->buffer;
    chunk_window_refill(w, d, kept);
    return true;
}

void window_free(struct chunk_window *w)
{
    free(w->buffer);
    *w = (struct chunk_window){ 0 };
}
