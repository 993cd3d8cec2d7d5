/* What holds of a thread's whole tree, and is known when all of it has been read. */
#ifndef DWELL_PROFILE_THREADS_H
#define DWELL_PROFILE_THREADS_H

#include "profile/profile.h"
#include "trace/session_file.h"

/* What time passed when a thread had no function open belongs to none. */
void threads_take_outside(struct profile *p);

/* Whether the OS worked is not known of a thread without a source: none of its time is called application. */
void threads_flag_blind(struct profile *p, const struct session_file *file);

#endif
