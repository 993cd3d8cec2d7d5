/* Corrections to the trees of threads, once all chunks of a session have been read. */
#ifndef DWELL_PROFILE_THREADS_H
#define DWELL_PROFILE_THREADS_H

#include "profile/profile.h"
#include "trace/session_file.h"

/* Moves the time in which a thread had no open function from the roots to counts.outside. */
void threads_take_outside(struct profile *p);

/* Whether the thread has no source of OS events. False for NULL. */
bool threads_is_blind(const struct trace_thread *t);

/* By node, whether its thread has no source of OS events. The caller frees the array. */
bool *threads_find_blind(const struct profile *p, const struct session_file *file);

/* Flags all time of the threads without a source of OS events, so that none of it counts as application time. */
void threads_flag_blind(struct profile *p, const struct session_file *file);

#endif
