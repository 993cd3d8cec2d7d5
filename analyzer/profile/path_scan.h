/*
 * Finds what threads did in many ranges of their time: the time of each function in each range, exclusive and as
 * measured, by whether the thread worked, was ready to run, or waited. Chunks are read by several workers. Memory
 * depends on the ranges and functions, and not on the number of events.
 */
#ifndef DWELL_PROFILE_PATH_SCAN_H
#define DWELL_PROFILE_PATH_SCAN_H

#include "profile/profile.h"
#include "trace/session_file.h"

struct path_range {
    uint32_t thread;     /* serial number */
    uint64_t begin, end; /* ticks: begin <= time < end */
    uint64_t woken;      /* a wait had been ended by `begin`, but the thread ran only then: blocked time before it is
                          * runnable. Not after `end`; `begin` if there was no such wait */
};

struct path_times {
    uint64_t work, runnable, outside; /* ticks; the last one is blocked time */
};

static inline void path_times_add(struct path_times *into, const struct path_times *from)
{
    into->work += from->work;
    into->runnable += from->runnable;
    into->outside += from->outside;
}

static inline uint64_t path_times_total(const struct path_times *t)
{
    return t->work + t->runnable + t->outside;
}

/* Ticks of a function in a range: work, or runnable time. Amounts of one range follow each other. There are several of
 * one kind if one had more than 32 bits. They are small, as a scan may have tens of millions. */
struct path_amount {
    uint32_t range : 31, runnable : 1;
    uint32_t ticks;
};

struct path_amounts {
    struct path_amount *list;
    size_t count, room;
};

struct path_scan {
    size_t functions;        /* of the profile, and one more for time outside of all functions */
    struct path_times *sums; /* by function */
    uint32_t *longest;       /* by range: the function that took most of it; PROFILE_NONE if nothing was recorded */
    struct path_amounts *amounts; /* by function: each range comes once, in no order */
    uint64_t *outside;            /* by range: ticks */
};

/* Adds up the amounts of the range of list[*next], and moves *next behind them. */
static inline struct path_times path_amounts_next(const struct path_amounts *a, size_t *next, uint32_t *range)
{
    struct path_times sum = { 0 };
    for (*range = a->list[*next].range; *next < a->count && a->list[*next].range == *range; ++*next)
        *(a->list[*next].runnable ? &sum.runnable : &sum.work) += a->list[*next].ticks;
    return sum;
}

struct path_memory;

/* `ranges` are sorted by thread and time, and do not overlap. There are less than 2^31. The profile has all functions
 * of the session. The result has either `longest`, or `amounts` and `outside`; the others are NULL. `memory` is for
 * several scans of a session (path_memory.h), or NULL. */
struct path_scan path_scan_run(const struct session_file *file, const struct profile *profile, unsigned jobs,
                               const struct path_range *ranges, size_t count, bool amounts, struct path_memory *memory);
void path_scan_drop(struct path_scan *s);

#endif
