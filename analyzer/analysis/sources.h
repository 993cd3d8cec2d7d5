/* The source files of a session's functions, each once. */
#ifndef DWELL_ANALYSIS_SOURCES_H
#define DWELL_ANALYSIS_SOURCES_H

#include "analysis/analysis.h"

struct sources {
    const char **paths; /* ascending, but number 0 is NULL: unknown */
    size_t count;       /* number 0 included */
    uint32_t *of;       /* by function: its file's number */
};

struct sources sources_of(const struct analysis *session);
void sources_drop(struct sources *sources);

#endif
