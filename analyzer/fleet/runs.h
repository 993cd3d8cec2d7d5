/* The runs in the store, and conditions that choose some of them. */
#ifndef DWELL_FLEET_RUNS_H
#define DWELL_FLEET_RUNS_H

#include "fleet/store.h"

struct fleet_texts {
    char **list;
    size_t count;
};

struct fleet_run {
    uint16_t day; /* since 1970 */
    uint64_t run;
    uint32_t at; /* when it began, in seconds since 1970 */
    char *host, *program, *file;
    struct fleet_texts builds; /* hexadecimal */
    struct fleet_texts label_keys, label_values;
    uint64_t *parts; /* the parts of rows that count */
    size_t part_count;
    uint64_t rows, elapsed, threads, processes, events, lost_events, os_events, stack_samples, samples_in_probes;
    uint32_t knows; /* enum value_needs, and FLEET_KNOWS_DURATIONS ... */
    uint32_t losses;
    struct fleet_texts remarks; /* the first `losses` are about losses */
};

/* The store has how long all timed calls of the run took. */
#define FLEET_KNOWS_DURATIONS (UINT32_C(1) << 16)
#define FLEET_KNOWS_CHOSEN_DURATIONS (UINT32_C(1) << 17) /* besides: they are those of chosen functions, estimated */

struct fleet_runs {
    struct fleet_run *list; /* by the time at which they began */
    size_t count, room;
};

/* Conditions in SQL, all of which must hold. NULL is none. The numbers of runs or of recordings with deltas, of which
 * one must hold, are a list. */
struct fleet_conditions {
    char *sql;
    uint64_t *runs;
    size_t run_count, run_room;
};

/*
 * Adds a condition KEY=VALUE, or one of several numbers of runs. The number of a session stands for its deltas. Keys
 * are run, host, program, build (its first digits), day, since and until; any other is a label, and so is what follows
 * label:. A star at the end of the value of a text stands for any end.
 */
bool fleet_condition_add(struct fleet_conditions *conditions, const char *text, struct error *error);
void fleet_conditions_drop(struct fleet_conditions *conditions);

/* How many of the conditions' numbers are those of these runs, or of the sessions whose deltas they are. */
size_t fleet_conditions_found(const struct fleet_conditions *conditions, const struct fleet_runs *runs);

/* Finds the runs that are complete and meet the conditions. A run that was pushed several times is there once. */
bool fleet_runs_find(const struct fleet_store *store, const struct fleet_conditions *conditions,
                     struct fleet_runs *runs, struct error *error);
void fleet_runs_drop(struct fleet_runs *runs);

/* The condition of rows that belong to these runs, in SQL. The caller frees it. */
char *fleet_runs_sql(const struct fleet_run *runs, size_t count);

/* A number for each run, by which the numbers of its rows can be divided, in SQL: 1 in place of 0. The caller frees it.
 */
char *fleet_runs_divisor_sql(const struct fleet_run *runs, size_t count, const uint64_t *numbers);

/* The place of a row's run among these, from 1, in SQL, as 8 bytes. The caller frees it. */
char *fleet_runs_place_sql(const struct fleet_run *runs, size_t count);

/* Reads the number of a run, or of a session with deltas: 16 hexadecimal digits. */
bool fleet_run_parse(const char *text, uint64_t *run);

/* The labels by which the store knows a delta (record --every): the number of its session, and its own. */
#define FLEET_LABEL_SESSION "session"
#define FLEET_LABEL_DELTA "delta"

/* The session whose delta the run is. Zero if it is no delta. */
uint64_t fleet_run_session(const struct fleet_run *run);

/* Reads a day such as 2026-11-23. */
bool fleet_day_parse(const char *text, uint16_t *day);

#endif
