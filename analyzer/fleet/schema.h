/* The tables of a fleet's store, and the columns that rows of call paths have. docs/fleet.md describes them. */
#ifndef DWELL_FLEET_SCHEMA_H
#define DWELL_FLEET_SCHEMA_H

#include "fleet/store.h"

/* Of the store. The name of a table ends with the version that brought it. So a store of version 1 gets the table that
 * it lacks, keeps its rows, and programs of version 1 go on using it. */
enum { FLEET_VERSION = 2, FLEET_TABLES = 1 /* in the names of all tables but this one: */ };
#define FLEET_DURATIONS "durations_2"

/*
 * The columns of amounts, in their order: COLUMN(name, how rows are added up). The own amounts are those of the path
 * itself. `function_` has what the function's inclusive values gain by the path: nothing if the function is on the
 * stack already. So these add up over any rows. `module_` has the same for the module.
 */
#define FLEET_OWN_COLUMNS(COLUMN)                                                                                      \
    COLUMN(calls, sum)                                                                                                 \
    COLUMN(counted, sum) /* the part of calls that was only counted */                                                 \
    COLUMN(elapsed, sum)                                                                                               \
    COLUMN(flagged, sum) /* the part of elapsed in which the OS intervened */                                          \
    COLUMN(blocked, sum)                                                                                               \
    COLUMN(preempted, sum)                                                                                             \
    COLUMN(flagged_on_cpu, sum)                                                                                        \
    COLUMN(page_faults, sum)                                                                                           \
    COLUMN(overhead, sum)                                                                                              \
    COLUMN(samples, sum)                                                                                               \
    COLUMN(error_pooled, sum)                                                                                          \
    COLUMN(shortest, min)                                                                                              \
    COLUMN(longest, max)
#define FLEET_INCLUSIVE_COLUMNS(COLUMN, of)                                                                            \
    COLUMN(of##elapsed, sum)                                                                                           \
    COLUMN(of##application, sum)                                                                                       \
    COLUMN(of##blocked, sum)                                                                                           \
    COLUMN(of##preempted, sum)                                                                                         \
    COLUMN(of##flagged_on_cpu, sum)                                                                                    \
    COLUMN(of##page_faults, sum)                                                                                       \
    COLUMN(of##overhead, sum)                                                                                          \
    COLUMN(of##error_pooled, sum)
#define FLEET_COLUMNS(COLUMN)                                                                                          \
    FLEET_OWN_COLUMNS(COLUMN)                                                                                          \
    FLEET_INCLUSIVE_COLUMNS(COLUMN, function_)                                                                         \
    FLEET_INCLUSIVE_COLUMNS(COLUMN, module_)

/* The squares of independent errors add up; they are real numbers, after the columns above. */
#define FLEET_SQUARES(COLUMN)                                                                                          \
    COLUMN(error_squares, sum)                                                                                         \
    COLUMN(function_error_squares, sum)                                                                                \
    COLUMN(module_error_squares, sum)

/* What a row stands for. */
enum fleet_kind { FLEET_PATH, FLEET_SAMPLED_PATH, FLEET_COUNTED_CALLS, FLEET_THREAD };

/* The columns before them: where the row belongs. Sizes in bytes, so that each row has the same length. */
struct fleet_place {
    uint16_t day; /* since 1970 */
    uint64_t run, part;
    uint32_t process, thread;
    uint8_t kind;
    uint64_t module, address, function, parent, path;
    uint32_t depth; /* of the path: 1 without a caller */
};
enum { FLEET_PART_AT = 10 }; /* in a row's bytes */

/* Creates the tables that are missing on this server. `cluster` is the name of the cluster that the server's
 * configuration has, or NULL for a single server. */
bool fleet_create(const struct fleet_store *store, const char *cluster, struct error *error);

/* Checks that the store has the tables of this version, or those of version 1, and finds out whether the user may
 * change settings. */
bool fleet_check_version(struct fleet_store *store, struct error *error);

/* Finds out whether the store has the table of durations. One of version 1 does not. */
bool fleet_find_durations(const struct fleet_store *store, bool *found, struct error *error);

/* Removes the runs of the days before `day` from this server: the rows of runs themselves, or with `rest` all else.
 * Remove the former on all servers first, so that no reader sees a part of a run. Sets *days to the number of days. */
bool fleet_expire(const struct fleet_store *store, uint16_t day, bool rest, unsigned *days, struct error *error);

#endif
