/* The source files of a session's functions, each once. */
#ifndef DWELL_EXPORT_SOURCES_H
#define DWELL_EXPORT_SOURCES_H

#include "report/views.h"

struct export_sources {
    const char **paths; /* ascending, but number 0 is NULL: unknown */
    size_t count;       /* number 0 included */
    uint32_t *of;       /* by function: its file's number */
};

struct export_sources export_sources_of(const struct loaded *session);
void export_sources_drop(struct export_sources *sources);

#endif
