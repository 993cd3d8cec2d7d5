/* The values of a thread's calls, row by row, in chunks of their own. */
#ifndef DWELL_VALUE_ROWS_H
#define DWELL_VALUE_ROWS_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct thread;

/* In a thread's block. */
struct thread_values {
    struct dwell_chunk_header *chunk; /* NULL if the thread has none */
    char *at, *end;                   /* where the next row goes; behind the chunk */
    uint32_t begun;                   /* number of chunks that the thread has begun */
    uint32_t writers;                 /* rows that are being written: of probes, and of signal handlers within them */
};

struct value_row {
    struct dwell_values_row head;
    uint64_t words[UINT8_MAX];
};

/* Signals are held back in both. */
void value_rows_begin_thread(struct thread *t);
void value_rows_end_thread(struct thread *t);

/* Appends a row to those of the calling thread, or counts it as lost. */
void value_rows_append(struct thread *t, const struct value_row *row);

#pragma GCC visibility pop

#endif
