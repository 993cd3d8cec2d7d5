/* Which thread made each thread of a session. */
#ifndef DWELL_CAUSES_THREAD_ORIGINS_H
#define DWELL_CAUSES_THREAD_ORIGINS_H

#include "causes/wait_causes.h"

/*
 * By index of the file's threads; the thread is zero if its maker is unknown. Recorded creations come first. Without
 * one, the maker is known if only one thread lived then in the process, or in the process that forked it. The caller
 * frees the list.
 */
struct thread_origin *thread_origins_find(const struct session_file *file, const struct wait_causes *causes);

#endif
