/* dwell fleet runs and hosts: lists what the store has. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "fleet/fleet_command.h"
#include "fleet/recordings.h"

/* Filters, sorts, limits and prints a table without values. */
static int fleet_print_list(const struct fleet_settings *settings, struct table *table, const char *usual_sort)
{
    const struct sorting sorting = { .key = settings->shared.sort ? settings->shared.sort : usual_sort,
                                     .limit = settings->shared.limit,
                                     .filters = &settings->shared.filters };
    option_order(table, &sorting);
    if (settings->shared.columns)
        option_choose(table, settings->shared.columns);
    return fleet_print(settings, table);
}

void fleet_fill_time(struct cell *cell, uint32_t at)
{
    const time_t seconds = at;
    struct tm broken;
    char text[32];
    gmtime_r(&seconds, &broken);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &broken);
    cell_text(cell, text);
}

/* A list of only runs has no column of deltas in text. */
static void fleet_use_deltas(struct column *column, size_t deltas)
{
    column->use = deltas ? USE_ALWAYS : USE_DATA;
}

/* ---- runs ---- */

enum {
    RUN_NUMBER,
    RUN_BEGAN,
    RUN_HOST,
    RUN_PROGRAM,
    RUN_BUILD,
    RUN_ELAPSED,
    RUN_ROWS,
    RUN_DELTAS,
    RUN_THREADS,
    RUN_PROCESSES,
    RUN_LOST,
    RUN_LABELS,
    RUN_FILE,
    RUN_COLUMNS
};
static const struct column run_columns[RUN_COLUMNS] = {
    [RUN_NUMBER] = { "run", "RUN", CELL_TEXT, USE_ALWAYS, false },
    [RUN_BEGAN] = { "at", "BEGAN", CELL_TEXT, USE_ALWAYS, false },
    [RUN_HOST] = { "host", "HOST", CELL_TEXT, USE_ALWAYS, false },
    [RUN_PROGRAM] = { "program", "PROGRAM", CELL_TEXT, USE_ALWAYS, false },
    [RUN_BUILD] = { "build", "BUILD", CELL_TEXT, USE_ALWAYS, false },
    [RUN_ELAPSED] = { "elapsed", "EL.INCL", CELL_NS, USE_ALWAYS, false },
    [RUN_ROWS] = { "rows", "ROWS", CELL_COUNT, USE_ALWAYS, false },
    [RUN_DELTAS] = { "deltas", "DELTAS", CELL_COUNT, USE_ALWAYS, false },
    [RUN_THREADS] = { "threads", "THREADS", CELL_COUNT, USE_DATA, false },
    [RUN_PROCESSES] = { "processes", "PROCESSES", CELL_COUNT, USE_DATA, false },
    [RUN_LOST] = { "lost_events", "LOST", CELL_COUNT, USE_DATA, false },
    [RUN_LABELS] = { "labels", "LABELS", CELL_TEXT, USE_ALWAYS, false },
    [RUN_FILE] = { "file", "FILE", CELL_TEXT, USE_DATA, false },
};

/* The labels that tell deltas apart are those of no recording. */
static bool fleet_label_is_shown(const struct fleet_recording *r, const char *key)
{
    return !r->deltas || (strcmp(key, FLEET_LABEL_SESSION) != 0 && strcmp(key, FLEET_LABEL_DELTA) != 0);
}

static char *fleet_join_labels(const struct fleet_recording *r)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    const struct fleet_run *run = r->first;
    const char *gap = "";
    for (size_t i = 0; i < run->label_keys.count; i++) {
        if (!fleet_label_is_shown(r, run->label_keys.list[i]))
            continue;
        fprintf(out, "%s%s=%s", gap, run->label_keys.list[i], run->label_values.list[i]);
        gap = " ";
    }
    need_stream_end(out);
    return text;
}

/* The files of deltas are those of a spool, which have gone. */
static void fleet_fill_run(struct cell *cells, const struct fleet_recording *r)
{
    char number[17], *labels = fleet_join_labels(r);
    snprintf(number, sizeof number, "%016llx", (unsigned long long)r->number);
    cell_text(&cells[RUN_NUMBER], number);
    fleet_fill_time(&cells[RUN_BEGAN], r->first->at);
    cell_text(&cells[RUN_HOST], r->first->host);
    cell_text(&cells[RUN_PROGRAM], r->first->program);
    if (r->first->builds.count)
        cell_text(&cells[RUN_BUILD], r->first->builds.list[0]);
    cell_number(&cells[RUN_ELAPSED], r->elapsed);
    cell_number(&cells[RUN_ROWS], r->rows);
    if (r->deltas)
        cell_number(&cells[RUN_DELTAS], r->deltas);
    cell_number(&cells[RUN_THREADS], r->threads);
    cell_number(&cells[RUN_PROCESSES], r->processes);
    cell_number(&cells[RUN_LOST], r->lost_events);
    cell_text(&cells[RUN_LABELS], labels);
    if (!r->deltas)
        cell_text(&cells[RUN_FILE], r->first->file);
    free(labels);
}

int fleet_list_runs(struct fleet_settings *settings)
{
    struct fleet_runs runs = fleet_choose_runs(settings, 0, settings->argument_count);
    struct column columns[RUN_COLUMNS];
    memcpy(columns, run_columns, sizeof columns);
    struct table table = table_make(columns, RUN_COLUMNS, NULL);
    size_t count, deltas = 0;
    struct fleet_recording *list = fleet_recordings(&runs, settings->deltas, &count);
    for (size_t i = 0; i < count; i++) {
        fleet_fill_run(table_row(&table), &list[i]);
        deltas += list[i].deltas;
    }
    fleet_use_deltas(&columns[RUN_DELTAS], deltas);
    free(list);
    fleet_runs_drop(&runs);
    return fleet_print_list(settings, &table, "at");
}

/* ---- hosts ---- */

enum { HOST_NAME, HOST_RUNS, HOST_DELTAS, HOST_ELAPSED, HOST_ROWS, HOST_FIRST, HOST_LAST, HOST_COLUMNS };
static const struct column host_columns[HOST_COLUMNS] = {
    [HOST_NAME] = { "host", "HOST", CELL_TEXT, USE_ALWAYS, false },
    [HOST_RUNS] = { "runs", "RUNS", CELL_COUNT, USE_ALWAYS, false },
    [HOST_DELTAS] = { "deltas", "DELTAS", CELL_COUNT, USE_ALWAYS, false },
    [HOST_ELAPSED] = { "elapsed", "EL.INCL", CELL_NS, USE_ALWAYS, false },
    [HOST_ROWS] = { "rows", "ROWS", CELL_COUNT, USE_ALWAYS, false },
    [HOST_FIRST] = { "first", "FIRST RUN", CELL_TEXT, USE_ALWAYS, false },
    [HOST_LAST] = { "last", "LAST RUN", CELL_TEXT, USE_ALWAYS, false },
};

static int fleet_compare_hosts(const void *a, const void *b)
{
    const struct fleet_run *x = a, *y = b;
    const int order = strcmp(x->host, y->host);
    return order ? order : ORDER(x->at, y->at);
}

/* The runs of one host. A recording with deltas is one run. Returns the number of deltas. */
static size_t fleet_fill_host(struct cell *cells, const struct fleet_runs *runs)
{
    uint64_t elapsed = 0, rows = 0;
    size_t count, deltas = 0;
    struct fleet_recording *list = fleet_recordings(runs, false, &count);
    for (size_t i = 0; i < count; i++) {
        elapsed += list[i].elapsed;
        rows += list[i].rows;
        deltas += list[i].deltas;
    }
    free(list);
    cell_text(&cells[HOST_NAME], runs->list[0].host);
    cell_number(&cells[HOST_RUNS], count);
    if (deltas)
        cell_number(&cells[HOST_DELTAS], deltas);
    cell_number(&cells[HOST_ELAPSED], elapsed);
    cell_number(&cells[HOST_ROWS], rows);
    fleet_fill_time(&cells[HOST_FIRST], runs->list[0].at);
    fleet_fill_time(&cells[HOST_LAST], runs->list[runs->count - 1].at);
    return deltas;
}

int fleet_list_hosts(struct fleet_settings *settings)
{
    struct fleet_runs runs = fleet_choose_runs(settings, 0, settings->argument_count);
    struct column columns[HOST_COLUMNS];
    memcpy(columns, host_columns, sizeof columns);
    struct table table = table_make(columns, HOST_COLUMNS, NULL);
    size_t deltas = 0;
    qsort(runs.list, runs.count, sizeof *runs.list, fleet_compare_hosts);
    for (size_t i = 0, end; i < runs.count; i = end) {
        for (end = i; end < runs.count && strcmp(runs.list[end].host, runs.list[i].host) == 0;)
            end++;
        const struct fleet_runs of_host = { .list = &runs.list[i], .count = end - i };
        deltas += fleet_fill_host(table_row(&table), &of_host);
    }
    fleet_use_deltas(&columns[HOST_DELTAS], deltas);
    fleet_runs_drop(&runs);
    return fleet_print_list(settings, &table, "name");
}
