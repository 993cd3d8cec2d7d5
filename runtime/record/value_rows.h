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

/* Its first word has what a struct dwell_values_row has before its time, by value_row_first. */
struct value_row {
    uint64_t first, time, words[UINT8_MAX];
};

enum { ROW_WORDS_AT = 16, ROW_STATE_AT = 24, ROW_UNREAD_AT = 32 /* bits in the first word */ };

/* Of a row that is not finished. Computed as a number: the words can be loaded at once just after that. */
static inline uint64_t value_row_first(uint64_t site, uint64_t words, uint64_t unread)
{
    return site | words << ROW_WORDS_AT | DWELL_VALUES_UNFINISHED << ROW_STATE_AT | unread << ROW_UNREAD_AT;
}

static inline uint32_t value_row_words(uint64_t first)
{
    return first >> ROW_WORDS_AT & UINT8_MAX;
}

static inline uint32_t value_row_size(uint64_t first)
{
    return (uint32_t)(sizeof(struct dwell_values_row) + value_row_words(first) * sizeof(uint64_t));
}

_Static_assert(offsetof(struct dwell_values_row, words) == ROW_WORDS_AT / 8, "the first word is as in the file");
_Static_assert(offsetof(struct dwell_values_row, state) == ROW_STATE_AT / 8, "the first word is as in the file");
_Static_assert(offsetof(struct dwell_values_row, unread) == ROW_UNREAD_AT / 8, "the first word is as in the file");

/* Signals are held back in both. */
void value_rows_begin_thread(struct thread *t);
void value_rows_end_thread(struct thread *t);

/* Appends a row to those of the calling thread, or counts it as lost. */
void value_rows_append(struct thread *t, const struct value_row *row);

/* After a row was stored at `at`: whether a handler has begun the ring's next chunk before the row was there to be
 * copied. Then it has to be appended once more. */
bool value_rows_missed_copy(const struct thread *t, const char *at);

#pragma GCC visibility pop

#endif
