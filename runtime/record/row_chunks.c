/* Chunks of rows: each is twice as large as the one before, up to a limit. */
#include "row_chunks.h"

#include "chunk.h"
#include "guard.h"
#include "losses.h"
#include "process.h"
#include "retired.h"
#include "runtime.h"
#include "session.h"
#include "thread.h"

enum { LARGEST_CHUNK = 32 << 10 };

static bool row_chunks_next(struct thread *t, struct row_chunks *rows, enum dwell_chunk_kind kind)
{
    const uint32_t last = rows->chunk ? guard_size(rows->chunk) : 0,
                   size = smaller_of(LARGEST_CHUNK, last ? 2 * last : DWELL_UNIT);
    const struct area area = chunk_take(size, size);
    if (!area.at)
        return false;
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area.at;
    if (rows->chunk)
        __atomic_store_n(&rows->chunk->used, (uint32_t)(rows->next - (char *)rows->chunk), __ATOMIC_RELEASE);
    chunk->process = runtime.process->serial;
    chunk->thread = t->serial;
    chunk->sequence = rows->chunk ? rows->chunk->sequence + 1 : 0;
    guard_set_link(chunk, rows->chunk);
    __atomic_store_n(&chunk->kind, kind, __ATOMIC_RELEASE);
    rows->chunk = chunk;
    rows->next = (char *)(chunk + 1);
    rows->end = area.at + area.size;
    return true;
}

void *row_chunks_make(struct thread *t, struct row_chunks *rows, enum dwell_chunk_kind kind, uint32_t size)
{
    if ((!rows->chunk || rows->next + size > rows->end) && !row_chunks_next(t, rows, kind))
        return NULL;
    void *row = rows->next;
    rows->next += size;
    return row;
}

void row_chunks_end(struct row_chunks *rows)
{
    struct dwell_chunk_header *last = rows->chunk;
    if (last) {
        const uint32_t used = (uint32_t)(rows->next - (char *)last);
        __atomic_store_n(&last->used, used, __ATOMIC_RELEASE);
        for (const struct dwell_chunk_header *c = last; guard_trouble() && c; c = guard_link(c))
            losses_of_rows(c);
        struct area area = { (char *)last, guard_size(last) };
        chunk_cut(&area, (used + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT);
    }
    for (struct dwell_chunk_header *chunk = last; chunk;) {
        struct dwell_chunk_header *before = guard_link(chunk);
        retired_add(chunk);
        chunk = before;
    }
    *rows = (struct row_chunks){ NULL, NULL, NULL };
}
