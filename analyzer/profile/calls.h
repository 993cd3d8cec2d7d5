/* Follows single calls in the order in which they end, for views that sums are not enough for. */
#ifndef DWELL_PROFILE_CALLS_H
#define DWELL_PROFILE_CALLS_H

#include "profile/path_probes.h"
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

/* Times are in 1/256 ticks, and can be negative: see path_probes.h. */
struct finished_call {
    uint32_t function, caller; /* numbers; the caller is PROFILE_NONE if there is none */
    uint32_t path;             /* node of the profile, or not less than the number of nodes */
    uint32_t process, thread;  /* serial numbers */
    uint64_t begin, end;       /* times of the enter and of the end, in ticks */
    uint64_t times[CALL_TIMES], blocked;
    uint64_t off_cpu; /* inclusive: blocked or preempted */
    uint64_t
        once; /* elapsed inclusive without the calls of the function above it; known only if all calls are followed */
    uint64_t preempted[2]; /* inclusive and exclusive; known only if calls are followed */
    bool completed;        /* its enter and its end were recorded */
};

/* Returns false to stop. */
typedef bool call_taker(void *context, const struct finished_call *call);

struct noted_calls;

/* Which calls are followed, and how they are measured. */
struct calls_source {
    const struct session_file *file;
    const struct profile *profile;     /* has the call paths of all selected threads, as they were recorded */
    const uint32_t *functions;         /* by function of the profile: its number in calls; NULL: the same */
    const struct selection *selection; /* the calls must end in it; NULL: the whole session */
    const struct probe_cost *costs;    /* costs that were subtracted from the profile */
    size_t cost_count;
    bool recorded;                   /* nothing was subtracted: times have the probes' time in them */
    bool all;                        /* also calls that are not completed */
    const struct noted_calls *noted; /* of the same calls, or NULL: the scan of elapsed times reads them first */
    bool by_path;                    /* who takes elapsed times needs no functions: struct call_amount may lack them */
};

/* The probes of its calls. */
struct path_probes_table calls_probes(const struct calls_source *source);

/* Passes each call to `take` whose enter and exit were recorded and that ended in the selection. A session of mode
 * profile has no calls. */
void calls_follow(const struct calls_source *source, call_taker *take, void *context);

#endif
