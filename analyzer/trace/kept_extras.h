/* OS events of several intervals, added up and written before the event that ends the last one. */
#ifndef DWELL_TRACE_KEPT_EXTRAS_H
#define DWELL_TRACE_KEPT_EXTRAS_H

#include "trace/event_writer.h"

struct kept_extras {
    bool any;
    uint64_t flagged; /* ticks */
    uint64_t own;     /* the part of them in which the runtime worked, which is written apart */
    uint32_t os_events, page_faults;
    uint8_t *times; /* the records of off-CPU times and of objects, as they are in a chunk */
    size_t length, room, time_count;
};

enum { MAX_KEPT_TIMES = 64 << 10 }; /* bytes, after which kept_extras_are_many says so */

/* Adds the extras of an interval of that length, if the OS intervened in it. */
void kept_extras_add(struct kept_extras *k, const struct decoded_extras *extras, uint64_t length);

/* Whether they should be written soon, as readers keep the extras of an event in memory. */
static inline bool kept_extras_are_many(const struct kept_extras *k)
{
    return k->length > MAX_KEPT_TIMES;
}

/* Writes the extras of an interval of that length, and keeps none. */
void kept_extras_put(struct kept_extras *k, struct event_writer *w, uint64_t length);
void kept_extras_free(struct kept_extras *k);

#endif
