/* Free chunks that the recorder offers to all writers of a session, as the process that had them has ended. */
#ifndef DWELL_FORMAT_OFFERS_H
#define DWELL_FORMAT_OFFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "session.h"

/* Whether a chunk of `size` bytes is offered. */
bool offers_have(const struct session *session, uint32_t size);

/* Takes a chunk of `size` bytes, a multiple of DWELL_UNIT, and fills it with zeros but for the header of a free chunk.
 * Returns its offset, or zero if there is none. Safe in any thread and process. */
uint64_t offers_take(const struct session *session, int fd, uint32_t size);

/* Offers a free chunk. False if there are too many offers: then nobody has the chunk. */
bool offers_add(const struct session *session, int fd, uint64_t offset, uint32_t size);

/* Writes the header of a free chunk of that owner: a process' number, zero for nobody, or DWELL_OFFERED. */
bool offers_write_free(int fd, uint64_t offset, uint32_t size, uint32_t owner);

/* Takes all offers back. */
void offers_end(const struct session *session);

#endif
