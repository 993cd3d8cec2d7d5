/* Where threads waited: a row for each function in which threads were blocked and the function that called it. */
#ifndef DWELL_TABLES_WAIT_ROWS_H
#define DWELL_TABLES_WAIT_ROWS_H

#include "tables/views.h"

/*
 * A row is a call of the operating system, or a function that was blocked itself, with its caller: the innermost open
 * function that is not such a call. Its values are those of all such calls, also of those that were not blocked. They
 * have no callees, so inclusive values equal the exclusive ones. The column threads_percent is the blocked time in
 * percent of the elapsed time of the threads that were blocked there. The rows are not sorted.
 */
struct table wait_rows(const struct analysis *analysis);

/* By function, whether it only passes a wait on: calls of the operating system, and functions of the standard library
 * such as std::mutex::lock. The caller frees the list. */
bool *wait_find_wrappers(const struct profile *p, const struct function_name *names);

#endif
