/* The settings of dwell fleet, and its actions. */
#ifndef DWELL_FLEET_FLEET_COMMAND_H
#define DWELL_FLEET_FLEET_COMMAND_H

#include "commands/commands.h"
#include "commands/diff_result.h"
#include "comparison/diff.h"
#include "fleet/push.h"
#include "fleet/runs.h"
#include "fleet/store_answer.h"

struct fleet_action;

struct fleet_settings {
    struct shared_options shared;
    struct fleet_store store;
    const struct fleet_action *action; /* NULL until it is read */
    const char *user, *password_file;
    char **arguments; /* after the action */
    size_t argument_count, argument_room;
    size_t middle; /* number of arguments before -- ; SIZE_MAX if there is no -- */
    struct fleet_labels labels;
    const char *cluster; /* NULL for a single server */
    bool spool;
    bool deltas;    /* each in a row of its own */
    unsigned keep;  /* days; zero for all */
    const char *by; /* NULL if not given */
    unsigned depth;
    struct diff_result diff;
};

/* Each returns the exit status. */
typedef int fleet_run_action(struct fleet_settings *s);
fleet_run_action fleet_init, fleet_expire_days, fleet_push_files, fleet_pull_runs, fleet_list_runs, fleet_list_hosts,
    fleet_report, fleet_tree, fleet_callers, fleet_diff, fleet_outliers, fleet_top, fleet_trend;

/* The runs that meet the conditions among the arguments from `first` on, up to `end`. Ends the program if there are
 * none, or if the store cannot be asked. The caller drops them. */
struct fleet_runs fleet_choose_runs(struct fleet_settings *settings, size_t first, size_t end);

/* The time that --value chooses. */
enum fleet_time fleet_time_of(const struct fleet_settings *s);

/* A moment in seconds since 1970, as a text such as 2026-11-23T10:00:00Z. */
void fleet_fill_time(struct cell *cell, uint32_t at);

/* Prints the table in the chosen format and drops it. Returns the exit status. */
int fleet_print(const struct fleet_settings *settings, struct table *table);

#endif
