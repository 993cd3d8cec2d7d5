/* dwell fleet trend: the time of a function, build after build. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "base/units.h"
#include "fleet/fleet_command.h"
#include "fleet/part_percentiles.h"
#include "fleet/store_answer.h"
#include "fleet/trend.h"

static const char TREND_LABEL[] = "label:";

/* The runs of one build: of one value of a label, one build-id, or one day. */
struct trend_build {
    const char *name;
    uint32_t at; /* when its first run began */
    size_t runs;
    double time, whole, calls; /* of all its runs */
};

/* What a run adds to its build. */
struct trend_run {
    uint32_t build; /* INTERN_NONE if it has none */
    uint64_t time, whole, calls;
};

struct trend_rows {
    struct fleet_runs runs;
    struct intern names;
    struct trend_build *builds;
    size_t build_count;
    struct trend_run *by_run;
    uint32_t function;
    double percent;                /* times are this percentile of a run's calls; zero if they are sums */
    struct part_percentiles calls; /* by place in the runs */
};

/* ---- builds ---- */

static const char *trend_label(const struct fleet_run *run, const char *key)
{
    for (size_t i = 0; i < run->label_keys.count; i++)
        if (strcmp(run->label_keys.list[i], key) == 0)
            return run->label_values.list[i];
    return NULL;
}

/* What the run is called by, or NULL. A day is written to `room`. */
static const char *trend_name(const struct fleet_run *run, const char *by, char room[16])
{
    if (strncmp(by, TREND_LABEL, sizeof TREND_LABEL - 1) == 0)
        return trend_label(run, by + sizeof TREND_LABEL - 1);
    if (strcmp(by, "build") == 0)
        return run->builds.count ? run->builds.list[0] : NULL;
    const time_t seconds = (time_t)run->day * 86400;
    struct tm broken;
    strftime(room, 16, "%Y-%m-%d", gmtime_r(&seconds, &broken));
    return room;
}

/* The runs come by time, so the builds do as well. */
static void trend_find_builds(struct trend_rows *t, const char *by)
{
    char room[16];
    t->by_run = need_memory(t->runs.count, sizeof *t->by_run);
    t->builds = need_memory(t->runs.count, sizeof *t->builds);
    size_t without = 0;
    for (size_t i = 0; i < t->runs.count; i++) {
        const struct fleet_run *run = &t->runs.list[i];
        const char *name = trend_name(run, by, room);
        t->by_run[i].build = name ? intern(&t->names, name, strlen(name)) : INTERN_NONE;
        without += !name;
        if (!name)
            continue;
        struct trend_build *b = &t->builds[t->by_run[i].build];
        if (!b->runs++)
            b->at = run->at;
    }
    t->build_count = t->names.count;
    for (size_t i = 0; i < t->build_count; i++)
        t->builds[i].name = t->names.pieces[i].bytes;
    if (!t->names.count)
        die(STATUS_ERROR, "fleet trend: none of the %zu runs has a %s; dwell fleet runs lists them", t->runs.count, by);
    if (without)
        say("fleet trend: %zu of the %zu runs have no %s, and are left out", without, t->runs.count, by);
}

/* ---- times ---- */

struct trend_taking {
    struct trend_rows *rows;
    const struct fleet_run **sorted; /* by number */
};

static int trend_compare_runs(const void *a, const void *b)
{
    const struct fleet_run *x = *(const struct fleet_run *const *)a, *y = *(const struct fleet_run *const *)b;
    return ORDER_BY(x, y, run);
}

/* The place of the run of a number, or that of the end. */
static size_t trend_place(const struct trend_taking *t, uint64_t run)
{
    const struct fleet_run key = { .run = run }, *wanted = &key;
    const struct fleet_run **found =
        bsearch(&wanted, t->sorted, t->rows->runs.count, sizeof(struct fleet_run *), trend_compare_runs);
    return found ? (size_t)(*found - t->rows->runs.list) : t->rows->runs.count;
}

static void trend_take(void *context, const struct fleet_part *part)
{
    const struct trend_taking *t = context;
    const size_t place = trend_place(t, part->key);
    if (place == t->rows->runs.count)
        return;
    struct trend_run *run = &t->rows->by_run[place];
    t->rows->function = part->function;
    run->time += part->time;
    run->calls += part->calls;
    part_calls_limit(part_percentiles_add(&t->rows->calls, place, 0), part);
}

static void trend_take_durations(void *context, uint64_t run, uint32_t function, const struct durations *d)
{
    const struct trend_taking *t = context;
    const size_t place = trend_place(t, run);
    (void)function;
    if (place < t->rows->runs.count)
        part_calls_join(part_percentiles_add(&t->rows->calls, place, 0), d);
}

/* What --value names, if it is a percentile. */
static double trend_percent(const struct fleet_settings *settings)
{
    static const struct {
        const char *name;
        double percent;
    } percentiles[] = { { "p50", 50 }, { "p90", 90 }, { "p99", 99 }, { "max", 100 } };
    for (size_t i = 0; settings->shared.value && i < sizeof percentiles / sizeof *percentiles; i++)
        if (strcmp(percentiles[i].name, settings->shared.value) == 0)
            return percentiles[i].percent;
    return 0;
}

/* Takes a percentile of the run's calls for its time. The longest call is known exactly, also without durations. False
 * if that is unknown. */
static bool trend_find_percentile(const struct trend_rows *t, size_t place)
{
    const struct part_calls *calls = part_percentiles_find(&t->calls, place, 0);
    const bool longest = calls && t->percent == 100 && calls->least <= calls->most;
    if (!calls || (!longest && !calls->durations))
        return false;
    t->by_run[place].time = longest ? calls->most : part_calls_percentile(&t->calls, calls, t->percent);
    return true;
}

/* Leaves out the runs whose percentile is unknown, and builds without others. */
static void trend_find_percentiles(struct trend_rows *t, const char *value)
{
    size_t unknown = 0, kept = 0;
    uint32_t *places = need_memory(t->names.count, sizeof *places);
    for (size_t i = 0; i < t->runs.count; i++)
        if (t->by_run[i].build != INTERN_NONE && !trend_find_percentile(t, i)) {
            t->builds[t->by_run[i].build].runs--;
            t->by_run[i].build = INTERN_NONE;
            unknown++;
        }
    for (size_t i = 0; i < t->build_count; i++) {
        places[i] = (uint32_t)kept;
        if (t->builds[i].runs)
            t->builds[kept++] = t->builds[i];
    }
    for (size_t i = 0; i < t->runs.count; i++)
        if (t->by_run[i].build != INTERN_NONE)
            t->by_run[i].build = places[t->by_run[i].build];
    free(places);
    t->build_count = kept;
    if (!kept)
        die(STATUS_ERROR, "fleet trend: no run has %s of the function's calls; docs/fleet.md says which runs have",
            value);
    if (unknown)
        say("fleet trend: of %zu of the %zu runs, %s is unknown, and they are left out", unknown, t->runs.count, value);
}

static void trend_ask(struct fleet_settings *settings, struct trend_rows *t, struct analysis *analysis)
{
    const size_t count = t->runs.count;
    const bool percentiles = t->percent > 0 || part_percentiles_are_wanted(settings);
    const struct fleet_wanted wanted = { .key = FLEET_BY_RUN,
                                         .time = t->percent > 0 ? FLEET_CPU : fleet_time_of(settings),
                                         .function = settings->arguments[0],
                                         .durations = percentiles ? trend_take_durations : NULL };
    struct trend_taking taking = { t, need_memory(count, sizeof(struct fleet_run *)) };
    uint64_t *wholes = need_memory(count, sizeof *wholes);
    struct error error = { NULL };
    for (size_t i = 0; i < count; i++)
        taking.sorted[i] = &t->runs.list[i];
    qsort(taking.sorted, count, sizeof *taking.sorted, trend_compare_runs);
    if (!fleet_answer_parts(analysis, &settings->store, t->runs.list, count, &wanted, trend_take, &taking, &error) ||
        !fleet_answer_run_times(&settings->store, t->runs.list, count, wanted.time, wholes, &error))
        die_of(&error);
    if (t->percent > 0)
        trend_find_percentiles(t, settings->shared.value);
    else if (percentiles)
        part_percentiles_say(&t->runs);
    for (size_t i = 0; i < count; i++) {
        const struct trend_run *run = &t->by_run[i];
        if (run->build == INTERN_NONE)
            continue;
        struct trend_build *b = &t->builds[run->build];
        b->time += (double)run->time;
        b->calls += (double)run->calls;
        b->whole += (double)wholes[i];
    }
    free(taking.sorted);
    free(wholes);
}

/* The build of the change that stands out, or 0. */
static size_t trend_change_of(const struct trend_rows *t)
{
    const size_t builds = t->build_count;
    size_t *begins = need_memory(builds + 1, sizeof *begins), *next = need_memory(builds, sizeof *next);
    double *values = need_memory(t->runs.count, sizeof *values);
    for (size_t i = 0; i < builds; i++)
        begins[i + 1] = begins[i] + t->builds[i].runs;
    memcpy(next, begins, builds * sizeof *next);
    for (size_t i = 0; i < t->runs.count; i++)
        if (t->by_run[i].build != INTERN_NONE)
            values[next[t->by_run[i].build]++] = (double)t->by_run[i].time;
    const size_t change = trend_find_change(&(struct trend){ values, begins, builds });
    free(begins);
    free(next);
    free(values);
    return change;
}

/* ---- rows ---- */

static const struct column trend_columns[] = {
    { "build", "BUILD", CELL_TEXT, USE_ALWAYS, false },
    { "at", "BEGAN", CELL_TEXT, USE_ALWAYS, false },
    { "runs", "RUNS", CELL_COUNT, USE_ALWAYS, false },
    { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },
    { "time", "TIME", CELL_NS, USE_ALWAYS, false },
    { "share", "SHARE %", CELL_PERCENT, USE_ALWAYS, false },
    { "change", "CHANGE %", CELL_PERCENT, USE_ALWAYS, false },
    { "mark", "MARK", CELL_TEXT, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_ALWAYS, false },
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    PART_PERCENTILE_COLUMNS,
};

/* The percentiles of the calls of all runs of a build, together. */
static void trend_fill_percentiles(const struct trend_rows *t, uint32_t build, struct table *table, struct cell *cells)
{
    struct part_calls all = { .least = UINT64_MAX };
    for (size_t i = 0; i < t->runs.count; i++) {
        const struct part_calls *calls = part_percentiles_find(&t->calls, i, 0);
        if (t->by_run[i].build != build || !calls)
            continue;
        part_calls_limit(&all, &(struct fleet_part){ .least = calls->least, .most = calls->most });
        part_calls_join(&all, calls->durations);
    }
    part_percentiles_fill(&t->calls, &all, cells);
    table->marks_cells |= t->calls.estimated;
    free(all.durations);
}

static void trend_fill(const struct trend_rows *t, const struct analysis *analysis, size_t place, bool marked,
                       struct table *table)
{
    const struct trend_build *b = &t->builds[place], *before = place ? b - 1 : NULL;
    const double runs = (double)b->runs, time = b->time / runs;
    struct cell *cells = table_row(table);
    cell_text(&cells[0], b->name);
    fleet_fill_time(&cells[1], b->at);
    cell_number(&cells[2], b->runs);
    cell_number(&cells[3], (uint64_t)(b->calls / runs + 0.5));
    cell_number(&cells[4], (uint64_t)(time + 0.5));
    if (!t->percent)
        cell_percent(&cells[5], b->whole > 0 ? 100 * b->time / b->whole : 0);
    if (before && before->time > 0)
        cell_percent(&cells[6], 100 * (time * (double)before->runs / before->time - 1));
    cell_text(&cells[7], marked ? "*" : "");
    if (t->function < analysis->profile->function_count) {
        cell_text(&cells[8], analysis->names[t->function].module);
        cell_text(&cells[9], analysis->names[t->function].name);
    }
    trend_fill_percentiles(t, (uint32_t)place, table, &cells[10]);
}

int fleet_trend(struct fleet_settings *settings)
{
    const char *by = settings->by ? settings->by : "build";
    if (!settings->argument_count)
        die(STATUS_ERROR, "fleet trend: which FUNCTION? dwell fleet report lists them");
    if (strncmp(by, TREND_LABEL, sizeof TREND_LABEL - 1) != 0)
        option_check("--by", by, "build, day, label:KEY");
    struct trend_rows t = { .runs = fleet_choose_runs(settings, 1, settings->argument_count),
                            .function = UINT32_MAX,
                            .percent = trend_percent(settings) };
    struct analysis analysis;
    t.calls = part_percentiles_begin(settings, &t.runs);
    trend_find_builds(&t, by);
    trend_ask(settings, &t, &analysis);
    const size_t change = trend_change_of(&t), builds = t.build_count, limit = settings->shared.limit;
    struct table table = table_make(trend_columns, sizeof trend_columns / sizeof *trend_columns, NULL);
    for (size_t i = limit && builds > limit ? builds - limit : 0; i < builds; i++)
        trend_fill(&t, &analysis, i, change && i == change, &table);
    option_filter(&table, &settings->shared.filters);
    if (settings->shared.sort || settings->shared.columns)
        option_arrange(&table, settings->shared.sort, settings->shared.columns, true);
    analysis_drop(&analysis);
    part_percentiles_drop(&t.calls);
    intern_drop(&t.names);
    free(t.builds);
    free(t.by_run);
    fleet_runs_drop(&t.runs);
    return fleet_print(settings, &table);
}
