/* The chunks of the rings of a session that keeps windows of slow calls, and the times of their events. */
#ifndef DWELL_RECORDER_KEEP_RINGS_H
#define DWELL_RECORDER_KEEP_RINGS_H

#include "trace/chunk_window.h"
#include "trace/session_file.h"

/* By kind, thread and number. */
struct keep_rings {
    const struct trace_chunk **list;
    size_t count;
    bool live;                  /* threads may add to their last chunks */
    struct chunk_window window; /* to read them */
};

struct keep_rings keep_rings_find(const struct session_file *file, bool live);

/* The chunks of values alone. keep_rings_end is not for these. */
struct keep_rings keep_rings_of_values(const struct session_file *file);

/* Where the events of chunk `i` of the list end: where the next one of its thread begins. UINT64_MAX if the thread may
 * add to it. */
uint64_t keep_rings_end(const struct session_file *file, struct keep_rings *r, size_t i);

/* The same for chunk `i` of values. UINT64_MAX for the last one of its thread. */
uint64_t keep_values_end(const struct keep_rings *r, size_t i);

void keep_rings_free(struct keep_rings *r);

#endif
