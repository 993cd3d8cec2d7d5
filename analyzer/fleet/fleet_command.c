/* dwell fleet: reads its options, finds the server, and runs the action. */
#include "fleet/fleet_command.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "commands/command_line.h"
#include "fleet/fleet_feature.h"
#include "fleet/schema.h"

static const struct shared_use shared[] = {
    { SHARED_FILTER, NULL },
    { SHARED_MIN, "(tree: default 1%; diff: on both sides)" },
    { SHARED_SORT, NULL },
    { SHARED_LIMIT, "(default in text: 40)" },
    { SHARED_COLUMNS, NULL },
    { SHARED_VALUE,
      "cpu (default), elapsed or blocked; of outliers, top and trend; of trend also p50, p90, p99 or max" },
    { SHARED_FORMAT, "; diff also: markdown, github or junit" },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_NO_MERGE, "(tree, callers, diff)" },
    { SHARED_OUTPUT, "(required by pull); an older session of that name becomes FILE.old" },
    { SHARED_END, NULL },
};

static const struct fleet_action {
    const char *name;
    fleet_run_action *run;
    bool sets_up; /* works without the tables */
} actions[] = {
    { "init", fleet_init, true },       { "expire", fleet_expire_days, true }, { "push", fleet_push_files, false },
    { "pull", fleet_pull_runs, false }, { "runs", fleet_list_runs, false },    { "hosts", fleet_list_hosts, false },
    { "report", fleet_report, false },  { "tree", fleet_tree, false },         { "callers", fleet_callers, false },
    { "diff", fleet_diff, false },      { "outliers", fleet_outliers, false }, { "top", fleet_top, false },
    { "trend", fleet_trend, false },
};
enum { ACTIONS = sizeof actions / sizeof *actions };

static const struct fleet_action *fleet_find_action(const char *name)
{
    const char *names[ACTIONS];
    for (size_t i = 0; i < ACTIONS; i++) {
        names[i] = actions[i].name;
        if (strcmp(actions[i].name, name) == 0)
            return &actions[i];
    }
    die(STATUS_ERROR, "fleet: no action '%s'%s dwell fleet --help lists them", name,
        suggestion(name, names, ACTIONS, ";"));
}

static void fleet_take(void *settings, const struct option_row *row, char *argument)
{
    struct fleet_settings *s = settings;
    (void)row;
    if (!s->action) {
        s->action = fleet_find_action(argument);
        return;
    }
    GROW(s->arguments, s->argument_count, s->argument_room);
    s->arguments[s->argument_count++] = argument;
}

static void fleet_add_label(void *settings, const struct option_row *row, char *text)
{
    struct fleet_settings *s = settings;
    struct error error = { NULL };
    (void)row;
    if (!fleet_labels_add(&s->labels, text, &error))
        die(STATUS_ERROR, "--label: %s", error.text);
}

static void fleet_set(char **member, const char *text)
{
    free(*member);
    *member = need_copy(text, strlen(text));
}

/* The members of the store are freed with it. */
static void fleet_read_text(void *settings, const struct option_row *row, char *text)
{
    fleet_set(option_member(settings, row), text);
}

#define KEEP_TEXT(member) READ_INTO(struct fleet_settings, member, char *, fleet_read_text)

static const struct option_row options[] = {
    { "url", "URL", "The server, such as http://HOST:8123 (default: DWELL_FLEET_URL, or the file)",
      KEEP_TEXT(store.url) },
    { "user", "NAME", "Its user (default: DWELL_FLEET_USER, or the file)", KEEP_TEXT(store.user) },
    { "password-file", "FILE", "The password is FILE's first line (default: DWELL_FLEET_PASSWORD, or the file)",
      STORE_TEXT(struct fleet_settings, password_file) },
    { "database", "NAME", "Its database (default: DWELL_FLEET_DATABASE, the file, or dwell)",
      KEEP_TEXT(store.database) },
    { "ca", "FILE",
      "With https: the certificates of the authorities to trust (default: DWELL_FLEET_CA, the file, or the system's)",
      KEEP_TEXT(store.ca) },
    { "label", "KEY=VALUE", "push: what to know the runs by; may be repeated", READ_BY(fleet_add_label) },
    { "spool", NULL,
      "push: send what dwell record --push has left; the arguments are its folders (default: that of the server)",
      STORE_FLAG(struct fleet_settings, spool) },
    { "cluster", "NAME", "init: the cluster of these servers, as their configuration names it",
      STORE_TEXT(struct fleet_settings, cluster) },
    { "keep", "DAYS", "expire: remove the runs of all days before the last DAYS",
      STORE_NUMBER(struct fleet_settings, keep, 0, UINT32_MAX, "a number") },
    { "deltas", NULL, "runs: list each delta of a recording (record --every) by itself",
      STORE_FLAG(struct fleet_settings, deltas) },
    { "by", "WHAT",
      "report, diff: a row for each function (default), module or, of diff, path; outliers: compare each run (default) "
      "or host; outliers, top: build tells builds of a function apart; trend: a row for each build (default), day or "
      "label:KEY",
      STORE_TEXT(struct fleet_settings, by) },
    { "depth", "N", "tree: fold calls that are deeper than N (default: 40)",
      STORE_NUMBER(struct fleet_settings, depth, 0, UINT32_MAX, "a number") },
    { "large", "AMOUNT", "diff: mark changes of at least AMOUNT of the runs' time (default: 1%)",
      STORE_AMOUNT(struct fleet_settings, diff.options.large) },
    { "fail-if", "CONDITION", "diff: exit with status 1 if a row meets it; may be repeated",
      READ_INTO(struct fleet_settings, diff, struct diff_result, diff_result_add_gate) },
    { TAKE_BY(fleet_take) },
    { 0 },
};

/* The formats, the order and the columns of diff are its own. */
static bool fleet_read_shared(void *settings, enum shared_option option, const char *argument)
{
    struct fleet_settings *s = settings;
    const bool is_diff = s->action && s->action->run == fleet_diff;
    const bool has_times = s->action && s->action->run != fleet_list_runs && s->action->run != fleet_list_hosts;
    if (is_diff)
        return diff_result_read_shared(&s->diff, option, argument);
    return has_times && option_read_times(settings, option, argument);
}

static const struct command_line line = {
    .name = "fleet",
    .daily = "by value label fail-if depth filter sort limit columns format",
    .arguments = "init [--cluster NAME] [URL...]\nexpire --keep DAYS [URL...]\npush FILE... [--label KEY=VALUE]...\n"
                 "push --spool [DIR...]\npull [CONDITION...] -o OUT\n"
                 "runs [CONDITION...]\nhosts [CONDITION...]\nreport [CONDITION...]\ntree [CONDITION...]\n"
                 "callers FUNCTION [CONDITION...]\ndiff BEFORE AFTER\ndiff BEFORE... -- AFTER...\n"
                 "outliers [CONDITION...]\ntop [CONDITION...]\ntrend FUNCTION [--by WHAT] [CONDITION...]",
    .text =
        "Keeps the profiles of many runs on many machines in a ClickHouse server or cluster, and reports their sums.\v"
        "init creates the tables, on each URL of a cluster. push sends sessions: a run counts when all of it is there, "
        "and once, however often it is pushed. The other actions ask about the runs that meet all CONDITIONs: run=, "
        "host=, program=, build= (the first digits of a build-id), day=, since= and until= (2026-11-23), or "
        "LABEL=VALUE. A star at the end stands for any end. A run's number alone stands for this run, and several for "
        "any of them. runs has a row for each, and one for all deltas of a recording (record --every), whose number "
        "stands for all of them. hosts counts such a recording as one run. pull writes a session that holds the sums of the runs, for all other commands. report, tree, callers and diff print what the commands of "
        "these names print of the sessions. outliers shows which runs or hosts are unlike the rest, and in "
        "which function. top shows the longest functions of each day. Both take a function of several builds for one. trend "
        "shows a function's time in a run of each build, in the order of time, and marks the change that stands out. "
        "The action comes before its options.\n\n"
        "The server is that of --url, DWELL_FLEET_URL, or the line 'url = http://HOST:8123' of ~/.config/dwell/fleet, "
        "which can have user, password, database and ca as well.\n\nExamples:\n"
        "  dwell fleet init --url http://localhost:8123\n"
        "  dwell fleet push run-*.data --label commit=1f0c\n"
        "  dwell fleet report commit=1f0c\n"
        "  dwell fleet diff commit=1f0c commit=77ab\n"
        "  dwell fleet trend parse --by label:commit\n"
        "  dwell fleet pull commit=1f0c -o 1f0c.data\n"
        "  dwell fleet tree host=web3 since=2026-11-01 --format json",
    .options = options,
    .shared = shared,
    .formats = DIFF_FORMATS,
    .read_shared = fleet_read_shared,
};

static void fleet_go_over(void *settings)
{
    struct fleet_settings *s = settings;
    s->middle = s->argument_count;
}

static void fleet_parse(struct fleet_settings *settings, int argc, char **argv)
{
    settings->middle = SIZE_MAX;
    command_line_parse_sides(&line, argc, argv, settings, &settings->shared, fleet_go_over);
    if (!settings->action)
        die(STATUS_ERROR,
            "fleet: give an action: init, expire, push, pull, runs, hosts, report, tree, callers, diff, outliers, "
            "top or trend");
    if (settings->shared.output && settings->action->run != fleet_pull_runs)
        die(STATUS_ERROR, "fleet: only pull writes to a file of --output");
    if (settings->deltas && settings->action->run != fleet_list_runs)
        die(STATUS_ERROR, "fleet: only runs lists --deltas");
    if (settings->middle != SIZE_MAX && settings->action->run != fleet_diff)
        die(STATUS_ERROR, "fleet: only diff has two sides with -- between them");
}

static void fleet_open(struct fleet_settings *settings)
{
    struct error error = { NULL };
    if (http_missing())
        die(STATUS_ERROR, "fleet: %s", http_missing());
    if (settings->action->sets_up && !settings->store.url && settings->argument_count)
        fleet_set(&settings->store.url, settings->arguments[0]);
    if ((settings->password_file && !fleet_store_read_password(&settings->store, settings->password_file, &error)) ||
        !fleet_store_find(&settings->store, &error) ||
        (!settings->action->sets_up && !fleet_check_version(&settings->store, &error)))
        die_of(&error);
}

struct fleet_runs fleet_choose_runs(struct fleet_settings *settings, size_t first, size_t end)
{
    struct fleet_conditions conditions = { NULL };
    struct fleet_runs runs;
    struct error error = { NULL };
    for (size_t i = first; i < end; i++)
        if (!fleet_condition_add(&conditions, settings->arguments[i], &error))
            die_of_line(&error);
    die_enter(DIE_WORKS);
    if (!fleet_runs_find(&settings->store, &conditions, &runs, &error))
        die_of(&error);
    const size_t found = fleet_conditions_found(&conditions, &runs);
    if (runs.count && found < conditions.run_count && !conditions.sql)
        die(STATUS_ERROR, "fleet: %s: has only %zu of the %zu runs; dwell fleet runs lists all", settings->store.url,
            found, conditions.run_count);
    fleet_conditions_drop(&conditions);
    if (!runs.count)
        die(STATUS_ERROR, "fleet: %s: no run meets %s", settings->store.url,
            first < end ? "these conditions; dwell fleet runs lists all"
                        : "the conditions, as there is none: push one");
    return runs;
}

int fleet_print(const struct fleet_settings *settings, struct table *table)
{
    settings->shared.print(table, stdout);
    table_drop(table);
    return finish_output();
}

int fleet_command(int argc, char **argv)
{
    struct fleet_settings s = { .depth = 40, .diff = DIFF_RESULT(&s.shared) };
    fleet_parse(&s, argc, argv);
    fleet_open(&s);
    const int status = s.action->run(&s);
    diff_result_drop(&s.diff);
    fleet_labels_drop(&s.labels);
    fleet_store_drop(&s.store);
    free(s.arguments);
    shared_options_drop(&s.shared);
    return status;
}
