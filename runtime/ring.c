/*
 * The mode ring, a flight recorder: a thread keeps a number of bytes of chunks, and then uses its oldest again. The
 * session file can be read at any time: a chunk that is being cleared is a free one.
 *
 * Chunks of threads that have ended are kept in the same way, as many bytes together as one thread has.
 */
#include <string.h>

#include "chunk.h"
#include "process.h"
#include "ring.h"
#include "runtime.h"

enum { MIN_CHUNK = 8 << 10, LARGEST_CHUNK = 256 << 10, CHUNKS_OF_A_RING = 8 };

static uint32_t ring_limit(void)
{
    return runtime.session.header->ring_size;
}

/* A power of two; a ring has eight such chunks. */
uint32_t ring_chunk_size(void)
{
    uint32_t size = MIN_CHUNK;
    if (runtime.mode != DWELL_MODE_RING)
        return 0;
    while (size < LARGEST_CHUNK && size * 2 * CHUNKS_OF_A_RING <= ring_limit())
        size *= 2;
    return size;
}

/* Frees the chunk. If a record of it is claimed but not stored, it stays as it is, for good. */
static void ring_drop_chunk(struct dwell_chunk_header *chunk)
{
    if (chunk->kind != DWELL_CHUNK_EVENTS || !chunk_has_holes(chunk))
        chunk_free((char *)chunk);
}

/* Chunks are linked by a member of their headers that belongs to the writer. */
static struct dwell_chunk_header *ring_take_first(struct ring *ring)
{
    struct dwell_chunk_header *first = ring->first;
    ring->first = (struct dwell_chunk_header *)first->link;
    ring->bytes -= first->size;
    if (!ring->first)
        ring->last = NULL;
    return first;
}

static void ring_append(struct ring *ring, struct dwell_chunk_header *chunk)
{
    chunk->link = 0;
    if (ring->last)
        ring->last->link = (uint64_t)chunk;
    else
        ring->first = chunk;
    ring->last = chunk;
    ring->bytes += chunk->size;
}

void ring_make_room(struct ring *ring, uint64_t size)
{
    while (ring->first && ring->bytes + size > ring_limit())
        ring_drop_chunk(ring_take_first(ring));
}

bool ring_keep(struct ring *ring, struct dwell_chunk_header *chunk)
{
    if (runtime.mode != DWELL_MODE_RING)
        return false;
    ring_append(ring, chunk);
    return true;
}

void ring_end(struct ring *ring, struct ring *ended)
{
    process_lock();
    while (ring->first) {
        struct dwell_chunk_header *chunk = ring_take_first(ring);
        ring_make_room(ended, chunk->size);
        ring_append(ended, chunk);
    }
    process_unlock();
}
