/*
 * Finished chunks. The helper thread gives each its checksum and unmaps it; so no thread of the program does. A ring
 * keeps its chunks, and takes them back when it uses them again. All functions may be called with signals held back.
 */
#ifndef DWELL_RETIRED_H
#define DWELL_RETIRED_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

enum { RETIRED_SLOTS = 64 };

/* In the process' block. Slots are filled and emptied by atomic exchanges; NULL is an empty slot. */
struct retired_chunks {
    char *slots[RETIRED_SLOTS];
    char *sealing; /* the chunk whose checksum is being made, plus an enum retired_state of retired.c; or NULL */
};

/* Gives up a finished chunk. It stays mapped while a record in it has been claimed, but not stored. */
void retired_add(struct dwell_chunk_header *chunk);

/* The same for a chunk that a ring keeps: it gets its checksum and stays mapped. */
void retired_add_of_ring(struct dwell_chunk_header *chunk);

/* A ring gives up a chunk of a window, with events up to `until`: as retired_add, but its space may be used again. */
void retired_give(struct dwell_chunk_header *chunk, uint64_t until);

/* The ring uses the chunk again. False if its checksum is being stored at this moment: then it must stay as it is. */
bool retired_take_back(const struct dwell_chunk_header *chunk);

/* Whether the chunk is still read for a checksum, although it was taken back: it must not be unmapped. */
bool retired_is_read(const char *at);

struct retired {
    char *at;   /* NULL if there is none */
    bool whole; /* it has no holes, and has its checksum */
    bool given; /* by retired_give */
    bool kept;  /* a ring has it */
};

/* Takes a chunk of a slot, and gives it its checksum unless it has holes. The caller then calls retired_end. One that
 * no ring has is the caller's. For one thread at a time: others find no chunk. */
struct retired retired_begin(int slot);
void retired_end(void);

/* Unmaps a whole chunk that is the caller's. */
void retired_unmap(const struct retired *retired);

/* Whether more chunks wait than usual. */
bool retired_are_many(void);

/* Gives a chunk that nobody else uses its checksum. */
void retired_seal(struct dwell_chunk_header *chunk);

/* In a process that ends: does what the helper has not done yet. */
void retired_finish(void);

#pragma GCC visibility pop

#endif
