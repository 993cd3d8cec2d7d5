/*
 * The mode ring: threads keep a number of bytes of chunks, and use the oldest again. Signals are held back in all of
 * these functions.
 */
#ifndef DWELL_RING_H
#define DWELL_RING_H

#include "chunk.h"
#include "common.h"

#pragma GCC visibility push(hidden)

/* A list of chunks, in the order in which they are used again. It is empty in other modes. A values chunk stands behind
 * the events chunk that was current when it ended, so that values stay as long as the events of their calls. */
struct ring {
    struct dwell_chunk_header *first, *last;
    struct dwell_chunk_header *settled; /* those behind it are values chunks that wait for the current events chunk */
    uint64_t bytes;
    uint64_t freed_until;  /* ticks: events up to then are not in the session any more; zero if all are */
    bool next_values_stay; /* the values chunk that ends next: events stay that belong to it */
    bool ends_early;       /* the thread's events chunk ends before its next event */
};

/* The size in bytes of a ring's chunks; zero if the mode is not ring. */
uint32_t ring_chunk_size(void);

/* Returns a chunk as chunk_take does, for a thread with that ring. The oldest chunks are freed until `size` bytes more
 * fit into the ring. If the session has its maximum size, a chunk is freed of threads that have ended, or else of this
 * ring. Takes the process' lock. */
struct area ring_take_chunk(struct ring *ring, uint32_t least, uint32_t size);

/* Appends a finished chunk to the ring. False if the mode is not ring: the caller gives it up. */
bool ring_keep(struct ring *ring, struct dwell_chunk_header *chunk);

/* The same for a values chunk. False, too, if it stays in the session. */
bool ring_keep_values(struct ring *ring, struct dwell_chunk_header *chunk);

/* The thread's current events chunk stays in the session, and does not come into the ring: so do its values. */
void ring_give_waiting(struct ring *ring);

/* Whether the values of the thread's current events chunk fill half of the ring. */
bool ring_has_many_values(const struct ring *ring);

/* Moves the chunks of a thread's ring to a ring of the process, as the thread ends. Its last event was at `end`. Takes
 * the process' lock. */
void ring_end(struct ring *ring, struct ring *ended, uint64_t end);

#pragma GCC visibility pop

#endif
