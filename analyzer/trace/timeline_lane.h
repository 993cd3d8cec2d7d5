/*
 * The lane of a thread in a timeline: reads its chunks one after the other, keeps its open calls, and reports events to
 * the consumer of the timeline. timeline.c sorts the lanes by time.
 */
#ifndef DWELL_TRACE_TIMELINE_LANE_H
#define DWELL_TRACE_TIMELINE_LANE_H

#include "base/index.h"
#include "trace/chunk_window.h"
#include "trace/set_aside.h"
#include "trace/stack.h"
#include "trace/timeline.h"

/* The next step of a lane. */
enum lane_next { NEXT_EVENT, NEXT_CHUNK, NEXT_END };

struct timeline_lane {
    struct timeline_thread shown;
    size_t room;            /* of the stack */
    const uint32_t *chunks; /* of the file, by sequence number */
    size_t chunk_count, next_chunk;
    const struct trace_chunk *chunk;
    struct chunk_window window; /* of the current chunk */
    struct decoder decoder;
    enum lane_next next;
    enum decoded event; /* decoded, and not reported yet */
    uint64_t key;       /* time of the next event, chunk or end */
    bool follows;       /* the current chunk directly follows the previous one, which did not end in a pause */
    struct stack_state state;
    struct timeline_sums sums; /* of all intervals so far */
    bool blind;                /* the thread has no source of OS events */
    uint64_t interval;
    bool unreported;            /* no event was reported that ends the interval */
    struct number_index *slots; /* function -> index of open */
    uint32_t *innermost;        /* by slot: 1 + the index of the function's innermost open call, or zero */
    size_t slot_count, slot_room;
};

struct timeline {
    const struct session_file *file;
    timeline_taker *take;
    timeline_plain_taker *plain; /* or NULL */
    void *context;
    uint64_t last;   /* of all lanes that have ended */
    uint32_t *order; /* chunks by thread and sequence number */
    struct timeline_lane *lanes;
    size_t lane_count;
    struct timeline_lane **heap; /* the one with the earliest event first */
    size_t heap_count;
    struct set_aside *set_aside; /* by process */
    struct timeline_counts counts;
    bool enough;
    bool no_amounts;             /* as in struct timeline_part */
    struct timeline_event event; /* the event that is being reported */
};

/* Lanes with events at the same time are in the order of the array. */
static inline bool lane_is_before(const struct timeline_lane *a, const struct timeline_lane *b)
{
    return a->key != b->key ? a->key < b->key : a < b;
}

/* Applies and reports the events of the lane that are before those of `next`, or all events if `next` is NULL. Returns
 * false if the lane has no event left. */
bool lane_advance(struct timeline *timeline, struct timeline_lane *lane, const struct timeline_lane *next);

void lane_free(struct timeline_lane *lane);

#endif
