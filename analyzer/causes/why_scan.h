/*
 * Follows the calls of one function. Stretches of threads are read in the order of time, each by one worker. A call is
 * followed if its enter and its end were recorded, and all of it between. A call within another one of the function is
 * a part of that.
 * Two passes use it: the first one only asks how long the calls took, the second one also adds up what they did.
 */
#ifndef DWELL_CAUSES_WHY_SCAN_H
#define DWELL_CAUSES_WHY_SCAN_H

#include "analysis/analysis.h"
#include "base/wide.h"
#include "causes/why_cpus.h"
#include "causes/why_waits.h"
#include "profile/sample_sums.h"

enum { WHY_SLOW, WHY_USUAL, WHY_SETS, WHY_NEITHER = WHY_SETS };

/* What the time of a call was. */
enum why_kind { WHY_CPU, WHY_BLOCKED, WHY_RUNNABLE, WHY_FAULT, WHY_FILE, WHY_PROBE };

struct why_call {
    uint32_t thread;     /* serial number */
    uint64_t begin, end; /* ticks */
    uint64_t duration;   /* without pauses; with the time of the probes, as it was measured; as in why_plan.rate */
    unsigned session;    /* number */
};

/* Chooses the set of a call that has ended. Each worker has a context of its own. */
typedef unsigned why_chooser(void *context, const struct why_call *call);

/* The time of a row in the calls of a set. */
struct why_sum {
    uint64_t ticks, count;
    uint64_t charge; /* of it, in 1/256 ticks: what the probes take */
    uint128 squares; /* of the calls' ticks without that charge, which is the probes' row's */
};

struct why_row {
    uint32_t node; /* of why_found.paths; PROFILE_NONE for rows of the function as a whole */
    uint32_t wait; /* of the waits: 1 + number; zero for none */
    enum why_kind kind;
    struct why_sum sets[WHY_SETS];
};

/* A part of the calls that were followed, each with its rows: for tests of chance. */
struct why_sampled {
    uint32_t thread;
    uint64_t begin, end;
    unsigned set;
    struct why_cpus cpus; /* as it ended */
    size_t segment;       /* number of the stretch of its thread */
    unsigned session;
    size_t first, count; /* of the values */
};

/* The first call of a thread, if it was recorded from its beginning. */
struct why_first {
    uint32_t process, thread;
    uint64_t begin;
    unsigned session;
};

/* Stack samples of one call path: in the function's own code, or in a function below it whose calls are not in the
 * session. */
struct why_stacks {
    uint32_t node; /* of why_found.paths; one of the site PROFILE_SAMPLED if it is below */
    bool counting; /* in code that counts calls, whose time is that of the probes */
    struct sample_sum sets[WHY_SETS];
};

struct why_value {
    uint32_t row;
    double ticks;
};

struct why_found {
    struct profile *paths; /* below one root, the function comes first */
    struct why_row *rows;
    size_t row_count, row_room;
    struct why_sampled *sampled; /* in order of session, thread and time */
    size_t sampled_count, sampled_room;
    struct why_value *values;
    size_t value_count, value_room;
    struct why_stacks *stacks; /* a path may have several, of different workers */
    size_t stack_count, stack_room;
    struct why_first *firsts;
    size_t first_count, first_room;
    uint64_t calls[WHY_SETS];
    uint64_t cut;             /* calls that were not recorded as a whole */
    struct durations *faults; /* if no rows were wanted: ticks a page fault, of intervals with many */
};

struct why_plan {
    const struct analysis *loaded;
    uint32_t function; /* of the analysis */
    unsigned session;  /* number */
    uint64_t rate;     /* ticks per second, if durations of calls are to be nanoseconds; else zero */
    why_chooser *choose;
    void *const *contexts;         /* by worker, of which there are analysis_jobs */
    const struct why_waits *waits; /* NULL: no rows are wanted */
    uint64_t fault_ticks;          /* where a page fault takes at most so much, they are what the time was */
    double sampled[WHY_SETS];      /* the share of each set that is kept as samples */
};

struct why_found why_scan(const struct why_plan *plan);
void why_found_drop(struct why_found *found);

/* Moves what a worker has found. `rows`: an index for this alone, by node, wait and kind. */
struct number_index;
void why_found_move(struct why_found *into, struct number_index *rows, struct why_found *from);

/* Adds the numbers of calls, their samples, and the threads' first calls. `rows` has the new number of each row of
 * `from`. */
void why_found_add_calls(struct why_found *into, const struct why_found *from, const uint32_t *rows);

/* Sorts the samples. */
void why_found_sort(struct why_found *found);

#endif
