/* Which act has ended each wait. docs/time-model.md says how this is known for each kind of object. */
#ifndef DWELL_CAUSES_WAIT_ACTS_H
#define DWELL_CAUSES_WAIT_ACTS_H

#include "causes/lock_ends.h"
#include "causes/wait_causes.h"
#include "causes/wait_holes.h"

/* The acts of a session, and how far they can be trusted. */
struct wait_acts {
    const struct session_file *file;
    struct waits waits;
    struct wait_holes holes;
    struct lock_ends lock_ends;
    uint64_t close;    /* ticks: acts of two threads that are closer than this may both have ended a wait */
    uint64_t slack;    /* ticks: a thread is ready to be woken so shortly before it leaves the CPU */
    uint32_t *matches; /* by number of a wait: 1 + the number of its act, with MATCH_UNSURE; zero if it has none */
};

/* Nothing is collected yet. */
struct wait_acts wait_acts_begin(const struct session_file *file);

/* All acts have been collected: sorts them, and finds which of these waits each act ended first. */
void wait_acts_match(struct wait_acts *acts, const struct session_file *file, const struct caused_wait *list,
                     size_t count);

/* The act that ended wait number `number` of these. NULL if it is not known for certain. */
const struct profile_act *wait_acts_find(const struct wait_acts *acts, const struct profile_wait *wait, size_t number);

/* The unlock after which a thread went on that a signal had woken, and that waited for the mutex then. NULL if it did
 * not wait for it. */
const struct profile_act *wait_acts_find_unlock(const struct wait_acts *acts, const struct profile_wait *wait);

/* The end of a process that ended the wait for a lock of a file. `last`: the act that would have. */
struct lock_end wait_acts_find_end(const struct wait_acts *acts, const struct profile_wait *wait,
                                   const struct profile_act *last);

/* Whether acts may be missing during the wait. */
bool wait_acts_may_lack(const struct wait_acts *acts, const struct profile_wait *wait);

void wait_acts_drop(struct wait_acts *acts);

#endif
