/* The call trees of a session that was recorded in mode profile. */
#ifndef DWELL_PROFILE_TREES_H
#define DWELL_PROFILE_TREES_H

#include "profile/profile.h"
#include "trace/session_file.h"

/* A profile of all trees in the file; without any, an empty one. */
struct profile *trees_profile(const struct session_file *file);

#endif
