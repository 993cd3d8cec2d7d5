/* dwell fleet init, expire, push and pull: what changes the store, and what gets sessions back. */
#include <stdlib.h>
#include <time.h>

#include "base/counted_text.h"
#include "base/visible.h"
#include "commands/sessions.h"
#include "fleet/file.h"
#include "fleet/fleet_command.h"
#include "fleet/schema.h"
#include "fleet/spool.h"

/* Runs a step on each server of the arguments, or on the only one. */
typedef bool fleet_step(const struct fleet_settings *s, const struct fleet_store *store, struct error *error);

static void fleet_on_each(const struct fleet_settings *settings, fleet_step *step)
{
    struct fleet_store store = settings->store;
    for (size_t i = 0; i < (settings->argument_count ? settings->argument_count : 1); i++) {
        struct error error = { NULL };
        if (settings->argument_count)
            store.url = settings->arguments[i];
        if (!step(settings, &store, &error))
            die_of(&error);
    }
}

static bool fleet_init_server(const struct fleet_settings *settings, const struct fleet_store *store,
                              struct error *error)
{
    return fleet_create(store, settings->cluster, error);
}

int fleet_init(struct fleet_settings *settings)
{
    if (settings->argument_count > 1 && !settings->cluster)
        die(STATUS_ERROR, "fleet init: several servers are a cluster: give its name with --cluster");
    fleet_on_each(settings, fleet_init_server);
    return STATUS_OK;
}

static uint16_t fleet_first_day(const struct fleet_settings *settings)
{
    return (uint16_t)(time(NULL) / 86400 - settings->keep + 1);
}

static bool fleet_expire_runs(const struct fleet_settings *settings, const struct fleet_store *store,
                              struct error *error)
{
    unsigned days;
    if (!fleet_expire(store, fleet_first_day(settings), false, &days, error))
        return false;
    printf("%s: removed the runs of %s\n", store->url, COUNTED(days, "day"));
    return true;
}

static bool fleet_expire_rest(const struct fleet_settings *settings, const struct fleet_store *store,
                              struct error *error)
{
    unsigned days;
    return fleet_expire(store, fleet_first_day(settings), true, &days, error);
}

int fleet_expire_days(struct fleet_settings *settings)
{
    if (!settings->keep || settings->keep > 10000)
        die(STATUS_ERROR, "fleet expire: say how many days to keep, with --keep DAYS");
    fleet_on_each(settings, fleet_expire_runs);
    fleet_on_each(settings, fleet_expire_rest);
    return finish_output();
}

static void fleet_push_folder(const struct fleet_settings *settings, const char *folder)
{
    uint64_t pushed = 0;
    struct error error = { NULL };
    const bool good = fleet_spool_push(folder, &settings->store, &settings->labels, &pushed, &error);
    print_text(stdout, "%s: pushed %llu, %llu left\n", folder, (unsigned long long)pushed,
               (unsigned long long)fleet_spool_count(folder));
    fflush(stdout);
    if (!good)
        die_of(&error);
}

static int fleet_push_spool(struct fleet_settings *settings)
{
    char *usual = fleet_spool_usual(&settings->store);
    if (!settings->argument_count)
        fleet_push_folder(settings, usual);
    for (size_t i = 0; i < settings->argument_count; i++)
        fleet_push_folder(settings, settings->arguments[i]);
    free(usual);
    return finish_output();
}

int fleet_push_files(struct fleet_settings *settings)
{
    if (settings->spool)
        return fleet_push_spool(settings);
    struct session_list files = { 0 };
    bool older = false;
    for (size_t i = 0; i < settings->argument_count; i++)
        session_list_add(&files, settings->arguments[i]);
    if (!files.count)
        die(STATUS_ERROR, "fleet push: give the sessions to push");
    session_list_unique(&files);
    for (size_t i = 0; i < files.count; i++) {
        struct fleet_pushed pushed;
        struct error error = { NULL };
        if (!fleet_push(&settings->store, files.paths[i], &settings->labels, &pushed, &error))
            die_of(&error);
        if (pushed.known)
            print_text(stdout, "%s: run %016llx is there already\n", files.paths[i], (unsigned long long)pushed.run);
        else
            print_text(stdout, "%s: run %016llx: %llu rows, %llu new names\n", files.paths[i],
                       (unsigned long long)pushed.run, (unsigned long long)pushed.rows,
                       (unsigned long long)pushed.names);
        fflush(stdout);
        older |= pushed.older_store;
    }
    if (older)
        say("%s: its tables are those of version 1, so it has no percentiles of these runs; run dwell fleet init",
            settings->store.url);
    session_list_drop(&files);
    return finish_output();
}

int fleet_pull_runs(struct fleet_settings *settings)
{
    struct error error = { NULL };
    if (!settings->shared.output)
        die(STATUS_ERROR, "fleet pull: say which session file to write, with -o FILE");
    struct fleet_runs runs = fleet_choose_runs(settings, 0, settings->argument_count);
    if (!fleet_pull(&settings->store, &runs, settings->shared.output, &error))
        die_of(&error);
    fleet_runs_drop(&runs);
    return finish_output();
}
