/* dwell fleet runs, hosts, report, tree, callers and diff: what asks the store. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "commands/fleet.h"
#include "fleet/answer.h"
#include "report/first_screen.h"
#include "report/row_probes.h"
#include "report/views.h"

enum { TEXT_LIMIT = 40 };

static size_t fleet_limit(const struct fleet_settings *s)
{
    const bool usual = !shared_is_set(&s->shared, SHARED_LIMIT) && s->shared.print == table_print_text;
    return usual ? TEXT_LIMIT : s->shared.limit;
}

static int fleet_print(const struct fleet_settings *s, struct table *table)
{
    s->shared.print(table, stdout);
    table_drop(table);
    return finish_output();
}

/* Filters, sorts and limits a table without values. */
static int fleet_print_list(const struct fleet_settings *s, struct table *table, const char *usual_sort)
{
    const struct sorting sorting = { .key = s->shared.sort ? s->shared.sort : usual_sort,
                                     .limit = s->shared.limit,
                                     .filters = &s->shared.filters };
    option_order(table, &sorting);
    if (s->shared.columns)
        option_choose(table, s->shared.columns);
    return fleet_print(s, table);
}

/* ---- runs and hosts ---- */

static const struct column run_columns[] = {
    { "run", "RUN", CELL_TEXT, USE_ALWAYS, false },
    { "at", "BEGAN", CELL_TEXT, USE_ALWAYS, false },
    { "host", "HOST", CELL_TEXT, USE_ALWAYS, false },
    { "program", "PROGRAM", CELL_TEXT, USE_ALWAYS, false },
    { "build", "BUILD", CELL_TEXT, USE_ALWAYS, false },
    { "elapsed", "EL.INCL", CELL_NS, USE_ALWAYS, false },
    { "rows", "ROWS", CELL_COUNT, USE_ALWAYS, false },
    { "threads", "THREADS", CELL_COUNT, USE_DATA, false },
    { "processes", "PROCESSES", CELL_COUNT, USE_DATA, false },
    { "lost_events", "LOST", CELL_COUNT, USE_DATA, false },
    { "labels", "LABELS", CELL_TEXT, USE_ALWAYS, false },
    { "file", "FILE", CELL_TEXT, USE_DATA, false },
};

static const struct column host_columns[] = {
    { "host", "HOST", CELL_TEXT, USE_ALWAYS, false },       { "runs", "RUNS", CELL_COUNT, USE_ALWAYS, false },
    { "elapsed", "EL.INCL", CELL_NS, USE_ALWAYS, false },   { "rows", "ROWS", CELL_COUNT, USE_ALWAYS, false },
    { "first", "FIRST RUN", CELL_TEXT, USE_ALWAYS, false }, { "last", "LAST RUN", CELL_TEXT, USE_ALWAYS, false },
};

static void fleet_fill_time(struct cell *cell, uint32_t at)
{
    const time_t seconds = at;
    struct tm broken;
    char text[32];
    gmtime_r(&seconds, &broken);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &broken);
    cell_text(cell, text);
}

static char *fleet_join_labels(const struct fleet_run *run)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    for (size_t i = 0; i < run->label_keys.count; i++)
        fprintf(out, "%s%s=%s", i ? " " : "", run->label_keys.list[i], run->label_values.list[i]);
    need_stream_end(out);
    return text;
}

static void fleet_fill_run(struct cell *cells, const struct fleet_run *run)
{
    char number[17], *labels = fleet_join_labels(run);
    snprintf(number, sizeof number, "%016llx", (unsigned long long)run->run);
    cell_text(&cells[0], number);
    fleet_fill_time(&cells[1], run->at);
    cell_text(&cells[2], run->host);
    cell_text(&cells[3], run->program);
    if (run->builds.count)
        cell_text(&cells[4], run->builds.list[0]);
    cell_number(&cells[5], run->elapsed);
    cell_number(&cells[6], run->rows);
    cell_number(&cells[7], run->threads);
    cell_number(&cells[8], run->processes);
    cell_number(&cells[9], run->lost_events);
    cell_text(&cells[10], labels);
    cell_text(&cells[11], run->file);
    free(labels);
}

int fleet_list_runs(struct fleet_settings *s)
{
    struct fleet_runs runs = fleet_choose_runs(s, 0, s->argument_count);
    struct table table = table_make(run_columns, sizeof run_columns / sizeof *run_columns, NULL);
    for (size_t i = 0; i < runs.count; i++)
        fleet_fill_run(table_row(&table), &runs.list[i]);
    fleet_runs_drop(&runs);
    return fleet_print_list(s, &table, "at");
}

static int fleet_compare_hosts(const void *a, const void *b)
{
    const struct fleet_run *x = a, *y = b;
    const int order = strcmp(x->host, y->host);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

int fleet_list_hosts(struct fleet_settings *s)
{
    struct fleet_runs runs = fleet_choose_runs(s, 0, s->argument_count);
    struct table table = table_make(host_columns, sizeof host_columns / sizeof *host_columns, NULL);
    qsort(runs.list, runs.count, sizeof *runs.list, fleet_compare_hosts);
    for (size_t i = 0, end; i < runs.count; i = end) {
        uint64_t elapsed = 0, rows = 0;
        for (end = i; end < runs.count && strcmp(runs.list[end].host, runs.list[i].host) == 0; end++) {
            elapsed += runs.list[end].elapsed;
            rows += runs.list[end].rows;
        }
        struct cell *cells = table_row(&table);
        cell_text(&cells[0], runs.list[i].host);
        cell_number(&cells[1], end - i);
        cell_number(&cells[2], elapsed);
        cell_number(&cells[3], rows);
        fleet_fill_time(&cells[4], runs.list[i].at);
        fleet_fill_time(&cells[5], runs.list[end - 1].at);
    }
    fleet_runs_drop(&runs);
    return fleet_print_list(s, &table, "name");
}

/* ---- views of sums ---- */

static void fleet_load_paths(struct fleet_settings *s, struct analysis *l, size_t first)
{
    struct error error = { NULL };
    struct fleet_runs runs = fleet_choose_runs(s, first, s->argument_count);
    if (!fleet_answer_paths(l, &s->store, runs.list, runs.count, &s->shared.load, &error))
        die_of(&error);
    fleet_runs_drop(&runs);
}

int fleet_report(struct fleet_settings *s)
{
    struct error error = { NULL };
    struct analysis l;
    const enum rollup_by by = s->by && option_choice("--by", s->by, "function, module") == 1 ? BY_MODULE : BY_FUNCTION;
    const struct sorting sorting = { .key = s->shared.sort ? s->shared.sort : "elapsed_exclusive",
                                     .limit = fleet_limit(s),
                                     .filters = &s->shared.filters };
    struct fleet_runs runs = fleet_choose_runs(s, 0, s->argument_count);
    if (!fleet_answer_sums(&l, &s->store, runs.list, runs.count, by, &error))
        die_of(&error);
    fleet_runs_drop(&runs);
    struct table table = view_rows(&l, by, &sorting);
    option_order(&table, &sorting);
    row_probes_remark(&l.summary, &table);
    if (s->shared.columns)
        option_choose(&table, s->shared.columns);
    const int status = fleet_print(s, &table);
    analysis_drop(&l);
    return status;
}

int fleet_tree(struct fleet_settings *s)
{
    struct analysis l;
    struct tree_options tree = { .depth = s->depth, .min = s->shared.min, .unfolded = s->shared.filters.count > 0 };
    if (!shared_is_set(&s->shared, SHARED_MIN) && !tree.unfolded)
        tree.min = (struct amount){ .percent = 1 };
    fleet_load_paths(s, &l, 0);
    tree.by_cpu = s->shared.print == table_print_text && first_screen_is_known(&l.summary);
    struct table table = view_tree(&l, &tree);
    option_filter(&table, &s->shared.filters);
    option_arrange(&table, s->shared.sort, s->shared.columns, false);
    row_probes_remark(&l.summary, &table);
    const int status = fleet_print(s, &table);
    analysis_drop(&l);
    return status;
}

int fleet_callers(struct fleet_settings *s)
{
    struct analysis l;
    if (!s->argument_count)
        die(STATUS_ERROR, "fleet callers: which FUNCTION? dwell fleet report lists them");
    fleet_load_paths(s, &l, 1);
    const bool by_cpu = s->shared.print == table_print_text && !s->shared.columns && first_screen_is_known(&l.summary);
    struct table table = view_callers(&l, option_function(&l, s->arguments[0]), by_cpu);
    option_filter(&table, &s->shared.filters);
    option_arrange(&table, s->shared.sort, s->shared.columns, false);
    row_probes_remark(&l.summary, &table);
    const int status = fleet_print(s, &table);
    analysis_drop(&l);
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

static void fleet_diff_add(struct fleet_settings *s, struct diff *d, enum diff_side side, size_t first, size_t end)
{
    static const enum fleet_rows rows[] = {
        [DIFF_FUNCTIONS] = FLEET_FUNCTIONS, [DIFF_MODULES] = FLEET_MODULES, [DIFF_PATHS] = FLEET_CALL_PATHS
    };
    struct fleet_runs runs = fleet_choose_runs(s, first, end);
    struct fleet_diff_side to = { d, &s->diff, side };
    struct error error = { NULL };
    if (!fleet_answer_runs(&s->store, runs.list, runs.count, rows[d->by], &s->shared.load, fleet_diff_take, &to,
                           &error))
        die_of(&error);
    fleet_runs_drop(&runs);
}

int fleet_diff(struct fleet_settings *s)
{
    const enum diff_by by =
        s->by ? (enum diff_by)option_choice("--by", s->by, "function, module, path") : DIFF_FUNCTIONS;
    const size_t middle = s->middle == SIZE_MAX ? 1 : s->middle;
    if (s->argument_count < 2 || (s->middle == SIZE_MAX && s->argument_count > 2) || !middle ||
        middle == s->argument_count)
        die(STATUS_ERROR, "fleet diff: give a condition for the runs of before and one for those of after, or several "
                          "of each with -- between them");
    diff_result_check(&s->diff);
    struct diff *d = diff_new(by);
    fleet_diff_add(s, d, DIFF_BEFORE, 0, middle);
    fleet_diff_add(s, d, DIFF_AFTER, middle, s->argument_count);
    const int status = diff_result_finish(&s->diff, d, s->arguments[0]);
    diff_free(d);
    return status;
}
