/*
 * The mode ring, a flight recorder: a thread keeps so many bytes of chunks, and then uses its oldest again. The session
 * file always holds what there is to be read; a chunk that is being cleared is a free one.
 *
 * Chunks of threads that have ended are kept likewise, as many bytes together as one thread has.
 */
#include <string.h>

#include "runtime.h"
#include "sys.h"

enum { LEAST_CHUNK = 8 << 10, LARGEST_CHUNK = 256 << 10, CHUNKS_OF_A_RING = 8 };

static uint32_t ring_size(void)
{
    return runtime.session.header->ring_size;
}

/* A power of two of which the ring has eight. */
uint32_t ring_chunk_size(void)
{
    uint32_t size = LEAST_CHUNK;
    while (size < LARGEST_CHUNK && size * 2 * CHUNKS_OF_A_RING <= ring_size())
        size *= 2;
    return size;
}

static uint32_t size_of(const char *chunk)
{
    return ((const struct dwell_chunk_header *)chunk)->size;
}

/* The oldest one is forgotten; unless a record of it has still to be stored: then it stays as it is, for good. */
static void drop(char *chunk)
{
    if (chunk_has_holes((const struct dwell_chunk_header *)chunk))
        return;
    chunk_free(chunk);
}

static void drop_oldest(struct thread *t)
{
    char *oldest = t->ring[t->ring_first];
    t->ring_first = (t->ring_first + 1) % RING_CHUNKS;
    t->ring_count--;
    t->ring_bytes -= size_of(oldest);
    drop(oldest);
}

struct area ring_take(struct thread *t, uint32_t least, uint32_t size)
{
    while (t->ring_count > 0 && (t->ring_bytes + size > ring_size() || t->ring_count == RING_CHUNKS))
        drop_oldest(t);
    return chunk_take(least, size);
}

void ring_keep(struct thread *t, struct dwell_chunk_header *chunk)
{
    if (t->ring_count == RING_CHUNKS)
        drop_oldest(t);
    t->ring[(t->ring_first + t->ring_count) % RING_CHUNKS] = (char *)chunk;
    t->ring_count++;
    t->ring_bytes += chunk->size;
}

static void leave(char *chunk)
{
    struct process *p = runtime.process;
    const uint32_t size = size_of(chunk);
    while (p->ended_count > 0 && (p->ended_bytes + size > ring_size() || p->ended_count == ENDED_SLOTS)) {
        char *oldest = p->ended[p->ended_first];
        p->ended_first = (p->ended_first + 1) % ENDED_SLOTS;
        p->ended_count--;
        p->ended_bytes -= size_of(oldest);
        drop(oldest);
    }
    p->ended[(p->ended_first + p->ended_count) % ENDED_SLOTS] = chunk;
    p->ended_count++;
    p->ended_bytes += size;
}

void ring_end_thread(struct thread *t)
{
    process_lock();
    for (; t->ring_count > 0; t->ring_count--) {
        leave(t->ring[t->ring_first]);
        t->ring_first = (t->ring_first + 1) % RING_CHUNKS;
    }
    process_unlock();
    t->ring_bytes = 0;
}
