/* The profile's function of an address in a process at a time, for whoever follows single events. */
#ifndef DWELL_PROFILE_RESOLVE_H
#define DWELL_PROFILE_RESOLVE_H

#include "profile/profile.h"
#include "trace/session_file.h"

struct resolver;

/* Both must outlive it. */
struct resolver *resolver_new(const struct session_file *file, const struct profile *profile);
void resolver_free(struct resolver *r);

/* PROFILE_NONE: the profile does not hold it. */
uint32_t resolver_function(struct resolver *r, uint32_t process, uint64_t address, uint64_t time);

#endif
