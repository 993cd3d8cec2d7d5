/* Finds the profile's function for an address in a process at a time, for code that follows single events. */
#ifndef DWELL_PROFILE_RESOLVE_H
#define DWELL_PROFILE_RESOLVE_H

#include "profile/profile.h"
#include "trace/session_file.h"

struct generations;
struct resolver;

/* The file and the profile must outlive the resolver. */
struct resolver *resolver_new(const struct session_file *file, const struct profile *profile);
void resolver_free(struct resolver *r);

/* Returns PROFILE_NONE if the profile does not have the function. */
uint32_t resolver_function(struct resolver *r, uint32_t process, uint64_t address, uint64_t time);

/* The generation of the process' module map at the time. Valid until the next call for the process. */
const struct generations *resolver_generation(struct resolver *r, uint32_t process, uint64_t time);

#endif
