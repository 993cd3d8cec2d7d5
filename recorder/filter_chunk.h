/* Chunks of a session that list functions by module, for the runtime: filters, and levels of probes. */
#ifndef DWELL_RECORDER_FILTER_CHUNK_H
#define DWELL_RECORDER_FILTER_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwell/format.h"
#include "session.h"

struct filter_chunk_module {
    const char *path;
    const uint8_t *build_id;
    size_t build_id_length;
    const struct dwell_filter *functions;
    size_t count;
};

/* Writes a chunk with these modules, and with `pattern` unless that is NULL. `head` has the rest; its size, magic,
 * number of modules and length of the pattern are set here. Returns the chunk's offset, or zero if there is no room.
 * Safe in any thread of dwell. */
uint64_t filter_chunk_write(struct dwell_filters *head, const struct filter_chunk_module *modules, size_t count,
                            const char *pattern, const struct session *session, int fd);

/* The size of such a chunk. The second one writes it into claimed space of head->chunk.size bytes, which may hold an
 * older one; false if that cannot be mapped. */
uint64_t filter_chunk_size(const struct filter_chunk_module *modules, size_t count, const char *pattern);
bool filter_chunk_put(struct dwell_filters *head, const struct filter_chunk_module *modules, size_t count,
                      const char *pattern, const struct session *session, int fd, uint64_t offset);

/* Reads the pattern of a levels chunk, its level and the chunk before. NULL if there is none. The caller frees it. */
char *filter_chunk_read_pattern(int fd, uint64_t offset, uint32_t *level, uint64_t *before);

#endif
