/*
 * Who called whom, with all values at once: what rollup_neighbours tells of one function, for all functions of one
 * process in one pass over its call tree.
 */
#ifndef DWELL_PROFILE_EDGES_H
#define DWELL_PROFILE_EDGES_H

#include "profile/rollup.h"

struct called {
    struct times times;
    /* Inclusive times of every call, where `times` has those of the outermost alone: what an average is taken of. */
    uint64_t every_elapsed, every_application;
    bool every_known;
};

struct edge {
    uint32_t caller; /* PROFILE_NONE: the callee was the first on its thread's stack */
    uint32_t callee;
    struct called
        of_callee;         /* the callee's values when it was called from there: outermost among calls of the callee */
    struct called of_edge; /* the same, but outermost among calls from that caller; nothing where there is no caller */
};

struct edges {
    struct called *functions; /* as many as the profile has */
    bool *seen;               /* by function: whether it is on any call path of the process */
    struct edge *list;
    size_t count, room;
};

/* Of the process of that serial number. */
struct edges edges_of_process(const struct rollup *r, uint32_t process);
void edges_free(struct edges *e);

#endif
