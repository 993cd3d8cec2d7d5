/* Makes the profile of a session, on several threads at once. */
#ifndef DWELL_PROFILE_COLLECT_H
#define DWELL_PROFILE_COLLECT_H

#include "profile/profile.h"
#include "profile/selection.h"
#include "trace/session_file.h"

/* How many threads may work, where the user did not say. */
unsigned collect_default_jobs(void);

/* The profile of all events in the file, made by `jobs` threads. */
struct profile *collect_profile(const struct session_file *file, unsigned jobs);

/* Likewise of a part of it; NULL: of the whole. */
struct profile *collect_selection(const struct session_file *file, unsigned jobs, const struct selection *selection);

/* The same, with calls from different places on different paths, where call sites were recorded. */
struct profile *collect_sites(const struct session_file *file, unsigned jobs, const struct selection *selection);

#endif
