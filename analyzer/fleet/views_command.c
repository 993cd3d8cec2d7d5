/* dwell fleet report, tree, callers and diff: the views of sessions, of what the store answers. And outliers and top:
 * how runs, hosts and days differ. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "base/units.h"
#include "fleet/fleet_command.h"
#include "fleet/outliers.h"
#include "fleet/part_percentiles.h"
#include "fleet/store_answer.h"
#include "tables/first_screen.h"
#include "tables/row_probes.h"
#include "tables/views.h"

enum { TEXT_LIMIT = 40, FUNCTIONS_A_DAY = 5 };

static size_t fleet_limit(const struct fleet_settings *settings)
{
    const bool usual = !shared_is_set(&settings->shared, SHARED_LIMIT) && settings->shared.print == table_print_text;
    return usual ? TEXT_LIMIT : settings->shared.limit;
}

/* Whether --by says `wanted`. Ends the program if it is none of the names. */
static bool fleet_by_is(const char *by, const char *names, const char *wanted)
{
    if (by)
        option_check("--by", by, names);
    return by && strcmp(by, wanted) == 0;
}

/* ---- views of sums ---- */

static void fleet_load_paths(struct fleet_settings *settings, struct analysis *analysis, size_t first)
{
    struct error error = { NULL };
    struct fleet_runs runs = fleet_choose_runs(settings, first, settings->argument_count);
    const struct analysis_options load = shared_options_of_load(&settings->shared);
    if (!fleet_answer_paths(analysis, &settings->store, runs.list, runs.count, &load, &error))
        die_of(&error);
    fleet_runs_drop(&runs);
    analysis->limits = load.limits;
}

int fleet_report(struct fleet_settings *settings)
{
    struct error error = { NULL };
    struct analysis analysis;
    const enum rollup_by by = fleet_by_is(settings->by, "function, module", "module") ? BY_MODULE : BY_FUNCTION;
    const struct sorting sorting = { .key = settings->shared.sort ? settings->shared.sort : "elapsed_exclusive",
                                     .limit = fleet_limit(settings),
                                     .filters = &settings->shared.filters };
    const struct analysis_options load = shared_options_of_load(&settings->shared);
    struct fleet_runs runs = fleet_choose_runs(settings, 0, settings->argument_count);
    if (!fleet_answer_sums(&analysis, &settings->store, runs.list, runs.count, by, by == BY_FUNCTION && load.durations,
                           &error))
        die_of(&error);
    fleet_runs_drop(&runs);
    analysis.limits = load.limits;
    struct table table = view_rows(&analysis, by, &sorting);
    option_order(&table, &sorting);
    row_probes_remark(&analysis.summary, &table);
    if (settings->shared.columns)
        option_choose(&table, settings->shared.columns);
    const int status = fleet_print(settings, &table);
    analysis_drop(&analysis);
    return status;
}

int fleet_tree(struct fleet_settings *settings)
{
    struct analysis analysis;
    struct tree_options tree = { .depth = settings->depth,
                                 .min = settings->shared.min,
                                 .unfolded = settings->shared.filters.count > 0 };
    if (!shared_is_set(&settings->shared, SHARED_MIN) && !tree.unfolded)
        tree.min = (struct amount){ .percent = 1 };
    fleet_load_paths(settings, &analysis, 0);
    tree.by_cpu = settings->shared.print == table_print_text && first_screen_is_known(&analysis.summary);
    struct table table = view_tree(&analysis, &tree);
    option_filter(&table, &settings->shared.filters);
    option_arrange(&table, settings->shared.sort, settings->shared.columns, false);
    row_probes_remark(&analysis.summary, &table);
    const int status = fleet_print(settings, &table);
    analysis_drop(&analysis);
    return status;
}

int fleet_callers(struct fleet_settings *settings)
{
    struct analysis analysis;
    if (!settings->argument_count)
        die(STATUS_ERROR, "fleet callers: which FUNCTION? dwell fleet report lists them");
    fleet_load_paths(settings, &analysis, 1);
    const bool by_cpu = settings->shared.print == table_print_text && !settings->shared.columns &&
                        first_screen_is_known(&analysis.summary);
    struct table table = view_callers(&analysis, option_function(&analysis, settings->arguments[0]), by_cpu);
    option_filter(&table, &settings->shared.filters);
    option_arrange(&table, settings->shared.sort, settings->shared.columns, false);
    row_probes_remark(&analysis.summary, &table);
    const int status = fleet_print(settings, &table);
    analysis_drop(&analysis);
    return status;
}

/* ---- diff ---- */

/* The comparison, and the side that runs are added to. */
struct fleet_diff_side {
    struct diff *diff;
    struct diff_result *result;
    enum diff_side side;
};

/* Each run is a session of its own, so that the test of significance sees how runs vary. */
static bool fleet_diff_take(void *context, const struct analysis *run, struct error *error)
{
    const struct fleet_diff_side *to = context;
    if (!diff_add(to->diff, to->side, run, error))
        return false;
    diff_result_add_sources(to->result, to->diff, run);
    return true;
}

static void fleet_diff_add(struct fleet_settings *settings, struct diff *d, enum diff_side side, size_t first,
                           size_t end)
{
    static const enum fleet_rows rows[] = {
        [DIFF_FUNCTIONS] = FLEET_FUNCTIONS, [DIFF_MODULES] = FLEET_MODULES, [DIFF_PATHS] = FLEET_CALL_PATHS
    };
    struct fleet_runs runs = fleet_choose_runs(settings, first, end);
    struct fleet_diff_side to = { d, &settings->diff, side };
    struct analysis_options load = settings->shared.load;
    struct error error = { NULL };
    load.durations = diff_result_wants_percentiles(&settings->diff);
    if (!fleet_answer_runs(&settings->store, runs.list, runs.count, rows[d->by], &load, fleet_diff_take, &to, &error))
        die_of(&error);
    fleet_runs_drop(&runs);
}

int fleet_diff(struct fleet_settings *settings)
{
    const enum diff_by by =
        settings->by ? (enum diff_by)option_word_find("--by", settings->by, diff_ways)->value : DIFF_FUNCTIONS;
    const size_t middle = settings->middle == SIZE_MAX ? 1 : settings->middle;
    if (settings->argument_count < 2 || (settings->middle == SIZE_MAX && settings->argument_count > 2) || !middle ||
        middle == settings->argument_count)
        die(STATUS_ERROR, "fleet diff: give a condition for the runs of before and one for those of after, or several "
                          "of each with -- between them");
    diff_result_check(&settings->diff);
    struct diff *d = diff_new(by);
    fleet_diff_add(settings, d, DIFF_BEFORE, 0, middle);
    fleet_diff_add(settings, d, DIFF_AFTER, middle, settings->argument_count);
    const int status = diff_result_finish(&settings->diff, d, settings->arguments[0]);
    diff_free(d);
    return status;
}

enum fleet_time fleet_time_of(const struct fleet_settings *settings)
{
    static const struct {
        const char *name;
        enum fleet_time time;
    } values[] = { { "cpu", FLEET_CPU }, { "elapsed", FLEET_ELAPSED }, { "blocked", FLEET_BLOCKED } };
    return settings->shared.value ? option_choice("--value", settings->shared.value, values)->time : FLEET_CPU;
}

/* ---- top ---- */

struct trends {
    struct analysis analysis;
    struct fleet_part *parts; /* when they are sorted: by day, the longest first */
    size_t count, room;
    size_t limit; /* of functions a day; zero for all */
    bool sorted;
    struct part_percentiles calls; /* of the parts that are shown */
};

static void trends_take_day(void *context, const struct fleet_part *part)
{
    struct trends *t = context;
    GROW(t->parts, t->count, t->room);
    t->parts[t->count++] = *part;
}

static const struct column top_columns[] = {
    { "day", "DAY", CELL_TEXT, USE_ALWAYS, false },
    { "time", "TIME", CELL_NS, USE_ALWAYS, false },
    { "share", "SHARE %", CELL_PERCENT, USE_ALWAYS, false },
    { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_ALWAYS, false },
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    PART_PERCENTILE_COLUMNS,
};

static int trends_compare_days(const void *a, const void *b)
{
    const struct fleet_part *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return ORDER_BY(x, y, function);
}

static int trends_compare_functions(const void *a, const void *b)
{
    const struct fleet_part *x = a, *y = b;
    return ORDER_BY(x, y, key, function);
}

/* Adds up the parts of one function, which several builds have. */
static void trends_add_builds(struct trends *t)
{
    size_t kept = 0;
    if (t->count)
        qsort(t->parts, t->count, sizeof *t->parts, trends_compare_functions);
    for (size_t i = 0; i < t->count; i++) {
        if (kept && trends_compare_functions(&t->parts[kept - 1], &t->parts[i]) == 0) {
            t->parts[kept - 1].time += t->parts[i].time;
            t->parts[kept - 1].calls += t->parts[i].calls;
            t->parts[kept - 1].least = smaller(t->parts[kept - 1].least, t->parts[i].least);
            t->parts[kept - 1].most = larger(t->parts[kept - 1].most, t->parts[i].most);
        } else {
            t->parts[kept++] = t->parts[i];
        }
    }
    t->count = kept;
}

/* Returns the end of the parts of a day. Its first ones are shown, up to *shown. */
static size_t trends_find_day(const struct trends *t, size_t first, size_t *shown)
{
    size_t end = first;
    while (end < t->count && t->parts[end].key == t->parts[first].key)
        end++;
    *shown = t->limit && end - first > t->limit ? first + t->limit : end;
    return end;
}

static void trends_sort(struct trends *t)
{
    trends_add_builds(t);
    if (t->count)
        qsort(t->parts, t->count, sizeof *t->parts, trends_compare_days);
    for (size_t i = 0, shown, end; i < t->count; i = end) {
        end = trends_find_day(t, i, &shown);
        for (size_t j = i; j < shown; j++)
            part_calls_limit(part_percentiles_add(&t->calls, t->parts[j].key, t->parts[j].function), &t->parts[j]);
    }
    t->sorted = true;
}

/* All parts have come. */
static void trends_take_durations(void *context, uint64_t day, uint32_t function, const struct durations *d)
{
    struct trends *t = context;
    if (!t->sorted)
        trends_sort(t);
    struct part_calls *calls = part_percentiles_find(&t->calls, day, function);
    if (calls)
        part_calls_join(calls, d);
}

static void trends_fill_day(const struct trends *t, struct table *table, const struct fleet_part *part, uint64_t whole)
{
    const time_t seconds = (time_t)part->key * 86400;
    struct tm broken;
    char day[16];
    struct cell *cells = table_row(table);
    strftime(day, sizeof day, "%Y-%m-%d", gmtime_r(&seconds, &broken));
    cell_text(&cells[0], day);
    cell_number(&cells[1], part->time);
    cell_percent(&cells[2], percent_of(part->time, whole));
    cell_number(&cells[3], part->calls);
    cell_text(&cells[4], t->analysis.names[part->function].module);
    cell_text(&cells[5], t->analysis.names[part->function].name);
    part_percentiles_fill(&t->calls, part_percentiles_find(&t->calls, part->key, part->function), &cells[6]);
    table->marks_cells |= t->calls.estimated;
}

int fleet_top(struct fleet_settings *settings)
{
    const bool percentiles = part_percentiles_are_wanted(settings);
    struct fleet_runs runs = fleet_choose_runs(settings, 0, settings->argument_count);
    struct trends t = { .calls = part_percentiles_begin(settings, &runs), .limit = FUNCTIONS_A_DAY };
    struct error error = { NULL };
    const struct fleet_wanted wanted = { .key = FLEET_BY_DAY,
                                         .time = fleet_time_of(settings),
                                         .builds_apart = fleet_by_is(settings->by, "function, build", "build"),
                                         .durations = percentiles ? trends_take_durations : NULL };
    if (shared_is_set(&settings->shared, SHARED_LIMIT))
        t.limit = settings->shared.limit;
    if (!fleet_answer_parts(&t.analysis, &settings->store, runs.list, runs.count, &wanted, trends_take_day, &t, &error))
        die_of(&error);
    if (!t.sorted)
        trends_sort(&t);
    if (percentiles)
        part_percentiles_say(&runs);
    struct table table = table_make(top_columns, sizeof top_columns / sizeof *top_columns, NULL);
    for (size_t i = 0, shown, end; i < t.count; i = end) {
        uint64_t whole = 0;
        end = trends_find_day(&t, i, &shown);
        for (size_t j = i; j < end; j++)
            whole += t.parts[j].time;
        for (size_t j = i; j < shown; j++)
            trends_fill_day(&t, &table, &t.parts[j], whole);
    }
    option_filter(&table, &settings->shared.filters);
    if (settings->shared.sort || settings->shared.columns)
        option_arrange(&table, settings->shared.sort ? settings->shared.sort : "name", settings->shared.columns, true);
    settings->shared.print(&table, stdout);
    table_drop(&table);
    analysis_drop(&t.analysis);
    part_percentiles_drop(&t.calls);
    free(t.parts);
    fleet_runs_drop(&runs);
    return finish_output();
}

/* ---- outliers ---- */

static const struct column outlier_columns[] = {
    { "run", "RUN", CELL_TEXT, USE_ALWAYS, false },
    { "host", "HOST", CELL_TEXT, USE_ALWAYS, false },
    { "share", "SHARE %", CELL_PERCENT, USE_ALWAYS, false },
    { "usual", "USUAL %", CELL_PERCENT, USE_ALWAYS, false },
    { "difference", "DIFFERENCE", CELL_PERCENT, USE_DATA, false },
    { "score", "SPREADS", CELL_COUNT, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_ALWAYS, false },
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    PART_PERCENTILE_COLUMNS,
};

/* The runs, or the hosts: what is compared. */
struct trends_units {
    uint32_t *of_run; /* by run in the list: its unit */
    uint64_t *wholes; /* by unit: the time of all its functions */
    size_t count;
};

static struct trends_units trends_find_units(const struct fleet_runs *runs, bool hosts)
{
    struct trends_units u = { .of_run = need_memory(runs->count, sizeof *u.of_run),
                              .wholes = need_memory(runs->count, sizeof *u.wholes) };
    struct intern names = { 0 };
    for (size_t i = 0; i < runs->count; i++)
        u.of_run[i] = hosts ? intern(&names, runs->list[i].host, strlen(runs->list[i].host)) : (uint32_t)i;
    u.count = hosts ? names.count : runs->count;
    intern_drop(&names);
    return u;
}

/* Returns the time of each run. The caller frees it. */
static uint64_t *trends_ask_wholes(const struct fleet_settings *settings, const struct fleet_runs *runs,
                                   struct trends_units *u)
{
    struct error error = { NULL };
    uint64_t *times = need_memory(runs->count, sizeof *times);
    if (!fleet_answer_run_times(&settings->store, runs->list, runs->count, fleet_time_of(settings), times, &error))
        die_of(&error);
    for (size_t i = 0; i < runs->count; i++)
        u->wholes[u->of_run[i]] += times[i];
    return times;
}

static int trends_compare_runs(const void *a, const void *b)
{
    const struct fleet_run *x = a, *y = b;
    return ORDER_BY(x, y, run);
}

/* The runs are sorted by number. */
static uint32_t trends_unit(const struct fleet_runs *runs, const struct trends_units *u, uint64_t run)
{
    const struct fleet_run key = { .run = run };
    const struct fleet_run *found = bsearch(&key, runs->list, runs->count, sizeof *runs->list, trends_compare_runs);
    return found ? u->of_run[found - runs->list] : 0;
}

/* What the search for outliers needs with each part of the answer. */
struct trends_search {
    const struct fleet_runs *runs;
    const struct trends_units *units;
    struct outliers_search found;
    bool ended;
    struct part_percentiles calls; /* by unit */
};

static void trends_take_run(void *context, const struct fleet_part *part)
{
    struct trends_search *s = context;
    const uint32_t unit = trends_unit(s->runs, s->units, part->key);
    outliers_add(&s->found, &(struct outliers_part){ part->function, unit, part->time, part->least, part->most });
}

static void trends_end_search(struct trends_search *s)
{
    outliers_end(&s->found);
    for (size_t i = 0; i < s->found.count; i++) {
        const struct outlier *o = &s->found.list[i];
        part_calls_limit(part_percentiles_add(&s->calls, o->unit, o->function),
                         &(struct fleet_part){ .least = o->least, .most = o->most });
    }
    s->ended = true;
}

/* All parts have come. */
static void trends_take_run_durations(void *context, uint64_t run, uint32_t function, const struct durations *d)
{
    struct trends_search *s = context;
    if (!s->ended)
        trends_end_search(s);
    struct part_calls *calls = part_percentiles_find(&s->calls, trends_unit(s->runs, s->units, run), function);
    if (calls)
        part_calls_join(calls, d);
}

static void trends_fill_outlier(const struct analysis *analysis, const struct trends_search *s, bool hosts,
                                struct table *table, const struct outlier *o)
{
    const struct fleet_runs *runs = s->runs;
    const struct trends_units *u = s->units;
    char number[17];
    size_t run = 0;
    while (run + 1 < runs->count && u->of_run[run] != o->unit)
        run++;
    struct cell *cells = table_row(table);
    snprintf(number, sizeof number, "%016llx", (unsigned long long)runs->list[run].run);
    if (!hosts)
        cell_text(&cells[0], number);
    cell_text(&cells[1], runs->list[run].host);
    cell_percent(&cells[2], 100 * o->share);
    cell_percent(&cells[3], 100 * o->usual);
    cell_percent(&cells[4], 100 * (o->share - o->usual));
    cell_number(&cells[5], (uint64_t)outlier_score(o));
    cell_text(&cells[6], analysis->names[o->function].module);
    cell_text(&cells[7], analysis->names[o->function].name);
    part_percentiles_fill(&s->calls, part_percentiles_find(&s->calls, o->unit, o->function), &cells[8]);
    table->marks_cells |= s->calls.estimated;
}

/* --by names what is compared, and build if a function of two builds is two: run (default), host, or host,build. */
static bool trends_has_choice(const char *by, const char *wanted)
{
    bool found = false;
    char *copy = need_copy(by ? by : "", by ? strlen(by) : 0), *rest = copy;
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        found |= fleet_by_is(word, "run, host, build", wanted);
    free(copy);
    return found;
}

int fleet_outliers(struct fleet_settings *settings)
{
    const bool hosts = trends_has_choice(settings->by, "host");
    struct fleet_runs runs = fleet_choose_runs(settings, 0, settings->argument_count);
    qsort(runs.list, runs.count, sizeof *runs.list, trends_compare_runs);
    struct trends_units units = trends_find_units(&runs, hosts);
    if (units.count < OUTLIERS_FEWEST)
        die(STATUS_ERROR, "fleet outliers: %zu %s: it takes %d to see which is unlike the rest", units.count,
            hosts ? "hosts" : "runs", OUTLIERS_FEWEST);
    uint64_t *times = trends_ask_wholes(settings, &runs, &units);
    /* An outlier takes 1 % of the time of a unit, so of a run in it. Some less are asked for, as shares are rounded. */
    const struct fleet_large large = { .run_times = times, .thousandths = 9 };
    struct trends_search search = { .runs = &runs,
                                    .units = &units,
                                    .found = outliers_begin(units.wholes, units.count),
                                    .calls = part_percentiles_begin(settings, &runs) };
    const bool percentiles = part_percentiles_are_wanted(settings);
    struct analysis analysis;
    struct error error = { NULL };
    const struct fleet_wanted wanted = { .key = FLEET_BY_RUN,
                                         .time = fleet_time_of(settings),
                                         .builds_apart = trends_has_choice(settings->by, "build"),
                                         .large = &large,
                                         .durations = percentiles ? trends_take_run_durations : NULL };
    if (!fleet_answer_parts(&analysis, &settings->store, runs.list, runs.count, &wanted, trends_take_run, &search,
                            &error))
        die_of(&error);
    if (!search.ended)
        trends_end_search(&search);
    if (percentiles)
        part_percentiles_say(&runs);
    const size_t count = search.found.count;
    struct table table = table_make(outlier_columns, sizeof outlier_columns / sizeof *outlier_columns, NULL);
    for (size_t i = 0; i < count; i++)
        trends_fill_outlier(&analysis, &search, hosts, &table, &search.found.list[i]);
    if (!count && settings->shared.print == table_print_text)
        printf("no %s is unlike the rest\n", hosts ? "host" : "run");
    option_filter(&table, &settings->shared.filters);
    if (settings->shared.sort || settings->shared.columns)
        option_arrange(&table, settings->shared.sort ? settings->shared.sort : "difference", settings->shared.columns,
                       true);
    if (settings->shared.limit)
        table_limit(&table, settings->shared.limit);
    settings->shared.print(&table, stdout);
    table_drop(&table);
    outliers_drop(&search.found);
    part_percentiles_drop(&search.calls);
    free(units.of_run);
    free(units.wholes);
    free(times);
    analysis_drop(&analysis);
    fleet_runs_drop(&runs);
    return finish_output();
}
