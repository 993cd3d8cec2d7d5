/* The calls that were only counted. They have no times and no call paths, so they are in no call tree: a profile has a
 * list of them beside it, and sums over functions, modules, threads and processes include them. */
#ifndef DWELL_PROFILE_COUNTED_H
#define DWELL_PROFILE_COUNTED_H

#include "profile/profile.h"
#include "profile/selection.h"

/* Adds the counted calls of the session's selected threads to a profile. None if only ranges of time are selected, as
 * it is unknown when the calls were made. */
void counted_collect(struct profile *p, const struct session_file *file, const struct selection *selection);

/* Adds the calls of a function on a thread: one of the profile, by its index, or one by its serial numbers, which is
 * added if needed. */
void counted_add(struct profile *p, uint32_t thread, uint32_t function, uint64_t calls);
void counted_add_on(struct profile *p, uint32_t process, uint32_t thread, uint32_t function, uint64_t calls);

/* Copies the calls of the functions that are set in `functions`, or all if it is NULL. The two profiles have the same
 * functions. */
void counted_copy(struct profile *into, const struct profile *from, const bool *functions);

/* Adds what was counted since `before`. Functions and threads have the same numbers in all three. */
void counted_add_difference(struct profile *into, const struct profile *now, const struct profile *before);

/* Adds counted calls to the sums of a group. */
void counted_add_to(struct times *sums, uint64_t calls);

/* The number of functions that have counted calls, or of modules if the profile has only their sums. */
size_t counted_functions(const struct profile *p);

/* The calls of a function by how they are known. */
struct counted_calls {
    uint64_t timed, counted;
    bool recorded, sampled; /* paths with its calls; samples in it */
};
struct counted_calls counted_calls_of(const struct profile *p, uint32_t function);

#endif
