/* The state of a timeline that is made for the page, which page_timeline.c and plain_calls.c share. */
#ifndef DWELL_VIEW_TIMELINE_LANES_H
#define DWELL_VIEW_TIMELINE_LANES_H

#include "analysis/order.h"
#include "profile/resolve.h"
#include "trace/timeline.h"
#include "trace/timeline_plain.h"
#include "view/activity.h"
#include "view/blocks.h"
#include "view/heat_map.h"
#include "view/timeline_range.h"

struct view_open_call {
    uint64_t start;
    int32_t rank; /* of the function, or ZOOM_MERGED */
    bool root;    /* the function is the one that --root names */
};

/* The open calls of a thread. */
struct view_lane {
    struct view_open_call *stack;
    size_t depth, room;
    unsigned roots; /* number of root calls on the stack */
    uint32_t deepest;
    uint32_t process;
    uint64_t start; /* its first event */
    uint64_t end;   /* the thread's last event is not later */
    /* Intervals in calls that follow each other, which are added to the bins at once; none if both are equal. */
    uint64_t calls_begin, calls_end;
    bool seen, ended;
};

enum { VIEW_PLACE_BITS = 8 };

/* The function at an address. */
struct view_place {
    uint64_t key;            /* generations_address */
    uint32_t process_plus_1; /* zero: none */
    int32_t rank;            /* as in struct view_open_call */
};

struct view_timeline {
    const struct analysis *session;
    const struct order *order;
    struct timeline_range range;
    struct resolver *resolver;
    struct view_place places[1 << VIEW_PLACE_BITS]; /* of the functions called last, by a hash of the key */
    struct zooms *zooms;
    struct activity *activity;
    struct heat_map *heat;
    struct number_index *numbers;  /* (thread, process) -> 1 + lane, or 0 if it has no lane */
    struct timeline_thread latest; /* the thread of the last event, and its lane or NULL */
    struct view_lane *latest_lane;
    struct view_lane *lanes; /* in the order of the threads */
    size_t live, sweep_at;   /* number of lanes not ended yet; at `sweep_at`, idle lanes are ended */
};

/* The rank of the function that is at the address. */
static inline int32_t view_timeline_rank(const struct view_timeline *f, uint32_t function)
{
    return function == PROFILE_NONE ? ZOOM_MERGED : (int32_t)f->order->ranks[function];
}

/* Adds the intervals in calls that were not added to the bins yet. */
void view_timeline_flush_calls(struct view_timeline *f, struct view_lane *lane);

/* For the timeline: takes over runs of plain events, but not the first event of a thread. */
void view_timeline_add_plain(void *context, struct timeline_plain *run);

#endif
