/*
 * The mode ring: threads keep a number of bytes of chunks, and use the oldest again. Signals are held back in all of
 * these functions.
 */
#ifndef DWELL_RING_H
#define DWELL_RING_H

#include "chunk.h"
#include "common.h"

#pragma GCC visibility push(hidden)

struct thread;

/* A list of chunks, the oldest first. It is empty in other modes. */
struct ring {
    struct dwell_chunk_header *first, *last;
    uint64_t bytes;
};

/* The size in bytes of a ring's chunks. */
uint32_t ring_chunk_size(void);

/* Frees the oldest chunks, until `size` bytes more fit into the ring. */
void ring_make_room(struct ring *ring, uint64_t size);

void ring_append(struct ring *ring, struct dwell_chunk_header *chunk);

/* Removes the oldest chunk. The ring must not be empty. */
struct dwell_chunk_header *ring_take_first(struct ring *ring);

/* As chunk_take, for the thread's events. */
struct area ring_take(struct thread *t, uint32_t least, uint32_t size);

/* Keeps a finished chunk of the thread's events. */
void ring_keep(struct thread *t, struct dwell_chunk_header *chunk);

/* Moves the chunks of a thread that ends to the ring `ended` of the process. */
void ring_end_thread(struct thread *t);

#pragma GCC visibility pop

#endif
