/*
 * Chunks that are still written to: finds the length that can be read already, and makes a chunk of that part.
 */
#ifndef DWELL_TRACE_UNFINISHED_H
#define DWELL_TRACE_UNFINISHED_H

#include "trace/open_stack.h"

/* Returns how many bytes of complete records there are: those before the first record that is or may be missing, which
 * is at *stop. The last words of a control event with nothing after it may be missing. It counts only with `quiet`,
 * when nothing has been written for a while. */
uint32_t unfinished_length(const uint8_t *records, uint32_t size, bool quiet, uint32_t *stop);

/* Makes a chunk of these records of *chunk, which begins with the open calls of `s`, and replaces *chunk by it. Returns
 * its bytes, with the padding that session_file_read_chunk needs. The caller frees them. */
uint8_t *unfinished_part(const struct open_stack *s, const uint8_t *records, uint32_t size, struct trace_chunk *chunk);

#endif
