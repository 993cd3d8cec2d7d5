/*
 * Calls that are open where a chunk begins or ends. A worker that reads a chunk alone sees only a part of them. The
 * parts of all chunks of a thread are put together in the order of the chunks, by the rules of trace/timeline_lane.c.
 */
#ifndef DWELL_PROFILE_CALL_PARTS_H
#define DWELL_PROFILE_CALL_PARTS_H

#include "profile/path_probes.h"

/* The part of a call in a chunk; or, while the parts are put together, an open call. */
struct call_part {
    uint64_t function;   /* address */
    uint64_t enter_time; /* as in the format, at the chunk's beginning; in that of a call that began here, at its end */
    uint64_t begin, end; /* when the call began and ended, if that was in the chunk */
    uint32_t path;
    bool entered, ended;
    struct call_amounts own, below;
};

/* One chunk. */
struct chunk_parts {
    struct call_part
        *calls; /* those open at its beginning, outermost first, then those that began in it and are open */
    uint32_t count, inherited, kept; /* in all; open at the beginning; of these, open at the end */
    uint64_t delay;                  /* ticks by which pauses moved the enter times of all kept calls */
    uint64_t last;                   /* time of the last event */
    bool read, paused;               /* it could be read; it ended in a pause */
};

/* Gets a call that ended in the chunk, and its caller or NULL. Returns false to stop. */
typedef bool call_part_taker(void *context, const struct trace_chunk *chunk, const struct call_part *call,
                             const struct call_part *caller);

/* Puts the parts of all chunks together. `parts` is by chunk. Only calls whose enter and end were recorded are passed
 * to `take`. */
void call_parts_join(const struct session_file *file, const struct chunk_parts *parts, const uint32_t *order,
                     call_part_taker *take, void *context);

#endif
