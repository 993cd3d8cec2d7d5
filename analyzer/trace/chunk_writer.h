/* Writes chunks of a session that no runtime writes: data or records, one after another. */
#ifndef DWELL_TRACE_CHUNK_WRITER_H
#define DWELL_TRACE_CHUNK_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session.h"

struct chunk_writer {
    const struct session *session;
    int fd;
    uint8_t *chunk; /* the chunk being filled */
    size_t room;    /* of it in memory, as most chunks stay far below their size */
    uint32_t size, used;
    struct dwell_chunk_header head;
    bool failed;
};

/* A string of a record. Longer ones than CHUNK_LONGEST_TEXT are cut. */
struct chunk_text {
    const void *at;
    size_t length;
};
enum { CHUNK_LONGEST_TEXT = 32000, CHUNK_MOST_TEXTS = 8 };
struct chunk_text chunk_text_of(const char *text); /* NULL is empty */

/* Chunks have `size` bytes at most. chunk_writer_end returns false if anything could not be written. */
struct chunk_writer chunk_writer_begin(const struct session *session, int fd, enum dwell_chunk_kind kind,
                                       uint32_t process, uint32_t size);
bool chunk_writer_end(struct chunk_writer *w);

/* Data stays whole within a chunk. */
void chunk_writer_add(struct chunk_writer *w, const void *data, size_t size);
/* A record of `size` bytes before its strings. The writer sets the record's size. */
void chunk_writer_add_record(struct chunk_writer *w, const void *fixed, size_t size, const struct chunk_text *texts,
                             size_t count);

#endif
