/* The open calls of a collector, whether events are in its selection, and the waits in its intervals. Only collector.c
 * includes it. */
#ifndef DWELL_PROFILE_COLLECTOR_CALLS_H
#define DWELL_PROFILE_COLLECTOR_CALLS_H

#include "profile/collector.h"
#include "profile/waits.h"

struct collector_call {
    uint32_t node;
    uint64_t enter_time;
};

static inline struct profile_node *collector_top(const struct collector *w)
{
    return &w->profile->nodes[w->stack[w->depth - 1].node];
}

/* Whether an event that ends the current interval is in the selection. */
static inline bool collector_holds(const struct collector *w, uint64_t time)
{
    if (!w->ranges)
        return selection_holds(w->selection, time);
    size_t i = w->next_range;
    while (i < w->range_count && w->ranges[i].end <= time)
        i++;
    return i < w->range_count && w->ranges[i].begin <= time;
}

/* ---- waits ---- */

static inline struct wait_place collector_place(const struct collector *w, uint64_t begin, uint64_t end)
{
    return (struct wait_place){ begin, end, w->chunk->process, w->chunk->thread, w->stack[w->depth - 1].node };
}

static inline void collector_add_wait(const struct collector *w, const struct decoded_extras *extras, uint64_t begin,
                                      uint64_t end, uint64_t blocked)
{
    const struct wait_place place = collector_place(w, begin, end);
    waits_add(w->waits, &place, extras, blocked);
}

static inline void collector_answer(const struct collector *w, uint64_t begin, uint64_t end)
{
    const struct wait_place place = collector_place(w, begin, end);
    waits_answer(w->waits, &place);
}

#endif
