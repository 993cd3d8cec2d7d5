/* Functions whose probes had another level than timed during a part of the recording (docs/levels.md). */
#ifndef DWELL_ANALYSIS_LEVEL_CHANGES_H
#define DWELL_ANALYSIS_LEVEL_CHANGES_H

#include "analysis/summary.h"
#include "trace/session_file.h"

/* "timed", "out" and so on. */
const char *level_name(uint32_t level);

/* A function of which a budget has decided the level, in all processes that have its module. */
struct level_change {
    uint32_t process, level; /* serial number of that of the last change; enum dwell_level_of_probes since then */
    uint64_t function;       /* its address there */
    uint64_t first, last;    /* times of the first change and of the last one */
    uint64_t changes;
    uint64_t calls, mean; /* at the last decision: see struct trace_decision */
};

struct level_changes {
    struct level_change *decided; /* those with most calls first */
    size_t decided_count;
    const struct trace_level **others; /* the changes of other functions, by time */
    size_t other_count;
};

/* The changes of a session. The caller drops them. */
struct level_changes level_changes_of(const struct session_file *file);
void level_changes_drop(struct level_changes *changes);

/* Whether a function of that name, with or without its parameters, was not timed for the whole run. */
bool level_changes_have(const struct session_file *file, const char *name);

/* Adds a remark that names functions which were not timed for the whole run, if there are any. `counted`: another
 * remark is about functions whose calls were counted, or no call was. */
void level_changes_remark(struct summary *summary, const struct session_file *file, bool counted);

#endif
