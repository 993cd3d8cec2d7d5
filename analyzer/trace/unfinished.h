/*
 * Chunks that are still written to: how much of one can be read already, and that part as a chunk of its own.
 */
#ifndef DWELL_TRACE_UNFINISHED_H
#define DWELL_TRACE_UNFINISHED_H

#include "trace/open_stack.h"

/* How many bytes of the records are written wholly: those before the first record that is missing or may be, which is
 * at *stop. The last words of a control event with nothing behind it may be missing: it counts only if `quiet`, when
 * nothing was written for a while. */
uint32_t unfinished_length(const uint8_t *records, uint32_t size, bool quiet, uint32_t *stop);

/* Makes a chunk of its own of these records of *chunk, which begins with the open calls of `s`: *chunk is that chunk
 * then. Returns its bytes, with the padding that session_file_read_chunk wants. The caller frees them. */
uint8_t *unfinished_part(const struct open_stack *s, const uint8_t *records, uint32_t size, struct trace_chunk *chunk);

#endif
