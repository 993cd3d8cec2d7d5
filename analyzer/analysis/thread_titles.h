/* What text shows of threads whose names are equal in their process: "worker#3" is the third of them. Threads have the
 * name of the thread that made them, until they are named. So a thread that has the name of its process' first one is
 * shown by the function that it began with, if one is known. */
#ifndef DWELL_ANALYSIS_THREAD_TITLES_H
#define DWELL_ANALYSIS_THREAD_TITLES_H

#include "analysis/names.h"

/* By thread of the file; NULL for those whose names are enough. thread_titles_free frees them. */
char **thread_titles_find(const struct session_file *file, const struct profile *profile,
                          const struct function_name *names);

/* The same for a session that has not been loaded: reads its events, if any names are equal. */
char **thread_titles_read(const struct session_file *file);
void thread_titles_free(char **titles, const struct session_file *file);

#endif
