/* Which settings of --keep have named an activity of trace events. Behind the settings in the keep chunk, there is a
 * byte for each of them, which is not zero then: any process may store it without a lock. */
#ifndef DWELL_KEEP_NAMED_H
#define DWELL_KEEP_NAMED_H

#include "dwell/format.h"

enum { KEEP_NAMED_AT = sizeof(struct dwell_keep), KEEP_CHUNK_USED = KEEP_NAMED_AT + DWELL_KEEP_WATCHES };

_Static_assert(KEEP_CHUNK_USED <= DWELL_UNIT, "a keep chunk is one unit");

/* Where that byte is in the session, of a watch with this index. */
static inline uint64_t keep_named_at(uint64_t keep, uint32_t index)
{
    return keep + KEEP_NAMED_AT + index;
}

#endif
