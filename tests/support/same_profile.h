/* Compares two profiles, independently of the order of their entries. */
#ifndef DWELL_TESTS_SAME_PROFILE_H
#define DWELL_TESTS_SAME_PROFILE_H

#include "profile/profile.h"

/* Fails the test unless `p` equals the profile of the session in that file. */
void check_same_profile(const struct profile *p, const char *path);

#endif
