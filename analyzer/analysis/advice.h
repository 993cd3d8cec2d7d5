/* Which functions a recording should leave out: those whose times are worth least for what their probes cost. The rule
 * is that of the overhead budget (profile/budget_levels.h), applied to the sums of a whole recording. */
#ifndef DWELL_ANALYSIS_ADVICE_H
#define DWELL_ANALYSIS_ADVICE_H

#include "analysis/analysis.h"
#include "profile/budget_levels.h"

/* A function that is worth leaving out. Times are in ticks. */
struct advised {
    uint32_t function;
    uint64_t calls;  /* timed and counted ones */
    uint64_t cost;   /* of their probes, if all of them are timed */
    uint64_t mean;   /* of a call, with its callees and probes: the rule orders functions by it */
    uint64_t own;    /* its own time, which its callers get */
    uint32_t caller; /* the one that gets most of it; PROFILE_NONE if unknown */
    uint32_t callers;
};

struct advice {
    struct advised *list; /* those that cost most first */
    size_t count;
    bool *has;          /* by function: it is in the list */
    uint64_t *calls;    /* by function */
    size_t functions;   /* that were called */
    uint64_t all_calls; /* of these */
    uint64_t own;       /* the program's time without probes: of the CPU, or elapsed if CPU times are unknown */
    struct budget_look look;
};

/* What is left if functions are left out. */
struct advice_effect {
    size_t functions;    /* left out */
    uint64_t calls_left; /* that are timed */
    uint64_t cost_left;  /* ticks of probes */
};

/* `permille`: the wanted time of probes over the program's own time. The session's probe costs must be known. */
struct advice advice_of(const struct analysis *analysis, uint32_t permille);
void advice_drop(struct advice *a);

/* `left_out` is by function. `counted`: their calls are still counted, which costs a little. */
struct advice_effect advice_predict(const struct advice *a, const bool *left_out, size_t functions, bool counted);

/* Whether probes that take `cost` ticks are within the aim. */
bool advice_is_reached(const struct advice *a, uint64_t cost);

#endif
