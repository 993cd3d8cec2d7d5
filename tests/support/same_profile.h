/* Whether two profiles are the same, whatever the order of their entries. */
#ifndef DWELL_TESTS_SAME_PROFILE_H
#define DWELL_TESTS_SAME_PROFILE_H

#include "profile/profile.h"

/* Fails the test unless `p` is the profile of the session in that file. */
void check_same_profile(const struct profile *p, const char *path);

#endif
