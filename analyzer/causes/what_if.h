/*
 * What a run would have taken if functions were faster or slower. The recorded order is replayed: what each thread did
 * between its waits, which act ended each wait, and which call made each thread. The exclusive time of functions is
 * scaled, with the time in which they were preempted.
 */
#ifndef DWELL_CAUSES_WHAT_IF_H
#define DWELL_CAUSES_WHAT_IF_H

#include "causes/critical.h"

struct what_if_scale {
    uint32_t function; /* of the analysis */
    double factor;     /* 0.5: half of the time */
};

/* A function in the ranking. */
enum { WHAT_IF_STEPS = 3 };
extern const double what_if_factors[WHAT_IF_STEPS]; /* 10, 50 and 100 % less */

struct what_if_rank {
    uint32_t function;
    uint64_t time;                     /* its own, of all threads of the run, in ticks */
    uint64_t predicted[WHAT_IF_STEPS]; /* the length of the run, in ticks */
    uint64_t least;                    /* if limits are wanted: the least one with 50 % less */
};

struct what_if;

/* Reads the session again. The analysis and the causes are those of the whole session; the analysis outlives the
 * result. Frees the causes before it reads, so that memory is not needed for both. `memory` is
 * that of path_scan_run. */
struct what_if *what_if_new(const struct analysis *analysis, const struct critical_part *part,
                            struct wait_causes *causes, struct path_memory *memory);
void what_if_free(struct what_if *w);

/* Later predictions are for a machine with so many processors. Zero, the first value: threads run and are preempted as
 * they were in the recording. */
void what_if_set_cpus(struct what_if *w, unsigned cpus);

/* How much of the replayed path, as recorded, are waits without a known cause, in ticks. Such a wait may depend on what
 * is scaled. Sleeps, files, and waits whose time was over do not. */
uint64_t what_if_unknown(struct what_if *w);

/* Whether more of the path than 5 % has no known cause. Then a prediction is a range. */
bool what_if_is_range(uint64_t unknown, uint64_t recorded);

/* The limits of the part's length with these functions scaled, whatever ended the waits without a known cause. */
struct what_if_range {
    uint64_t least, most; /* ticks */
};
struct what_if_range what_if_limit(struct what_if *w, const struct what_if_scale *scales, size_t count);

/* Ticks of the run in which the function's own code was blocked, as by bare system calls. They are not scaled. */
uint64_t what_if_blocked(const struct what_if *w, uint32_t function);

/* The length of the part in ticks with these functions scaled. With none, it is that of the replay as recorded. */
uint64_t what_if_predict(struct what_if *w, const struct what_if_scale *scales, size_t count);

/* The functions that have most time of their own, at most `limit`, sorted by what half of each would bring. The caller
 * frees the list. */
struct what_if_rank *what_if_rank_functions(struct what_if *w, size_t limit, bool limits, size_t *count);

#endif
