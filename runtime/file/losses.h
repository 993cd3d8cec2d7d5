/* What becomes of records that a full disk or a truncated session keeps out of the file: they are written when there is
 * room again, or counted as lost. Signals are held back in all functions. */
#ifndef DWELL_RUNTIME_LOSSES_H
#define DWELL_RUNTIME_LOSSES_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct thread;

/* An events chunk ends, with this many bytes used. */
void losses_of_events(struct dwell_chunk_header *chunk, uint32_t used);

/* A thread's call tree ends. */
void losses_of_tree(const struct thread *t);

/* A chunk of a thread's rows (row_chunks.h) ends. */
void losses_of_rows(const struct dwell_chunk_header *chunk);

/* A chunk of counts, trace events or values ends. */
void losses_of_counts(const struct dwell_counts *counts);
void losses_of_trace_events(const struct dwell_chunk_header *chunk, uint32_t used);
void losses_of_values(const struct dwell_chunk_header *chunk, uint32_t used);

/* The process ends: all that is not in the file yet is written, or counted. */
void losses_of_process(void);

/* For the helper, which has the session open: adds the counts to the file. If the disk is full, prepared chunks are
 * given back to it first. False if it has to be tried again. */
bool losses_settle(int fd);

#pragma GCC visibility pop

#endif
