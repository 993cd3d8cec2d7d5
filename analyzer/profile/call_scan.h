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

/* The elapsed inclusive time of a completed call, in 1/256 ticks, and when the call ended, in ticks. */
struct call_amount {
    uint64_t time, end;
    uint32_t path, function; /* as in struct finished_call */
};

/* Gets some of them at once. */
typedef void call_amounts_taker(void *context, const struct call_amount *amounts, size_t count);

/* The same as calls_scan, in fewer steps, for views that need no other time. */
void calls_scan_elapsed(const struct calls_source *source, uint32_t function, unsigned jobs, call_amounts_taker *take,
                        void *const *contexts);

#endif
