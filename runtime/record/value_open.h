/* The rows of calls that are open, with which a chunk of a ring begins: the chunks before it may be used again. */
#ifndef DWELL_VALUE_OPEN_H
#define DWELL_VALUE_OPEN_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct thread;

/* Returns how many bytes the rows of the thread's open calls take, of those in the first `used` bytes of a chunk.
 * Copies them to `into`, at most `room` bytes; NULL for none. With signals held back. */
uint32_t value_open_copy(const struct thread *t, const struct dwell_chunk_header *chunk, uint32_t used, char *into,
                         uint32_t room);

#pragma GCC visibility pop

#endif
