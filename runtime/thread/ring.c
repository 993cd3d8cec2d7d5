/*
 * The mode ring, a flight recorder: a thread keeps a number of bytes of chunks, and then uses its oldest again. The
 * session file can be read at any time: a chunk that is being cleared is a free one.
 *
 * Chunks of threads that have ended are kept in the same way, as many bytes together as one thread has.
 *
 * A call that the session has should have its values, too. So the values of an events chunk go behind it, and stay if
 * it stays. If they take too much of a ring, the events chunk ends before it is full.
 */
#include <string.h>

#include "chunk.h"
#include "guard.h"
#include "keep_calls.h"
#include "offers.h"
#include "process.h"
#include "process_lock.h"
#include "retired.h"
#include "ring.h"
#include "runtime.h"
#include "spare.h"

enum {
    MIN_CHUNK = 8 << 10,
    SHARED_CHUNK = 32 << 10,
    LARGEST_CHUNK = 256 << 10,
    CHUNKS_OF_A_RING = 8,
    CHUNKS_OF_WINDOWS = 64, /* where chunks stay because of windows: these are not much shorter */
};

static uint64_t ring_limit(void)
{
    const struct dwell_file_header *h = runtime.session.header;
    return h->shared_ring ? UINT64_MAX / 2 : h->ring_size;
}

/* Whether no more chunks of `least` bytes can be claimed, and threads share what there is. */
static bool ring_is_shared_and_full(uint32_t least)
{
    const struct dwell_file_header *h = runtime.session.header;
    const bool ended = __atomic_load_n(&h->limit_time, __ATOMIC_RELAXED) != 0;
    if (offers_have(&runtime.session, least))
        return false;
    if (runtime.makes_room)
        return (ended || session_is_at_limit(&runtime.session, -1, least)) && !spare_has_window(least);
    return (h->shared_ring || keep_settings.on) && ended;
}

/* A power of two. */
uint32_t ring_chunk_size(void)
{
    const uint32_t chunks = keep_settings.on ? CHUNKS_OF_WINDOWS : CHUNKS_OF_A_RING;
    uint32_t size = MIN_CHUNK;
    if (runtime.mode != DWELL_MODE_RING)
        return 0;
    if (runtime.session.header->shared_ring)
        return SHARED_CHUNK;
    while (size < LARGEST_CHUNK && (uint64_t)size * 2 * chunks <= ring_limit())
        size *= 2;
    return size;
}

/* Where the events of a thread's last chunk end, in the bytes behind them, which no reader reads. */
static uint64_t *ring_last_time(const struct dwell_chunk_header *chunk)
{
    const uint32_t at = (chunk->used + 7) & ~7u;
    return chunk->used && at + sizeof(uint64_t) <= guard_size(chunk) ? (uint64_t *)((char *)chunk + at) : NULL;
}

/* The first chunk of that kind from `chunk` on; NULL if there is none. */
static struct dwell_chunk_header *ring_find_kind(struct dwell_chunk_header *chunk, uint16_t kind)
{
    while (chunk && chunk->kind != kind)
        chunk = guard_link(chunk);
    return chunk;
}

/* Where the events of the ring's oldest chunk end: the next chunk of the thread begins then. */
static uint64_t ring_end_of(const struct ring *ring, const struct dwell_chunk_header *chunk)
{
    const uint64_t *last = ring_last_time(chunk);
    const struct dwell_chunk_header *next = ring_find_kind(ring->first, chunk->kind);
    if (next && next->thread == chunk->thread)
        return next->start_time;
    return last && *last >= chunk->start_time ? *last : UINT64_MAX;
}

/* Takes out the chunk behind another one, or the first. */
static struct dwell_chunk_header *ring_take_behind(struct ring *ring, struct dwell_chunk_header *before)
{
    struct dwell_chunk_header *chunk = before ? guard_link(before) : ring->first;
    struct dwell_chunk_header *next = guard_link(chunk);
    if (ring->settled == chunk)
        ring->settled = before;
    if (before)
        guard_set_link(before, next);
    else
        ring->first = next;
    if (ring->last == chunk)
        ring->last = before;
    ring->bytes -= guard_size(chunk);
    return chunk;
}

static struct dwell_chunk_header *ring_take_first(struct ring *ring)
{
    return ring_take_behind(ring, NULL);
}

/* ---- chunks that stay in the session ---- */

/* The chunk is in no ring any more. Its events end at `end`, if that is known. */
static void ring_give_chunk(struct dwell_chunk_header *chunk, uint64_t end)
{
    if (retired_take_back(chunk))
        retired_give(chunk, end == UINT64_MAX ? chunk->start_time : end);
}

/* The first chunk that waits for the thread's current events chunk; NULL if none does. */
static struct dwell_chunk_header *ring_waiting(const struct ring *ring)
{
    return ring->settled ? guard_link(ring->settled) : ring->first;
}

/* Gives the values of an events chunk that was the ring's first. They are behind it, up to the thread's next one. The
 * values chunk that was current when it ended comes behind that. */
static void ring_give_values(struct ring *ring, uint32_t thread)
{
    struct dwell_chunk_header *before = NULL, *chunk;
    bool ended = false, last = false;
    while (!last && (chunk = before ? guard_link(before) : ring->first) != NULL) {
        const bool own = chunk->thread == thread, values = chunk->kind == DWELL_CHUNK_VALUES;
        ended |= ring->settled == before || (own && chunk->kind == DWELL_CHUNK_EVENTS);
        last = ended && own && values;
        if (own && values)
            ring_give_chunk(ring_take_behind(ring, before), UINT64_MAX);
        else
            before = chunk;
    }
    ring->next_values_stay |= !last;
}

void ring_give_waiting(struct ring *ring)
{
    while (ring_waiting(ring))
        ring_give_chunk(ring_take_behind(ring, ring->settled), UINT64_MAX);
    ring->next_values_stay = true;
}

/* ---- using chunks again ---- */

/* False if the chunk stays as it is, permanently: as a record of it is claimed but not stored, its checksum is stored
 * in this moment, or it belongs to the window of a kept call. */
static bool ring_free_chunk(struct ring *ring, struct dwell_chunk_header *chunk)
{
    const bool may_stay = keep_settings.on && chunk->kind != DWELL_CHUNK_VALUES;
    const uint64_t end = may_stay ? ring_end_of(ring, chunk) : 0;
    if (may_stay && keep_covers(chunk->start_time, end)) {
        ring_give_chunk(chunk, end);
        return false;
    }
    if (!retired_take_back(chunk))
        return false;
    if (end > ring->freed_until && end != UINT64_MAX)
        ring->freed_until = end;
    if (chunk->kind == DWELL_CHUNK_EVENTS) {
        if (chunk_has_holes(chunk))
            return false;
        if (chunk->enters != DWELL_NOT_COUNTED)
            __atomic_fetch_add(&runtime.session.header->replaced_events, (uint64_t)chunk->enters + chunk->exits,
                               __ATOMIC_RELAXED);
    }
    chunk_free((char *)chunk);
    return true;
}

/* Frees the ring's oldest chunk, and returns true; or its values stay with it. */
static bool ring_drop_first(struct ring *ring)
{
    struct dwell_chunk_header *chunk = ring_take_first(ring);
    const bool events = chunk->kind == DWELL_CHUNK_EVENTS;
    const uint32_t thread = chunk->thread;
    if (ring_free_chunk(ring, chunk))
        return true;
    if (events && session_more(&runtime.session)->values)
        ring_give_values(ring, thread);
    return false;
}

/* Puts the chunk behind another one, or to the front. */
static void ring_insert(struct ring *ring, struct dwell_chunk_header *after, struct dwell_chunk_header *chunk)
{
    guard_set_link(chunk, after ? guard_link(after) : ring->first);
    if (after)
        guard_set_link(after, chunk);
    else
        ring->first = chunk;
    if (ring->last == after)
        ring->last = chunk;
    ring->bytes += guard_size(chunk);
}

static void ring_trim(struct ring *ring, uint64_t size)
{
    while (ring->first && ring->bytes + size > ring_limit())
        ring_drop_first(ring);
}

static bool ring_has_chunk(const struct ring *ring, uint32_t least)
{
    const struct dwell_chunk_header *chunk = ring->first;
    while (chunk && guard_size(chunk) < least)
        chunk = guard_link(chunk);
    return chunk != NULL;
}

/* Frees the oldest chunks, until one of them has `least` bytes. None if no chunk has. */
static bool ring_replace_oldest(struct ring *ring, uint32_t least)
{
    if (!ring_has_chunk(ring, least))
        return false;
    while (ring->first) {
        const bool enough = guard_size(ring->first) >= least;
        if (ring_drop_first(ring) && enough)
            return true;
    }
    return false;
}

/* Returns whether a chunk was freed because the session has its maximum size. */
static bool ring_make_room(struct ring *ring, uint32_t least, uint64_t size)
{
    ring_trim(ring, size);
    if (!ring_is_shared_and_full(least))
        return false;
    process_lock();
    const bool found = ring_replace_oldest(&runtime.process->ended_ring, least);
    process_unlock();
    return found || ring_replace_oldest(ring, least);
}

/* Threads that share a ring use what is prepared before they replace events. In a small one, that is most of it. */
static struct area ring_take_ready(uint32_t least, uint32_t size)
{
    const bool is_shared = runtime.session.header->shared_ring && !runtime.makes_room;
    return is_shared ? chunk_take_ready(least, size) : (struct area){ NULL, 0 };
}

struct area ring_take_chunk(struct ring *ring, uint32_t least, uint32_t size)
{
    bool freed;
    struct area area = ring_take_ready(least, size);
    if (area.at)
        return area;
    do { /* another thread may take the chunk that was freed */
        freed = ring_make_room(ring, least, size);
        area = chunk_take(least, size);
    } while (!area.at && freed);
    if (!area.at && runtime.session.header->shared_ring)
        session_trouble(&runtime.session, DWELL_TROUBLE_MAX_SIZE);
    return area;
}

bool ring_keep(struct ring *ring, struct dwell_chunk_header *chunk)
{
    if (runtime.mode != DWELL_MODE_RING)
        return false;
    ring_insert(ring, ring->settled, chunk);
    ring->settled = ring->last;
    retired_add_of_ring(chunk);
    return true;
}

bool ring_keep_values(struct ring *ring, struct dwell_chunk_header *chunk)
{
    const bool stays = ring->next_values_stay;
    ring->next_values_stay = false;
    if (runtime.mode != DWELL_MODE_RING || stays)
        return false;
    ring_insert(ring, ring->last, chunk);
    retired_add_of_ring(chunk);
    return true;
}

bool ring_has_many_values(const struct ring *ring)
{
    const uint64_t room = ring_is_shared_and_full(DWELL_UNIT) ? ring->bytes : ring_limit();
    uint64_t bytes = 0;
    for (struct dwell_chunk_header *chunk = ring_waiting(ring); chunk; chunk = guard_link(chunk))
        bytes += guard_size(chunk);
    return runtime.mode == DWELL_MODE_RING && bytes >= room / 2;
}

void ring_end(struct ring *ring, struct ring *ended, uint64_t end)
{
    process_lock();
    while (ring->first) {
        struct dwell_chunk_header *chunk = ring_take_first(ring);
        const bool is_last = chunk->kind != DWELL_CHUNK_VALUES && !ring_find_kind(ring->first, chunk->kind);
        uint64_t *last = keep_settings.on && is_last ? ring_last_time(chunk) : NULL;
        if (last)
            *last = end;
        ring_trim(ended, guard_size(chunk));
        ring_insert(ended, ended->last, chunk);
        ended->settled = chunk;
    }
    process_unlock();
}
