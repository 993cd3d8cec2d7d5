/* Finds all single calls with several worker threads, in no order: for distributions and extremes. */
#ifndef DWELL_PROFILE_CALL_SCAN_H
#define DWELL_PROFILE_CALL_SCAN_H

#include "profile/calls.h"

/* A function that workers call at the same time, each with a context of its own. */
typedef void call_scan_taker(void *context, const struct finished_call *call);

/* Passes each completed call of the function with that number to `take`; PROFILE_NONE is all functions. There is one
 * context for each of the `jobs` workers. The calls and their times are those of calls_follow. */
void calls_scan(const struct calls_source *source, uint32_t function, unsigned jobs, call_scan_taker *take,
                void *const *contexts);

#endif
