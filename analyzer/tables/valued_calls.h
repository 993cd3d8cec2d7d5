/* Calls of a function with the values by which they are shown, or sums of such calls (mode profile). */
#ifndef DWELL_TABLES_VALUED_CALLS_H
#define DWELL_TABLES_VALUED_CALLS_H

#include "analysis/analysis.h"
#include "tables/calls_by_value.h"
#include "tables/recorded_argument.h"

/* One call, or all of a call path that have the same values. */
struct valued_call {
    const uint64_t *words[BY_ARGUMENTS]; /* NULL if the value could not be read */
    int32_t range[BY_ARGUMENTS];         /* of the value; in the order of the ranges */
    int64_t time;                        /* elapsed inclusive, in 1/256 ticks */
    uint64_t blocked, off_cpu;
    uint64_t calls, longest;           /* ticks */
    const struct durations *durations; /* NULL if they are unknown: those of one call are its time */
};

/* What the calls are shown by. */
struct valued_by {
    struct recorded_argument arguments[BY_ARGUMENTS];
    unsigned count;
    unsigned first, end; /* those that decide now */
};

/* What is known of a function's calls. */
struct valued_calls {
    struct valued_call *calls;
    size_t count, room;
    uint64_t valued;  /* how many calls they are */
    uint64_t without; /* calls without values */
    uint64_t others;  /* mode profile: those of `valued` whose values have no sums of their own */
};

/* Takes the sums of a session of mode profile that was loaded `by_values`. The caller frees `calls`. */
struct valued_calls valued_calls_of_paths(const struct analysis *analysis, const struct valued_by *by);

#endif
