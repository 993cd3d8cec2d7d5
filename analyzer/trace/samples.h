/* Reads samples: where threads were at moments of their CPU time. Nothing in them is trusted. */
#ifndef DWELL_TRACE_SAMPLES_H
#define DWELL_TRACE_SAMPLES_H

#include "trace/session_file.h"

/* A sample within the bytes of its chunk. The arrays are at multiples of 8. */
struct stack_sample {
    uint64_t time;
    const uint64_t *registers; /* the instruction pointer, the stack pointer and others: docs/format.md */
    uint32_t register_count;   /* at least 1 */
    uint32_t words;            /* of the stack */
    const uint64_t *bits;      /* a bit for each word that is not zero; its value is in `values` */
    const uint64_t *values;
};

/* Reads the next sample of a chunk of `size` bytes from *at on, which begins behind the chunk's header, and moves *at
 * behind it. Returns false at the end. Sets *damaged if the chunk ends in something else. */
bool samples_next(const uint8_t *chunk, uint32_t size, uint32_t *at, struct stack_sample *sample, bool *damaged);

/* A word of the stack, from 0 at the stack pointer. Zero if it is not there. */
uint64_t sample_stack_word(const struct stack_sample *sample, uint32_t word);

/* Whether samples say nothing: a budget took them in case it had calls counted, and all calls were timed. Then they are
 * discarded, so that the session is as without a budget. */
bool samples_are_spare(const struct session_file *file);

/* Sets the thread and the process of samples chunks whose writer did not. They stay zero if nothing of the thread was
 * recorded, or samples are spare. */
void samples_find_threads(struct session_file *file);

/* The nanoseconds of CPU time that each sample of the chunk stands for: the period with which it was taken. 1 if that
 * is unknown. */
uint32_t samples_period(const struct session_file *file, const struct trace_chunk *chunk);

/* The shortest and the longest period of chunks of recorded threads, in nanoseconds. False if there is no such chunk.
 */
bool samples_periods(const struct session_file *file, uint32_t *shortest, uint32_t *longest);

/* The number of samples of recorded threads. */
uint64_t samples_count(const struct session_file *file);

#endif
