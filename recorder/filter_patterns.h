/* The patterns of filters: read from options and from files. */
#ifndef DWELL_RECORDER_FILTER_PATTERNS_H
#define DWELL_RECORDER_FILTER_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "dwell/format.h"
#include "recorder/filters.h"
#include "symbols/function_pattern.h"

/* Besides the actions of format.h. A timed function needs none, but a pattern can take an earlier level away. */
#define FILTER_ONLY (1u << 31)
#define FILTER_TIMED (1u << 30)
#define FILTER_EARLIER (1u << 29) /* the level is that of an earlier recording */
#define FILTER_NOT_TIMED ((uint32_t)(DWELL_FILTER_OUT | DWELL_FILTER_COUNTED))
#define FILTER_LEVEL (FILTER_NOT_TIMED | FILTER_TIMED)
#define FILTER_SELECTS_NOTHING (FILTER_LEVEL | DWELL_FILTER_KEEP | DWELL_FILTER_HISTOGRAM)

struct filter_pattern {
    struct function_pattern of;
    char *place;         /* begins messages about it */
    uint64_t least_size; /* matches functions with less code; zero for any */
    uint32_t action;
    size_t matches;
};

/* Adds a filter by its name, as in the option, and value. `place` begins the text of the error. After an error, `f` can
 * only be freed. */
bool filters_add(struct filters *f, const char *name, const char *value, const char *place, struct error *error);

/* Reads a filter a line: its name, blanks, its value. Empty lines and lines that begin with # are skipped. */
bool filters_read(struct filters *f, const char *path, struct error *error);

/* Selects the functions that a pattern matches, for filters_write_levels. False if it is no pattern: `f` can then only
 * be freed. */
bool filters_add_selection(struct filters *f, const char *pattern);

#endif
