/* What all threads together did in each short time of a long run: a column for a second or more, a cell for a fiftieth
 * of it. It shows rhythms that a timeline of the whole run hides, such as work each 100 ms. */
#ifndef DWELL_VIEW_HEAT_MAP_H
#define DWELL_VIEW_HEAT_MAP_H

#include <stdbool.h>

#include "view/activity.h"

enum { HEAT_CELLS = 50 /* of a column */, HEAT_COLUMNS = 4 /* of the table */ };

struct heat_row {
    uint32_t cell;
    uint64_t cpu, blocked, preempted;
};

struct heat_map {
    uint64_t width;            /* of a cell, in ticks */
    size_t cells;              /* zero: the run is too short for a map */
    struct activity_bin *bins; /* by cell */
    struct heat_row *rows;     /* of the cells that are not zeros; heat_map_finish makes them */
    size_t row_count, room;
    struct container_column columns[HEAT_COLUMNS];
};

/* `length` is that of the timeline, in ticks. */
void heat_map_begin(struct heat_map *h, uint64_t length, uint64_t ticks_per_second);

/* Adds a time in which a thread was in a call, and the parts of it in which it was off the CPU. Times count from the
 * beginning of the timeline. */
void heat_map_add_calls(struct heat_map *h, uint64_t begin, uint64_t end);
void heat_map_add_off_cpu(struct heat_map *h, bool preempted, uint64_t begin, uint64_t end);

/* Makes time on the CPU of the time in calls. Nothing is added later. */
void heat_map_finish(struct heat_map *h);

struct container_table heat_map_table(struct heat_map *h);
void heat_map_drop(struct heat_map *h);

#endif
