/* The views of a critical path: its functions, its segments, and the threads. */
#ifndef DWELL_CAUSES_CRITICAL_ROWS_H
#define DWELL_CAUSES_CRITICAL_ROWS_H

#include "causes/critical.h"
#include "tables/table.h"

/* The rows of the functions are sorted, the longest first; the others are in order of time. */
struct table view_critical_functions(const struct analysis *analysis, const struct critical_path *p);
struct table view_critical_segments(const struct analysis *analysis, const struct critical_path *p);
struct table view_critical_threads(const struct analysis *analysis, const struct critical_path *p);

/* "critical path: 12.5 ms, from 0 ns to 12.5 ms, ends on main". The caller frees it. */
char *critical_heading(const struct analysis *analysis, const struct critical_path *p);

extern const struct column view_critical_function_columns[], view_critical_segment_columns[],
    view_critical_thread_columns[];
extern const size_t view_critical_function_count, view_critical_segment_count, view_critical_thread_count;

#endif
