/*
 * The probes of single calls: how the overhead that was subtracted from a call path is spread over the path's calls.
 * docs/time-model.md describes it. All times here are in 1/256 ticks, and the sum over a path's calls is the path's
 * value to the tick. They are computed modulo 2^64 and read as signed numbers: a call can be shorter than its probes
 * should have been.
 */
#ifndef DWELL_PROFILE_PATH_PROBES_H
#define DWELL_PROFILE_PATH_PROBES_H

#include <math.h>

#include "dwell/format.h"
#include "profile/interval.h"
#include "profile/overhead.h"
#include "trace/session_file.h"

/* Whether samples or counting took a part of any path's time, or functions below it that are known by samples have it.
 */
bool path_probes_are_divided(const struct profile *p);

/* Subtracts from the shortest and the longest call of each path, and from the durations of its calls, what samples and
 * counting took of the path's time, in proportion. Sums of sessions know no more of calls than how long they took. */
void path_probes_shorten_calls(struct profile *p);

/* Parts of a path's time on the CPU: of that outside of flagged intervals, and of that in them. */
struct path_parts {
    double application, flagged;
};

/* One call path. There may be millions. */
struct path_probes {
    uint64_t first;            /* as in struct profile_node */
    uint64_t call;             /* subtracted from each call */
    uint64_t callee;           /* subtracted from a call for each call that it makes */
    struct path_parts lost;    /* what samples and counting took */
    struct path_parts sampled; /* of the rest: what is that of functions below the path that are known by samples */
    uint8_t rest;              /* less than a tick: added to the first call, as the path's overhead was rounded down */
    bool subtracted;           /* the overhead is known, and was subtracted */
    bool held;                 /* the path was held at its off-CPU time: it has no time on the CPU */
    bool idle;                 /* the path has no application time */
};
_Static_assert(DWELL_PROBE_FRACTION <= 256, "a rest has one byte");

/* By node of the profile. After these comes one for each thread of the file, and one for an unknown thread: they are
 * for paths that the profile does not have, as they are outside the selection. */
struct path_probes_table {
    struct path_probes *paths;
    size_t known; /* number of nodes */
};

/* The overhead must have been subtracted from the profile by these costs, unless it is as `recorded`, or there are
 * none. The profile must have no call sites. The caller frees `paths`. */
struct path_probes_table path_probes_of(const struct profile *p, const struct session_file *file,
                                        const struct probe_cost *costs, size_t count, bool recorded);

/* In a range of time, a call has its whole time. So the rests have no sum to complete. */
void path_probes_drop_rests(struct path_probes_table *table);

/* A call's times, by itself or with the calls below it. The scan of chunks knows `off_cpu` only by itself. */
struct call_amounts {
    uint64_t elapsed, application, blocked, off_cpu;
};

static inline void call_amounts_add(struct call_amounts *into, const struct call_amounts *from)
{
    into->elapsed += from->elapsed;
    into->application += from->application;
    into->blocked += from->blocked;
    into->off_cpu += from->off_cpu;
}

static inline void call_amounts_subtract(struct call_amounts *from, const struct call_amounts *what)
{
    from->elapsed -= what->elapsed;
    from->application -= what->application;
    from->blocked -= what->blocked;
    from->off_cpu -= what->off_cpu;
}

/* Whether the path's calls have less time than was measured, or share it with functions that are known by samples. */
static inline bool path_probes_divide(const struct path_probes *probes)
{
    return probes->lost.application + probes->lost.flagged + probes->sampled.application + probes->sampled.flagged > 0;
}

/* From which 2^64th on a fraction is rounded up: spread evenly over the times at which calls end, by the golden ratio.
 */
static inline uint64_t call_amounts_spread(uint64_t end)
{
    return end * UINT64_C(0x9e3779b97f4a7c15);
}

/* Rounded up or down, by the time at which the call ended. Many calls take equally long: if all were rounded to the
 * nearest, what they lack would add up in their caller. */
static inline uint64_t call_amounts_part(uint64_t amount, double part, uint64_t end)
{
    enum { BITS = 24 };
    const uint64_t spread = call_amounts_spread(end) >> (64 - BITS);
    const double shift = ((double)spread + 0.5) / (1 << BITS) - 0.5;
    return (uint64_t)llrint((double)(int64_t)amount * part + shift);
}

/* Subtracts a part of a call's own time on the CPU. `lost`: what samples and counting took, so that it is no time of
 * the call. `sampled`: so that its exclusive time remains. The sum over the path's calls is the path's value, but for
 * the rounding of each call to 1/256 ticks. `end`: when the call ended. */
void call_amounts_take_part(struct call_amounts *own, const struct path_parts *parts, uint64_t end);

static inline void call_amounts_charge(struct call_amounts *own, const struct path_probes *probes, uint64_t charge)
{
    own->elapsed -= probes->held ? 0 : charge;
    own->application -= probes->held || probes->idle ? 0 : charge;
}

/* Adds an interval without OS events. */
static inline void call_amounts_add_plain(struct call_amounts *own, const struct path_probes *probes, uint64_t length)
{
    call_amounts_charge(own, probes, -(length * DWELL_PROBE_FRACTION));
}

/* Adds an interval with the parts that its OS events have. */
void call_amounts_add_interval(struct call_amounts *own, const struct path_probes *probes,
                               const struct interval_parts *parts, uint64_t length);

/* Whole ticks, rounded; zero for a call that is shorter than its probes should have been. */
static inline uint64_t call_ticks(uint64_t amount)
{
    const int64_t rounded = (int64_t)(amount + DWELL_PROBE_FRACTION / 2);
    return rounded > 0 ? (uint64_t)rounded / DWELL_PROBE_FRACTION : 0;
}

#endif
