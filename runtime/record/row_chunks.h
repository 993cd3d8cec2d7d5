/*
 * Rows of a thread in mode profile that are not nodes of its call tree: they lie in chunks of the session file, each of
 * which is linked to the one before. Signals are held back in all functions.
 */
#ifndef DWELL_ROW_CHUNKS_H
#define DWELL_ROW_CHUNKS_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct thread;

struct row_chunks {
    struct dwell_chunk_header *chunk; /* the last one; NULL if there is none yet */
    char *next;                       /* the next free row of the chunk */
    const char *end;                  /* of the chunk */
};

/* Returns room for a row of that size, which is all zero. NULL if there is no space. */
void *row_chunks_make(struct thread *t, struct row_chunks *rows, enum dwell_chunk_kind kind, uint32_t size);

/* Ends the chunks. */
void row_chunks_end(struct row_chunks *rows);

#pragma GCC visibility pop

#endif
