/* Free chunks of a session: found, made, and offered to its writers (offers.h). */
#ifndef DWELL_RECORDER_KEEP_SPACE_H
#define DWELL_RECORDER_KEEP_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session.h"

struct keep_space {
    const struct session *session;
    int fd;
    struct keep_chunk {
        uint64_t offset;
        uint32_t size;
        bool changed; /* the header is not that of a chunk of this size that nobody has */
    } * chunks;       /* that nobody has */
    size_t count, room;
    uint64_t freed;      /* bytes of those that have become free now, which are not among them */
    uint32_t *processes; /* that the session has, sorted */
    size_t process_count, process_room;
    uint32_t next_process; /* of the session, at the beginning */
};

/* Finds the free chunks that nobody has. Those of the processes in the sorted list become free. */
void keep_space_begin(struct keep_space *s, const struct session *session, int fd, const uint32_t *gone, size_t count);

/* Makes a chunk free. The second reads its size, as a reader may have trimmed it. */
void keep_space_free(struct keep_space *s, uint64_t offset, uint32_t size);
void keep_space_free_chunk(struct keep_space *s, uint64_t offset);

/* Notes which processes the session has. One that began later is among them. */
void keep_space_add_process(struct keep_space *s, uint32_t serial);
void keep_space_sort_processes(struct keep_space *s);
bool keep_space_has_process(const struct keep_space *s, uint32_t serial);

/* Joins neighbours, and offers the largest chunks. Returns the bytes of the others. Stores in page 0 how much is free.
 */
uint64_t keep_space_offer(struct keep_space *s);

void keep_space_end(struct keep_space *s);

#endif
