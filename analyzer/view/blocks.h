/* The stretches of a timeline's levels, packed one by one: a page opens those that it shows. */
#ifndef DWELL_VIEW_BLOCKS_H
#define DWELL_VIEW_BLOCKS_H

#include "view/container.h"
#include "view/levels.h"

/* Rows of a lane: times off the CPU, then calls by their depth. */
enum { ROW_BLOCKED, ROW_PREEMPTED, ROW_CALLS };

struct blocks {
    struct packed *list;
    size_t count, room;
    size_t bytes;               /* that they take in a page */
    struct json_object *levels; /* where the blocks of each are */
    bool whole;                 /* the finest blocks hold every single call */
};

/* Levels from the coarsest on, as long as all of one find room in `most` bytes; `begin` is where the timeline begins,
 * in ticks since the session did. */
void blocks_make(struct blocks *blocks, const struct levels *levels, uint64_t begin, size_t most);

#endif
