/* The view of one function: its callers above it, and its callees below it. */
#include <stdlib.h>
#include <string.h>

#include "analysis/lines.h"
#include "analysis/waiting_names.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "base/units.h"
#include "tables/percentiles.h"
#include "tables/views.h"

static const struct column columns[] = {
    { "role", "", CELL_TEXT, USE_ALWAYS, false },
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_ALWAYS, false },
    { "share_percent", "SHARE %", CELL_PERCENT, USE_ALWAYS, false },
    { "cpu_share_percent", "CPU %", CELL_PERCENT, USE_CHOSEN, false },
    { "waits", "", CELL_TEXT, USE_TEXT, false },
};
static const struct column line_columns[] = {
    { "role", "", CELL_TEXT, USE_ALWAYS, false },
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_ALWAYS, false },
    { "source", "FROM LINE", CELL_SOURCE, USE_ALWAYS, false },
    { "of", "OF FUNCTION", CELL_NAME, USE_ALWAYS, false },
    { "share_percent", "SHARE %", CELL_PERCENT, USE_ALWAYS, false },
    { "cpu_share_percent", "CPU %", CELL_PERCENT, USE_CHOSEN, false },
    { "waits", "", CELL_TEXT, USE_TEXT, false },
};
#define USUAL_COLUMNS                                                                                                  \
    "cpu_inclusive,cpu_exclusive,blocked_inclusive,elapsed_inclusive,elapsed_exclusive,application_inclusive,"         \
    "application_exclusive,calls"
enum {
    NAME_ROOM = 30,
    SHARES = 2,
    SOURCE = 3,
    OF,
    COLUMN_COUNT = sizeof columns / sizeof *columns,
    LINE_COLUMN_COUNT = sizeof line_columns / sizeof *line_columns
};

struct callers_context {
    const struct analysis *loaded;
    struct table *table;
    enum value_id measure; /* the value of the order */
    uint64_t elapsed, cpu; /* ticks that are 100 % of the columns of shares */
};

static int callers_compare_neighbours(const void *a, const void *b, void *data)
{
    const struct neighbour *x = a, *y = b;
    const struct callers_context *c = data;
    const struct analysis *analysis = c->loaded;
    const uint64_t a_measure = times_value(&x->times, c->measure, INCLUSIVE);
    const uint64_t b_measure = times_value(&y->times, c->measure, INCLUSIVE);
    if (a_measure != b_measure)
        return a_measure < b_measure ? 1 : -1;
    if (x->times.elapsed_inclusive != y->times.elapsed_inclusive)
        return x->times.elapsed_inclusive < y->times.elapsed_inclusive ? 1 : -1;
    if (x->function != y->function && (x->function == PROFILE_NONE || y->function == PROFILE_NONE))
        return x->function == PROFILE_NONE ? 1 : -1;
    if (x->function == PROFILE_NONE)
        return lines_compare(analysis, x->site, y->site);
    int order = strcmp(analysis->names[x->function].name, analysis->names[y->function].name);
    const struct profile_function *f = &analysis->profile->functions[x->function],
                                  *g = &analysis->profile->functions[y->function];
    if (order == 0)
        order = strcmp(analysis->profile->modules[f->module].path, analysis->profile->modules[g->module].path);
    if (order == 0)
        order = ORDER(f->offset, g->offset);
    return order ? order : lines_compare(analysis, x->site, y->site);
}

static void callers_add_row(const struct callers_context *c, const char *role, uint32_t function, uint32_t site,
                            const struct times *times, const struct durations *durations,
                            const struct dwell_stated *stated)
{
    struct cell *cells = table_row(c->table);
    cell_text(&cells[0], role);
    if (function == PROFILE_NONE) {
        cell_text(&cells[1], "(start of thread)");
    } else {
        cell_text(&cells[1], c->loaded->names[function].name);
        cell_text(&cells[2], c->loaded->names[function].module);
        fill_place(c->table, &c->loaded->names[function]);
    }
    if (c->loaded->lines && site < PROFILE_SAMPLED) {
        char *of = lines_function(&c->loaded->lines[site]);
        cell_text(&cells[SOURCE], c->loaded->lines[site].source);
        cell_text(&cells[OF], of);
        free(of);
    }
    if (has_waiting_name(c->loaded, function))
        cell_mark_waiting(&cells[c->table->waiting_column]);
    struct cell *shares = &cells[c->table->waiting_column - SHARES];
    cell_percent(&shares[0], percent_of(times->elapsed_inclusive, c->elapsed));
    if (value_is_known(VALUE_CPU, summary_knows(&c->loaded->summary), times))
        cell_percent(&shares[1], percent_of(times_value(times, VALUE_CPU, INCLUSIVE), c->cpu));
    shares[0].partial = shares[1].partial = times_are_partial(times);
    shares[0].estimated = shares[1].estimated = times_error(times, VALUE_CPU, INCLUSIVE) != 0;
    fill_function_times(c->table, times);
    percentiles_fill(&cells[c->table->column_count - PLACE_COLUMNS - PERCENTILE_COLUMNS], c->loaded, durations);
    fill_stated(c->table, c->loaded->selection ? NULL : stated);
}

static void callers_add_rows(const struct callers_context *c, const char *role, struct neighbour *list, size_t count)
{
    qsort_r(list, count, sizeof *list, callers_compare_neighbours, (void *)c);
    for (size_t i = 0; i < count; i++)
        callers_add_row(c, role, list[i].function, list[i].site, &list[i].times, list[i].durations, list[i].stated);
}

static void callers_prefer_columns(struct table *t, enum value_id measure)
{
    static const char *const optional[] = {
        "source",
        "application_inclusive",
        "application_exclusive",
        "module",
        "elapsed_exclusive",
        "elapsed_inclusive",
        "cpu_exclusive",
        NULL,
    };
    table_prefer(t, t->session->partly_timed ? USUAL_COLUMNS ",timed_calls" : USUAL_COLUMNS, optional, NAME_ROOM);
    struct column *shares = (struct column *)t->own_columns + t->waiting_column - SHARES;
    if (measure == VALUE_CPU) {
        shares[0].use = USE_DATA;
        shares[1].use = USE_TEXT;
    }
}

struct table view_callers(const struct analysis *analysis, uint32_t function, bool by_cpu)
{
    struct column others[PERCENTILE_COLUMNS + PLACE_COLUMNS];
    const size_t percentiles = percentiles_list(others, analysis), other_count = percentiles + PLACE_COLUMNS;
    memcpy(others + percentiles, place_columns, sizeof place_columns);
    struct table t = analysis->lines
                         ? values_table(line_columns, LINE_COLUMN_COUNT, others, other_count, &analysis->summary)
                         : values_table(columns, COLUMN_COUNT, others, other_count, &analysis->summary);
    t.waiting_column = t.first_value - 1;
    struct times *sums = rollup_groups(analysis->rollup, BY_FUNCTION);
    struct neighbours n = rollup_neighbours(analysis->rollup, function);
    struct durations **durations = percentiles_by_function(analysis->profile);
    const struct dwell_stated **stated = stated_percentages(analysis, BY_FUNCTION);
    const bool waits = times_percent(&sums[function], VALUE_WAITING) > 50;
    const struct callers_context c = { analysis, &t, by_cpu && !waits ? VALUE_CPU : VALUE_ELAPSED,
                                       sums[function].elapsed_inclusive,
                                       times_value(&sums[function], VALUE_CPU, INCLUSIVE) };
    if (by_cpu)
        callers_prefer_columns(&t, c.measure);
    callers_add_rows(&c, "caller", n.callers, n.caller_count);
    callers_add_row(&c, "function", function, PROFILE_NONE, &sums[function], durations[function],
                    stated ? stated[function] : NULL);
    t.fixed_row = t.row_count;
    callers_add_rows(&c, "callee", n.callees, n.callee_count);
    percentiles_limit(&t, analysis);
    neighbours_free(&n);
    percentiles_free_list(durations, analysis->profile);
    free(stated);
    free(sums);
    return t;
}
