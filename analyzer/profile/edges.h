/*
 * The callers and callees of all functions of one process, with all values, from one pass over the call tree.
 * rollup_neighbours gives them for one function.
 */
#ifndef DWELL_PROFILE_EDGES_H
#define DWELL_PROFILE_EDGES_H

#include "profile/rollup.h"

struct call_sums {
    struct times times;
    /* Inclusive times of all calls, for averages per call. `times` has those of the outermost calls only. */
    uint64_t every_elapsed, every_application;
    bool every_known;
    unsigned reported;                 /* number of rows that an imported report has for them */
    const struct dwell_stated *stated; /* the columns of that row if there is one, else NULL */
};

struct edge {
    uint32_t caller; /* PROFILE_NONE if the callee was the first on its thread's stack */
    uint32_t callee;
    /* The callee's values when this caller called it. Inclusive times are those of outermost calls: in of_callee among
     * all calls of the callee, in of_edge among the calls from this caller. Without a caller, of_edge is empty. */
    struct call_sums of_callee, of_edge;
};

struct edges {
    struct call_sums *functions; /* by function of the profile */
    bool *seen;                  /* by function: whether it is on any call path of the process */
    struct edge *list;
    size_t count, room;
};

/* Finds the edges of the process with that serial number. */
struct edges edges_of_process(const struct rollup *r, uint32_t process);
void edges_free(struct edges *e);

#endif
