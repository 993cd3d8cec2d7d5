/* Where compared functions are in the source, for formats that name files and lines. */
#ifndef DWELL_REPORT_DIFF_SOURCES_H
#define DWELL_REPORT_DIFF_SOURCES_H

#include "comparison/diff.h"

struct diff_source {
    char *file; /* NULL if unknown */
    uint32_t line;
};

struct diff_sources {
    struct diff_source *of; /* by function of the comparison */
    size_t count, room;
};

/* Adds the places of a session that was added to the comparison. Later sessions replace those of earlier ones. */
void diff_sources_add(struct diff_sources *s, const struct diff *d, const struct analysis *session);
void diff_sources_drop(struct diff_sources *s);

/* The place of a row's function, or of the innermost one of its path. NULL if it is unknown. */
const struct diff_source *diff_source_of(const struct diff_sources *s, const struct diff *d,
                                         const struct diff_row *row);

/* The file relative to the folder of the source: that of GITHUB_WORKSPACE, or the current one. A file elsewhere keeps
 * its path. The result is a part of `file`. */
const char *diff_source_relative(const char *file);

#endif
