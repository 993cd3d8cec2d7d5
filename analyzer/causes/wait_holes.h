/* The times in which acts may have happened that a session does not have: events were lost, overwritten or damaged. */
#ifndef DWELL_CAUSES_WAIT_HOLES_H
#define DWELL_CAUSES_WAIT_HOLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/session_file.h"

struct wait_hole {
    uint64_t begin, end; /* ticks */
};

struct wait_holes {
    struct wait_hole *list; /* in the order of time; they do not touch */
    size_t count, room;
};

struct wait_holes wait_holes_find(const struct session_file *file);

/* Whether events of any thread may be missing in that time. */
bool wait_holes_overlap(const struct wait_holes *h, uint64_t begin, uint64_t end);

void wait_holes_drop(struct wait_holes *h);

#endif
