/*
 * Sums over the profile's call tree: the values of functions, modules, threads, processes, lines, callers and callees.
 * They follow one rule of the time model: an interval counts once for each entry on the stack, however often the entry
 * is there.
 */
#ifndef DWELL_PROFILE_ROLLUP_H
#define DWELL_PROFILE_ROLLUP_H

#include "profile/profile.h"

/* The call tree with lists of children and with inclusive times. The entries are in the profile's order. */
struct rollup {
    const struct profile *profile;
    struct times *nodes;
    uint32_t *first_child, *sibling; /* PROFILE_NONE ends a list */
    struct times session;            /* the sums over the threads' roots */
};

struct rollup *rollup_new(const struct profile *profile);
void rollup_free(struct rollup *r);

enum rollup_by { BY_FUNCTION, BY_MODULE, BY_THREAD, BY_PROCESS, BY_LINE };

/* The number of groups and the values of each. Groups have the indices of profile->functions, ->modules, ->threads,
 * ->sites, or the list of rollup_process_list. One more group after the sites is for calls of unknown site. The caller
 * frees the array. */
size_t rollup_group_count(const struct rollup *r, enum rollup_by by);
struct times *rollup_groups(const struct rollup *r, enum rollup_by by);

/* The processes' serial numbers in ascending order. The caller frees the array. */
uint32_t *rollup_process_list(const struct profile *profile, size_t *count);

/* One function's neighbours: its callers and callees. A caller's values are those of the function when this caller
 * called it. A callee's values are its own when the function called it. */
struct neighbour {
    uint32_t function; /* PROFILE_NONE as a caller if the function was the first on its thread's stack */
    uint32_t site;     /* of the calls; a profile with sites can have several neighbours of one function */
    struct times times;
    struct durations *durations;       /* of the completed calls, if the profile has them */
    unsigned reported;                 /* number of rows that an imported report has for it */
    const struct dwell_stated *stated; /* the columns of that row if there is one, else NULL */
};
struct neighbours {
    struct neighbour *callers, *callees;
    size_t caller_count, callee_count;
};
struct neighbours rollup_neighbours(const struct rollup *r, uint32_t function);
void neighbours_free(struct neighbours *n);

/* A profile in which the trees of all threads are merged into one. Its only thread has the serial numbers zero. The
 * caller frees it with profile_free. */
struct profile *rollup_join_threads(const struct profile *profile);

/* The same for one process. Modules and functions keep the numbers of `profile`. */
struct profile *rollup_join_process(const struct profile *profile, uint32_t process);

#endif
