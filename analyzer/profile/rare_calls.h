/*
 * The calls of rare paths, kept one by one while a session is read. What a path's probes cost each of its calls depends
 * on the path's sums. Of frequent paths, some chunks tell these before. Those of rare paths are known at the end.
 */
#ifndef DWELL_PROFILE_RARE_CALLS_H
#define DWELL_PROFILE_RARE_CALLS_H

#include "profile/call_parts.h"
#include "profile/overhead.h"

/* A call that has ended, or a part of one in a chunk. Those below it come before it. There may be a million. */
struct rare_call {
    uint64_t own; /* 1/256 ticks, without the calls below it, and without the probes that rare_probes has */
    uint32_t path, callees;
    uint32_t count;       /* itself and the calls below it */
    uint32_t part : 30;   /* its number in the chunk's parts, or RARE_WHOLE, or RARE_LOST */
    uint32_t entered : 1; /* in this chunk */
    uint32_t first : 1;   /* of its path, among the calls that its worker has seen */
};

enum {
    RARE_WHOLE = (1 << 30) - 1, /* entered and ended in the chunk */
    RARE_LOST = RARE_WHOLE - 1, /* its duration is unknown */
};

/* Of few calls: the time off the CPU in a call's own time, in 1/256 ticks. */
struct rare_off_cpu {
    size_t call;
    uint64_t time;
};

/* Of a chunk, or a thread's open calls while it is read. */
struct rare_calls {
    struct rare_call *list;
    size_t count, room;
    struct rare_off_cpu *off_cpu; /* in the order of the calls */
    size_t off_cpu_count, off_cpu_room;
};

/* An open call. */
struct rare_open {
    uint64_t off_cpu, below; /* the time of the calls below it */
    size_t before;           /* how many calls were kept when it began */
    uint32_t callees;
    bool first;
};

/* What the probes of a rare call are taken to cost before its path's sums are known. */
static inline uint64_t rare_probes(const struct probe_cost *cost, bool entered, uint32_t callees)
{
    return (uint64_t)callees * cost->in_caller + (entered ? cost->in_callee : 0) +
           (entered && callees ? cost->first_callee : 0);
}

/* By path of the profile: whether fewer calls than RARE_FEWEST were made of it and of the paths below it. The caller
 * frees the list. */
enum { RARE_FEWEST = 64 };
bool *rare_paths(const struct profile *p);

/* Adds a call that took `elapsed` on the clock without probes. Its caller's entry is `caller`, or NULL if that is not
 * rare. */
void rare_calls_add(struct rare_calls *calls, const struct rare_open *open, struct rare_open *caller, uint64_t elapsed,
                    struct rare_call call);

/* Makes a copy of calls, and forgets them. */
struct rare_calls rare_calls_take(struct rare_calls *calls);

void rare_calls_free(struct rare_calls *calls);

/* Adds the durations of whole calls to the paths of the profile, and sets those of the chunk's parts, now that the
 * paths' probes are known. `sequence` is the chunk's. */
void rare_calls_settle(const struct rare_calls *calls, struct profile *p, const struct path_probes *paths,
                       const struct probe_cost *cost, uint64_t sequence, struct call_part *parts);

#endif
