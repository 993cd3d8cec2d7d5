/*
 * Makes an analysis of what the store answers, so that the views of sessions show it. The store adds up the rows of
 * runs; in memory are only as many as there are functions, modules or call paths.
 */
#ifndef DWELL_FLEET_STORE_STORE_ANSWER_H
#define DWELL_FLEET_STORE_STORE_ANSWER_H

#include "analysis/analysis.h"
#include "fleet/runs.h"

/* The sums of functions or modules, without call paths: for view_rows of BY_FUNCTION or BY_MODULE. With `durations`,
 * functions also have how long their calls took. */
bool fleet_answer_sums(struct analysis *analysis, const struct fleet_store *store, const struct fleet_run *runs,
                       size_t count, enum rollup_by by, bool durations, struct error *error);

/* The sums of call paths, with which all views of call trees work. Copies of functions are joined as in sessions unless
 * the options keep them apart. */
bool fleet_answer_paths(struct analysis *analysis, const struct fleet_store *store, const struct fleet_run *runs,
                        size_t count, const struct analysis_options *options, struct error *error);

/* What the analyses of single runs have: sums of functions or modules, or call paths. */
enum fleet_rows { FLEET_FUNCTIONS, FLEET_MODULES, FLEET_CALL_PATHS };

/* Passes an analysis of each run, in the order of the list, for comparisons by names (comparison/diff.h). One is in
 * memory at a time. The number of questions depends on the rows of the runs, not on the number of runs. Where sums do
 * not suffice for functions of the same name, the analyses have call paths instead. The options say whether functions
 * and call paths have how long their calls took; modules have not. */
typedef bool fleet_run_taker(void *context, const struct analysis *run, struct error *error);
bool fleet_answer_runs(const struct fleet_store *store, const struct fleet_run *runs, size_t count,
                       enum fleet_rows rows, const struct analysis_options *options, fleet_run_taker *take,
                       void *context, struct error *error);

/* The time of a function that parts are about; its own, without the functions that it calls. */
enum fleet_time { FLEET_CPU, FLEET_ELAPSED, FLEET_BLOCKED };

/* The sums of a function over the rows of one key. */
struct fleet_part {
    uint64_t key;
    uint32_t function; /* of the analysis */
    uint64_t calls, time;
    uint64_t least, most; /* nanoseconds: the shortest and the longest completed call; least > most if unknown */
};

/* The time of each run, in the order of the list: the sum of all parts that a run has. */
bool fleet_answer_run_times(const struct fleet_store *store, const struct fleet_run *runs, size_t count,
                            enum fleet_time time, uint64_t *times, struct error *error);

enum fleet_key { FLEET_BY_RUN, FLEET_BY_DAY };

/* The functions that have a share of the time of at least one run. Others may be passed as well, if their share is not
 * much less. */
struct fleet_large {
    const uint64_t *run_times; /* in the order of the runs */
    unsigned thousandths;
};

/* Takes how long the completed calls of a function took, in the rows of a key. It is called when all parts have been
 * passed, for each key and function, and several times if that is one of several builds. */
typedef void fleet_durations_taker(void *context, uint64_t key, uint32_t function, const struct durations *d);

struct fleet_wanted {
    enum fleet_key key;
    enum fleet_time time;
    bool builds_apart; /* a function of each build; else those of one name in modules of one name are one function */
    const struct fleet_large *large;  /* NULL for all functions */
    const char *function;             /* only this one, as the user types it; NULL for all */
    fleet_durations_taker *durations; /* NULL if they are not wanted */
};

/* Passes the sums of each function by a key, all of one function after another. A key is the number of one of the runs,
 * or a day since 1970. It comes several times for a function of several builds. The analysis has only functions and
 * their names. */
typedef void fleet_part_taker(void *context, const struct fleet_part *part);
bool fleet_answer_parts(struct analysis *analysis, const struct fleet_store *store, const struct fleet_run *runs,
                        size_t count, const struct fleet_wanted *wanted, fleet_part_taker *take, void *context,
                        struct error *error);

#endif
