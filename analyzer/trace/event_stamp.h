/* TimeStamp of an event: units of 100 ns since 1601-01-01 UTC. */
#ifndef DWELL_TRACE_EVENT_STAMP_H
#define DWELL_TRACE_EVENT_STAMP_H

#include "base/wide.h"
#include "trace/session_file.h"

/* The time from 1601-01-01 to 1970-01-01. */
#define EVENT_STAMP_OF_1970 116444736000000000

/* `time` is in ticks of the session. */
static inline int64_t event_stamp(const struct session_file *file, uint64_t time)
{
    const struct dwell_file_header *h = &file->header;
    const bool before = time < h->start_ticks;
    const uint64_t ticks = before ? h->start_ticks - time : time - h->start_ticks;
    const int64_t ns = (int64_t)multiply_divide(ticks, 1000000000, h->ticks_per_second);
    return ((int64_t)h->start_realtime + (before ? -ns : ns)) / 100 + EVENT_STAMP_OF_1970;
}

#endif
