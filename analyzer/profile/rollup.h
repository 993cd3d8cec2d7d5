/*
 * The four times of everything a report can have a row for, computed from the profile's call tree by the one
 * rule of the time model: an interval counts once for each thing that is on the stack, however often.
 */
#ifndef DWELL_PROFILE_ROLLUP_H
#define DWELL_PROFILE_ROLLUP_H

#include "profile/profile.h"

/* The tree with its children in lists and its inclusive times; order of the entries as in the profile. */
struct rollup {
    const struct profile *profile;
    struct times *nodes;
    uint32_t *first_child, *sibling; /* PROFILE_NONE ends a list */
    struct times session;            /* the sums over the threads' roots */
};

struct rollup *rollup_new(const struct profile *profile);
void rollup_free(struct rollup *r);

enum rollup_by { BY_FUNCTION, BY_MODULE, BY_THREAD, BY_PROCESS, BY_LINE };

/* How many groups there are, and the times of each: indexed as profile->functions, ->modules or ->threads,
 * as `processes` of rollup_process_list, or as ->sites, with one more behind them for calls of unknown site. To be
 * freed by the caller. */
size_t rollup_group_count(const struct rollup *r, enum rollup_by by);
struct times *rollup_groups(const struct rollup *r, enum rollup_by by);

/* The processes' serial numbers, ascending; to be freed by the caller. */
uint32_t *rollup_process_list(const struct profile *profile, size_t *count);

/* One function's neighbours. A caller's values are the function's own when it was called from there; a
 * callee's are its own when it was called from the function. */
struct neighbour {
    uint32_t function; /* PROFILE_NONE as a caller: it was the first on its thread's stack */
    uint32_t site; /* of the calls, where the profile has sites: there may be several neighbours of one function then */
    struct times times;
};
struct neighbours {
    struct neighbour *callers, *callees;
    size_t caller_count, callee_count;
};
struct neighbours rollup_neighbours(const struct rollup *r, uint32_t function);
void neighbours_free(struct neighbours *n);

/* A tree in which the threads' trees lie on each other: call paths of the whole session. To be freed by
 * profile_free; its only thread has the serial numbers zero. */
struct profile *rollup_join_threads(const struct profile *profile);

/* The same of one process. Its modules and functions have the numbers that they have in `profile`. */
struct profile *rollup_join_process(const struct profile *profile, uint32_t process);

#endif
