/*
 * Chunks that are still written to: how much of one can be understood already, and how the thread's calls stand after
 * that, so that reading goes on there later.
 */
#ifndef DWELL_TRACE_UNFINISHED_H
#define DWELL_TRACE_UNFINISHED_H

#include "trace/session_file.h"

/* How a thread stands between two events. */
struct stand {
    uint64_t time; /* of the last event */
    uint32_t upper[2];
    struct dwell_frame *frames; /* the open calls, outermost first */
    uint32_t depth;
    size_t room;
    bool paused;
};

void stand_free(struct stand *s);

/* That of the chunk's first event; `bytes`: its beginning, frames included. */
void stand_begin(struct stand *s, const struct trace_chunk *chunk, const uint8_t *bytes);

/* How many bytes of the records are there wholly: all up to the first that is missing, or may be, which is at *stop. A
 * control event with nothing behind it may be stored in part: it counts if `quiet`, when nothing came for a while. */
uint32_t unfinished_length(const uint8_t *records, uint32_t size, bool quiet, uint32_t *stop);

/* Follows the records. False: they are damaged. */
bool stand_follow(struct stand *s, const uint8_t *records, uint32_t size);

/* A chunk of its own of those records, which begins as the thread stands: to be freed by the caller, with the padding
 * that session_file_read_chunk wants. *chunk is that chunk, with its bytes at hand. */
uint8_t *unfinished_part(const struct stand *s, const uint8_t *records, uint32_t size, struct trace_chunk *chunk);

#endif
