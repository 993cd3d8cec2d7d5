/* Finds the calls of a function with their values, and puts calls of one value, or of one range, into a row. With two
 * arguments, a row has the calls with one pair of them. */
#include "tables/calls_by_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path_text.h"
#include "base/units.h"
#include "base/wide.h"
#include "profile/call_scan.h"
#include "profile/durations.h"
#include "tables/recorded_argument.h"
#include "tables/value_cells.h"
#include "tables/value_quantiles.h"
#include "tables/value_ranges.h"
#include "tables/valued_calls.h"

/* ---- calls ---- */

/* What a worker finds. */
struct value_finder {
    const struct analysis *analysis;
    struct valued_by *by;
    struct value_quantiles *quantiles; /* by argument; NULL: ranges are powers of two */
    struct valued_calls found;
};

/* In mode profile, sums of calls are found in place of calls. */
static bool value_are_sums(const struct value_finder *f)
{
    return session_file_why_sums(f->analysis->file) != NULL;
}

static void value_take_call(void *context, const struct finished_call *call)
{
    struct value_finder *f = context;
    struct valued_calls *v = &f->found;
    const struct recorded_argument *arguments = f->by->arguments;
    const struct recorded_row *row = recorded_argument_row(&arguments[0], call->thread, call->begin);
    v->without += !row;
    if (!row)
        return;
    GROW(v->calls, v->count, v->room);
    struct valued_call *valued = &v->calls[v->count++];
    *valued = (struct valued_call){ .time = (int64_t)call->times[CALL_ELAPSED_INCLUSIVE],
                                    .blocked = call->blocked,
                                    .off_cpu = call->off_cpu,
                                    .calls = 1,
                                    .longest = call_ticks(call->times[CALL_ELAPSED_INCLUSIVE]) };
    for (unsigned i = 0; i < f->by->count; i++)
        valued->words[i] = recorded_value_words(arguments[i].values, row, arguments[i].index);
    v->valued++;
}

/* The calls of all workers are those of the first one afterwards. */
static struct valued_calls value_find_calls(const struct value_finder *what)
{
    const unsigned jobs = analysis_jobs(what->analysis);
    struct value_finder *finders = need_memory(jobs, sizeof *finders);
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++) {
        finders[i] = *what;
        contexts[i] = &finders[i];
    }
    analysis_scan_calls(what->analysis, what->by->arguments[0].function, value_take_call, contexts);
    struct valued_calls all = finders[0].found;
    for (unsigned i = 1; i < jobs; i++) {
        const struct valued_calls *v = &finders[i].found;
        for (size_t j = 0; j < v->count; j++) {
            GROW(all.calls, all.count, all.room);
            all.calls[all.count++] = v->calls[j];
        }
        all.valued += v->valued;
        all.without += v->without;
        free(v->calls);
    }
    free(contexts);
    free(finders);
    return all;
}

/* ---- order ---- */

static int value_compare_one(const struct valued_by *by, unsigned i, const struct valued_call *x,
                             const struct valued_call *y)
{
    if (x->range[i] != y->range[i])
        return x->range[i] > y->range[i] ? 1 : -1;
    return x->range[i] ? 0 : recorded_value_compare(by->arguments[i].value, x->words[i], y->words[i]);
}

static int value_compare_values(const struct valued_by *by, const struct valued_call *x, const struct valued_call *y)
{
    int order = 0;
    for (unsigned i = by->first; i < by->end && !order; i++)
        order = value_compare_one(by, i, x, y);
    return order;
}

static int value_compare_calls(const void *a, const void *b, void *by)
{
    const struct valued_call *x = a, *y = b;
    const int order = value_compare_values(by, x, y);
    return order ? order : (x->time > y->time) - (x->time < y->time);
}

/* ---- rows ---- */

struct value_group {
    size_t first, count; /* of the list */
    uint64_t calls;
    int128 sum;
    uint64_t blocked, off_cpu;
};

/* The columns of each argument come first. */
enum { BY_VALUE, BY_FROM /* or the value itself */, BY_TO, BY_OF_ARGUMENT };

/* Then those of the calls. */
enum {
    BY_CALLS,
    BY_CALLS_PERCENT,
    BY_ELAPSED,
    BY_ELAPSED_PERCENT,
    BY_CPU,
    BY_BLOCKED,
    BY_P50,
    BY_P99,
    BY_MAX,
    BY_OF_CALLS,
    BY_MOST_COLUMNS = BY_ARGUMENTS * BY_OF_ARGUMENT + BY_OF_CALLS
};

static const struct column by_argument[BY_OF_ARGUMENT] = {
    [BY_VALUE] = { "value", "VALUE", CELL_TEXT, USE_TEXT, false },
    [BY_FROM] = { "from", "FROM", CELL_DIGITS, USE_DATA, false },
    [BY_TO] = { "to", "TO", CELL_DIGITS, USE_DATA, false },
};

static const struct column by_calls[BY_OF_CALLS] = {
    [BY_CALLS] = { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },
    [BY_CALLS_PERCENT] = { "calls_percent", "%", CELL_PERCENT, USE_ALWAYS, false },
    [BY_ELAPSED] = { "elapsed_inclusive", "EL.INCL", CELL_TICKS, USE_ALWAYS, false },
    [BY_ELAPSED_PERCENT] = { "elapsed_inclusive_percent", "%", CELL_PERCENT, USE_ALWAYS, false },
    [BY_CPU] = { "cpu_inclusive", "CPU.INCL", CELL_TICKS, USE_ALWAYS, false },
    [BY_BLOCKED] = { "blocked_inclusive", "BL.INCL", CELL_TICKS, USE_ALWAYS, false },
    [BY_P50] = { "p50", "P50", CELL_TICKS, USE_ALWAYS, false },
    [BY_P99] = { "p99", "P99", CELL_TICKS, USE_ALWAYS, false },
    [BY_MAX] = { "max", "MAX", CELL_TICKS, USE_ALWAYS, false },
};

/* Left out in this order where a line has no room. */
static const char *const by_optional[] = { "calls_percent", "blocked_inclusive", "elapsed_inclusive_percent",
                                           "cpu_inclusive", NULL };

/* The columns, and the keys of those that have the value's name. */
struct by_own_columns {
    struct column columns[BY_MOST_COLUMNS];
    char keys[BY_ARGUMENTS][2][DWELL_VALUES_NAME + 16];
    char titles[BY_ARGUMENTS][DWELL_VALUES_NAME];
};

static void by_name_columns(struct by_own_columns *own, unsigned i, const struct recorded_value *v, bool ranges)
{
    struct column *columns = &own->columns[i * BY_OF_ARGUMENT];
    memcpy(columns, by_argument, sizeof by_argument);
    snprintf(own->keys[i][0], sizeof own->keys[i][0], "values.%s%s", v->name, ranges ? ".from" : "");
    snprintf(own->keys[i][1], sizeof own->keys[i][1], "values.%s.to", v->name);
    columns[BY_FROM].key = own->keys[i][0];
    columns[BY_TO].key = own->keys[i][1];
    if (!ranges) {
        columns[BY_FROM].kind = value_cell_kind(v);
        columns[BY_TO].use = USE_CHOSEN;
    }
}

static struct table by_make_table(const struct analysis *analysis, const struct valued_by *by, const bool *ranges)
{
    struct by_own_columns *own = need_memory(1, sizeof *own);
    const size_t first = (size_t)by->count * BY_OF_ARGUMENT;
    for (unsigned i = 0; i < by->count; i++) {
        by_name_columns(own, i, by->arguments[i].value, ranges[i]);
        snprintf(own->titles[i], sizeof own->titles[i], "%s", by->arguments[i].value->name);
        if (by->count > 1)
            own->columns[i * BY_OF_ARGUMENT + BY_VALUE].title = own->titles[i];
    }
    memcpy(own->columns + first, by_calls, sizeof by_calls);
    struct table t = table_make(own->columns, first + BY_OF_CALLS, &analysis->summary);
    t.own_columns = own;
    t.optional = by_optional;
    t.first_value = first + BY_CALLS;
    return t;
}

static void by_fill_value(struct cell *row, const struct recorded_value *v, const uint64_t *words)
{
    char *text = recorded_value_text(v, words);
    cell_text(&row[BY_VALUE], text);
    cell_value(&row[BY_FROM], v, words);
    free(text);
}

static void by_fill_ends(struct cell *row, char *from, char *to)
{
    cell_text(&row[BY_FROM], from);
    cell_text(&row[BY_TO], to);
    free(from);
    free(to);
}

/* `q`: NULL if ranges are powers of two. */
static void by_fill_range(struct cell *row, const struct recorded_value *v, const struct value_quantiles *q,
                          int32_t range)
{
    const bool quantile = q && range <= VALUE_QUANTILES;
    char *text = quantile ? value_quantile_text(q, v, range) : recorded_range_text(v, range), *from, *to;
    cell_text(&row[BY_VALUE], text);
    free(text);
    if (range >= RANGE_UNREAD)
        return;
    if (quantile)
        value_quantile_ends(q, v, range, &from, &to);
    else
        recorded_range_ends(v, range, &from, &to);
    by_fill_ends(row, from, to);
}

static uint64_t by_sum_ticks(int128 sum)
{
    return sum > 0 ? (uint64_t)((sum + DWELL_PROBE_FRACTION / 2) / DWELL_PROBE_FRACTION) : 0;
}

/* ---- percentiles ---- */

static uint64_t by_percentile(const struct valued_call *calls, size_t count, unsigned percent)
{
    const size_t wanted = (count * percent + 99) / 100;
    return call_ticks((uint64_t)calls[(wanted ? wanted : 1) - 1].time);
}

/* The calls are single ones, in the order of their times. */
static void by_fill_single(struct cell *row, const struct valued_call *calls, size_t count, const struct summary *s)
{
    cell_call_time(&row[BY_P50], by_percentile(calls, count, 50), s);
    cell_call_time(&row[BY_P99], by_percentile(calls, count, 99), s);
    cell_call_time(&row[BY_MAX], by_percentile(calls, count, 100), s);
}

/* Percentiles are known if all durations are: record --histogram. */
static void by_fill_sums(struct cell *row, const struct valued_call *calls, size_t count, const struct summary *s)
{
    static const double percents[] = { 50, 99 };
    uint64_t ticks[2], longest = 0;
    bool known = true;
    struct durations *all = NULL;
    for (size_t i = 0; i < count; i++) {
        longest = calls[i].longest > longest ? calls[i].longest : longest;
        known &= calls[i].durations || !calls[i].longest;
        if (calls[i].durations)
            durations_merge(&all, calls[i].durations);
    }
    if (longest)
        cell_call_time(&row[BY_MAX], longest, s);
    if (all && known) {
        durations_percentiles(all, percents, ticks, 2);
        for (unsigned i = 0; i < 2; i++) {
            cell_call_time(&row[BY_P50 + i], ticks[i], s);
            row[BY_P50 + i].estimated = all->estimated;
        }
    }
    free(all);
}

/* The calls of a group are in the order of their times. */
static void by_fill_times(struct cell *row, const struct value_finder *f, const struct value_group *g,
                          const struct value_group *all)
{
    const struct summary *s = &f->analysis->summary;
    cell_number(&row[BY_CALLS], g->calls);
    cell_percent(&row[BY_CALLS_PERCENT], percent_of(g->calls, all->calls));
    cell_number(&row[BY_ELAPSED], by_sum_ticks(g->sum));
    cell_percent(&row[BY_ELAPSED_PERCENT], percent_of(by_sum_ticks(g->sum), by_sum_ticks(all->sum)));
    if (s->off_cpu_known) {
        cell_number(&row[BY_CPU], by_sum_ticks(g->sum - g->off_cpu));
        cell_number(&row[BY_BLOCKED], call_ticks(g->blocked));
    }
    (value_are_sums(f) ? by_fill_sums : by_fill_single)(row, f->found.calls + g->first, g->count, s);
}

/* ---- groups ---- */

/* The calls must be sorted. */
static struct value_group *value_group_calls(const struct value_finder *f, size_t *count)
{
    struct value_group *groups = NULL;
    size_t room = 0;
    *count = 0;
    const struct valued_call *calls = f->found.calls;
    for (size_t i = 0; i < f->found.count; i++) {
        if (i == 0 || value_compare_values(f->by, &calls[i - 1], &calls[i]) != 0) {
            GROW(groups, *count, room);
            groups[(*count)++] = (struct value_group){ .first = i };
        }
        struct value_group *g = &groups[*count - 1];
        g->count++;
        g->calls += calls[i].calls;
        g->sum += calls[i].time;
        g->blocked += calls[i].blocked;
        g->off_cpu += calls[i].off_cpu;
    }
    return groups;
}

static void value_sort_calls(struct value_finder *f)
{
    if (f->found.count)
        qsort_r(f->found.calls, f->found.count, sizeof *f->found.calls, value_compare_calls, (void *)f->by);
}

/* Words have no order that matters: those with the most time come first. */
static int value_compare_groups(const void *a, const void *b)
{
    const struct value_group *x = a, *y = b;
    if (x->sum != y->sum)
        return x->sum > y->sum ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static void by_fill(struct table *t, const struct value_finder *f, const struct value_group *groups, size_t count)
{
    struct value_group all = { .calls = f->found.valued };
    for (size_t i = 0; i < count; i++)
        all.sum += groups[i].sum;
    for (size_t i = 0; i < count; i++) {
        struct cell *row = table_row(t);
        const struct valued_call *first = &f->found.calls[groups[i].first];
        for (unsigned j = 0; j < f->by->count; j++, row += BY_OF_ARGUMENT) {
            if (first->range[j])
                by_fill_range(row, f->by->arguments[j].value, f->quantiles ? &f->quantiles[j] : NULL, first->range[j]);
            else
                by_fill_value(row, f->by->arguments[j].value, first->words[j]);
        }
        by_fill_times(row, f, &groups[i], &all);
    }
}

/* Gives the calls ranges of the argument if it has too many different numbers. Returns whether it did. */
static bool by_use_ranges(struct value_finder *f, unsigned i)
{
    const struct recorded_value *v = f->by->arguments[i].value;
    size_t count;
    if (!recorded_value_is_number(v))
        return false;
    f->by->first = i;
    f->by->end = i + 1;
    value_sort_calls(f);
    free(value_group_calls(f, &count));
    if (count <= DISTINCT_VALUES)
        return false;
    if (f->quantiles)
        value_quantiles_divide(&f->quantiles[i], &f->found, v, i);
    for (size_t j = 0; j < f->found.count && !f->quantiles; j++)
        if (!f->found.calls[j].range[i])
            f->found.calls[j].range[i] = recorded_value_range(v, f->found.calls[j].words[i]);
    return true;
}

static struct table by_make(struct value_finder *f, bool each)
{
    bool ranges[BY_ARGUMENTS] = { false };
    size_t count;
    for (unsigned i = 0; i < f->by->count && !each; i++)
        ranges[i] = by_use_ranges(f, i);
    f->by->first = 0;
    f->by->end = f->by->count;
    value_sort_calls(f);
    struct value_group *groups = value_group_calls(f, &count);
    if (f->by->count == 1 && !ranges[0] && recorded_value_is_word(f->by->arguments[0].value) && count)
        qsort(groups, count, sizeof *groups, value_compare_groups);
    struct table t = by_make_table(f->analysis, f->by, ranges);
    by_fill(&t, f, groups, count);
    free(groups);
    return t;
}

/* ---- the view ---- */

/* Finds the arguments that are named, with commas between them. */
static bool by_find(struct valued_by *valued, const struct analysis *analysis, const struct recorded_values *values,
                    const struct by_value *by, struct error *error)
{
    char *names = by->what ? need_text("%s", by->what) : NULL, *rest = names;
    bool good = true;
    do {
        char *name = strsep(&rest, ",");
        if (valued->count == BY_ARGUMENTS)
            good = error_set(error, "values: at most %d values at a time", BY_ARGUMENTS);
        else
            good = recorded_argument_find(&valued->arguments[valued->count++], analysis, values, by->function, name,
                                          error);
    } while (good && rest);
    free(names);
    return good;
}

bool view_by_value(const struct analysis *analysis, const struct recorded_values *values, struct by_value *by,
                   struct table *table, struct error *error)
{
    struct valued_by valued = { .count = 0 };
    if (!by_find(&valued, analysis, values, by, error))
        return false;
    struct value_quantiles quantiles[BY_ARGUMENTS];
    struct value_finder f = { .analysis = analysis, .by = &valued, .quantiles = by->quantiles ? quantiles : NULL };
    f.found = value_are_sums(&f) ? valued_calls_of_paths(analysis, &valued) : value_find_calls(&f);
    *table = by_make(&f, by->each);
    if (!by->what)
        by->what = valued.arguments[0].value->name;
    by->valued = f.found.valued;
    by->valueless = f.found.without;
    by->others = f.found.others;
    by->sums = value_are_sums(&f);
    free(f.found.calls);
    return true;
}
