/* Functions of libraries that take much of the program's time, and whose calls `dwell record --calls-to` would record.
 * Samples know of them. */
#ifndef DWELL_ANALYSIS_LIBRARY_ADVICE_H
#define DWELL_ANALYSIS_LIBRARY_ADVICE_H

#include "analysis/analysis.h"

struct library_advised {
    char *name;        /* as the program calls it, for people */
    uint32_t function; /* the first of those that it led to */
    uint64_t time;     /* ticks, with what it calls: of the CPU, or elapsed if CPU times are unknown */
    uint32_t caller;   /* the one that gets most of it */
    uint32_t callers;
    char *pattern; /* for --calls-to */
};

struct library_advice {
    struct library_advised *list; /* those that take most first */
    size_t count;
    uint64_t own; /* the program's time */
};

struct library_advice library_advice_of(const struct analysis *analysis);
void library_advice_drop(struct library_advice *a);

#endif
