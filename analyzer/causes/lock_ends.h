/* Locks of files that the end of a process has released: nobody has unlocked them. */
#ifndef DWELL_CAUSES_LOCK_ENDS_H
#define DWELL_CAUSES_LOCK_ENDS_H

#include "profile/waits.h"
#include "trace/session_file.h"

struct lock_ends {
    const struct session_file *file;
    struct profile_act *taken; /* calls that took a lock, which their process did not release later */
    size_t count;
};

struct lock_end {
    bool unsure;     /* it is not known whether that, or the last act, ended the wait */
    uint32_t thread; /* serial number of the first thread of the process that ended; zero if none did */
    uint64_t time;   /* ticks, within the wait */
};

/* Moves the calls that took a lock out of the acts. */
struct lock_ends lock_ends_begin(const struct session_file *file, struct waits *acts);

/* The end of a process that held the lock of a file for which a thread waited. `last`: the act that came last on this
 * lock, or NULL. */
struct lock_end lock_ends_find(const struct lock_ends *ends, const struct profile_wait *wait,
                               const struct profile_act *last);

void lock_ends_drop(struct lock_ends *ends);

#endif
