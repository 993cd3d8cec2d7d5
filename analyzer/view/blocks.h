/* The blocks of a timeline: the stretches of its zooms, packed one by one, so that a page unpacks only those it shows.
 */
#ifndef DWELL_VIEW_BLOCKS_H
#define DWELL_VIEW_BLOCKS_H

#include "view/container.h"
#include "view/zooms.h"

/* Rows of a lane: two of off-CPU times, then calls by their depth. */
enum { ROW_BLOCKED, ROW_PREEMPTED, ROW_CALLS };

struct blocks {
    struct packed *list;
    size_t count, room;
    size_t bytes;              /* their size in a page */
    struct json_object *zooms; /* by zoom, the numbers of its blocks */
    bool whole;                /* the finest zoom shows every single call */
};

/* Makes the blocks of all zooms from the coarsest on that fit completely into `most` bytes. `begin` is the beginning
 * of the timeline, in ticks since the session's start. The caller frees the list and its elements. */
void blocks_make(struct blocks *blocks, const struct zooms *zooms, uint64_t begin, size_t most);

/* The size of a block in a page. */
size_t blocks_page_size(const struct packed *block);

#endif
