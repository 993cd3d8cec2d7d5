/* Follows single calls in the order in which they end, for views that sums are not enough for. */
#ifndef DWELL_PROFILE_CALLS_H
#define DWELL_PROFILE_CALLS_H

#include "profile/profile.h"
#include "profile/selection.h"
#include "trace/session_file.h"

/* The four times of one call. */
enum call_time {
    CALL_ELAPSED_INCLUSIVE,
    CALL_ELAPSED_EXCLUSIVE,
    CALL_APPLICATION_INCLUSIVE,
    CALL_APPLICATION_EXCLUSIVE,
    CALL_TIMES,
};

struct finished_call {
    uint32_t function, caller;           /* in the profile; the caller is PROFILE_NONE if there is none */
    uint32_t process, thread;            /* serial numbers */
    uint64_t begin;                      /* time of the enter, in ticks */
    uint64_t times[CALL_TIMES], blocked; /* ticks */
};

/* Returns false to stop. */
typedef bool call_taker(void *context, const struct finished_call *call);

/* Passes each call to `take` whose enter and exit were recorded and that ended in the selection. A selection of NULL is
 * the whole session. A session of mode profile has no calls. */
void calls_follow(const struct session_file *file, const struct profile *profile, const struct selection *selection,
                  call_taker *take, void *context);

#endif
