/* Single calls, as they end, in the order of time: for what sums do not tell. */
#ifndef DWELL_PROFILE_CALLS_H
#define DWELL_PROFILE_CALLS_H

#include "profile/profile.h"
#include "profile/selection.h"
#include "trace/session_file.h"

/* The four times, of one call. */
enum call_time {
    CALL_ELAPSED_INCLUSIVE,
    CALL_ELAPSED_EXCLUSIVE,
    CALL_APPLICATION_INCLUSIVE,
    CALL_APPLICATION_EXCLUSIVE,
    CALL_TIMES,
};

struct finished_call {
    uint32_t function, caller;           /* of the profile; no caller: PROFILE_NONE */
    uint32_t process, thread;            /* serial numbers */
    uint64_t begin;                      /* when it was entered, in ticks */
    uint64_t times[CALL_TIMES], blocked; /* ticks */
};

/* False: enough. */
typedef bool call_taker(void *context, const struct finished_call *call);

/* Follows the calls that were entered and left while recorded, and that ended in the selected part of the session; NULL
 * selects the whole. A session of mode profile has no calls. */
void calls_follow(const struct session_file *file, const struct profile *profile, const struct selection *selection,
                  call_taker *take, void *context);

#endif
