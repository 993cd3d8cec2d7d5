/* The source files of a session's functions, each once. */
#ifndef DWELL_ANALYSIS_SOURCES_H
#define DWELL_ANALYSIS_SOURCES_H

#include "analysis/analysis.h"

struct sources {
    const char **paths; /* in ascending order; number 0 is NULL, for unknown files */
    size_t count;       /* with number 0 */
    uint32_t *of;       /* by function: the number of its file */
};

struct sources sources_of(const struct analysis *session);
void sources_drop(struct sources *sources);

#endif
