/* The times of a function's calls, and of the code below them, beside the value that each call got. */
#ifndef DWELL_TABLES_SCALING_CALLS_H
#define DWELL_TABLES_SCALING_CALLS_H

#include "analysis/analysis.h"
#include "tables/recorded_argument.h"

struct scaling_time {
    size_t call; /* index in scaling_calls.values; rising in a series */
    double ns;
};

/* The times of one piece of code in the calls. A call without an entry has spent no time there. */
struct scaling_series {
    char *name, *module;
    struct scaling_time *times;
    size_t count, room;
};

enum {
    SERIES_WHOLE, /* the function with all below it, or the function of --total */
    SERIES_OWN,   /* this one and those after it: the own code of the function, and of each function below */
};

/* Calls of one function, of one or more sessions. All zero is none. Of recursive calls, the outermost one counts. */
struct scaling_calls {
    double *values; /* by call */
    size_t count, room;
    struct scaling_series *series;
    size_t series_count, series_room;
    uint64_t valueless;  /* calls without values, or whose value could not be read */
    uint64_t unsuitable; /* calls whose value is no number above zero */
    bool total;          /* the times are those of a function of --total */
    double resolution;   /* nanoseconds: shorter times are those of probes */
};

/* Adds the calls of a session. `total` is a function below whose time is wanted in place of the whole time;
 * PROFILE_NONE if none is. */
void scaling_calls_add(struct scaling_calls *calls, const struct analysis *analysis,
                       const struct recorded_argument *argument, uint32_t total);

void scaling_calls_drop(struct scaling_calls *calls);

#endif
