/* The view by function, module, thread or process: a row for each, with columns of values, recent times and single
 * calls. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/live.h"
#include "analysis/waiting_names.h"
#include "base/memory.h"
#include "base/path_text.h"
#include "base/suggest.h"
#include "base/units.h"
#include "tables/percentiles.h"
#include "tables/row_order.h"
#include "tables/views.h"

/* The columns of single calls. They need another reading of the session. */
#define COLUMNS_OF_CALLS(key, title)                                                                                   \
    { key "_min", title " MIN", CELL_TICKS, USE_CHOSEN, false },                                                       \
        { key "_mean", title " MEAN", CELL_TICKS, USE_CHOSEN, false },                                                 \
        { key "_median", title " MEDIAN", CELL_TICKS, USE_CHOSEN, false },                                             \
        { key "_p90", title " P90", CELL_TICKS, USE_CHOSEN, false },                                                   \
        { key "_p99", title " P99", CELL_TICKS, USE_CHOSEN, false },                                                   \
    {                                                                                                                  \
        key "_max", title " MAX", CELL_TICKS, USE_CHOSEN, false                                                        \
    }
#define CALL_COLUMNS                                                                                                   \
    COLUMNS_OF_CALLS("elapsed_inclusive", "EL.INCL"), COLUMNS_OF_CALLS("elapsed_exclusive", "EL.EXCL"),                \
        COLUMNS_OF_CALLS("application_inclusive", "APP.INCL"), COLUMNS_OF_CALLS("application_exclusive", "APP.EXCL")

static const struct column call_columns[] = { CALL_COLUMNS };
enum {
    CALL_COLUMN_COUNT = sizeof call_columns / sizeof *call_columns,
    COLUMNS_A_TIME = CALL_COLUMN_COUNT / CALL_TIMES
};

/* The columns of recent times, for a growing session: values since the previous refresh. */
static const struct recent_column {
    struct column column;
    const char *meaning;
    enum value_id value;
    enum value_form form; /* a percentage has the value whose share of the recent time it is */
} recent_columns[] = {
    { { "calls_per_second", "CALLS/S", CELL_COUNT, USE_CHOSEN, false },
      "enters per second, since the previous refresh",
      VALUE_CALLS,
      INCLUSIVE },
    { { "recent_calls", "+CALLS", CELL_COUNT, USE_CHOSEN, false },
      "enters since the previous refresh",
      VALUE_CALLS,
      INCLUSIVE },
    { { "recent_elapsed_inclusive", "+EL.INCL", CELL_TICKS, USE_CHOSEN, false },
      "elapsed inclusive since the previous refresh",
      VALUE_ELAPSED,
      INCLUSIVE },
    { { "recent_elapsed_inclusive_percent", "NOW.INCL %", CELL_PERCENT, USE_CHOSEN, false },
      "its share of all time of the last 3 s",
      VALUE_ELAPSED,
      INCLUSIVE },
    { { "recent_elapsed_exclusive", "+EL.EXCL", CELL_TICKS, USE_CHOSEN, false },
      "elapsed exclusive since the previous refresh",
      VALUE_ELAPSED,
      EXCLUSIVE },
    { { "recent_elapsed_exclusive_percent", "NOW %", CELL_PERCENT, USE_CHOSEN, false },
      "its share of all time of the last 3 s",
      VALUE_ELAPSED,
      EXCLUSIVE },
    { { "recent_application_inclusive", "+APP.INCL", CELL_TICKS, USE_CHOSEN, false },
      "application inclusive since the previous refresh",
      VALUE_APPLICATION,
      INCLUSIVE },
    { { "recent_application_exclusive", "+APP.EXCL", CELL_TICKS, USE_CHOSEN, false },
      "application exclusive since the previous refresh",
      VALUE_APPLICATION,
      EXCLUSIVE },
};
enum {
    RECENT_VALUES = sizeof recent_columns / sizeof *recent_columns,
};
static const struct column timing_column = { "timing", "TIMING", CELL_TEXT, USE_DATA, false };
/* The row's number in the rollup. */
static const struct column number_column = { "number", "NUMBER", CELL_COUNT, USE_CHOSEN, false };

static const struct column function_columns[] = {
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false }, { "module", "MODULE", CELL_TEXT, USE_ALWAYS, false },
    { "file", "FILE", CELL_TEXT, USE_DATA, false },           { "line", "LINE", CELL_COUNT, USE_DATA, false },
    { "source", "SOURCE", CELL_SOURCE, USE_TEXT, false },     { "waits", "", CELL_TEXT, USE_TEXT, false },
};
enum { COLUMN_WAITING = 5 }; /* "waits" if its name says so */
static const struct column module_columns[] = {
    { "module", "MODULE", CELL_TEXT, USE_ALWAYS, false },
    { "path", "PATH", CELL_TEXT, USE_ALWAYS, false },
};
static const struct column thread_columns[] = {
    { "thread", "THREAD", CELL_TEXT, USE_ALWAYS, false },    { "tid", "TID", CELL_COUNT, USE_ALWAYS, false },
    { "process", "PROCESS", CELL_TEXT, USE_ALWAYS, false },  { "pid", "PID", CELL_COUNT, USE_DATA, false },
    { "thread_title", "TITLE", CELL_TEXT, USE_DATA, false }, { "session", "SESSION", CELL_TEXT, USE_ALWAYS, false },
};
static const struct column process_columns[] = {
    { "process", "PROCESS", CELL_TEXT, USE_ALWAYS, false }, { "pid", "PID", CELL_COUNT, USE_ALWAYS, false },
    { "parent", "PARENT", CELL_COUNT, USE_DATA, false },    { "arguments", "COMMAND", CELL_TEXT, USE_ALWAYS, false },
    { "session", "SESSION", CELL_TEXT, USE_ALWAYS, false },
};
enum { COLUMN_THREAD_TITLE = 4, COLUMN_THREAD_SESSION = 5, COLUMN_SESSION = 4 };

#define COLUMN_SET(columns, of_several)                                                                                \
    {                                                                                                                  \
        columns, sizeof columns / sizeof *columns - (of_several), of_several                                           \
    }

/* The columns that identify a row. */
static const struct {
    const struct column *columns;
    size_t count;
    size_t of_several; /* columns after these if there are several sessions */
} subjects[] = {
    [BY_FUNCTION] = COLUMN_SET(function_columns, 0),
    [BY_MODULE] = COLUMN_SET(module_columns, 0),
    [BY_THREAD] = COLUMN_SET(thread_columns, 1),
    [BY_PROCESS] = COLUMN_SET(process_columns, 1),
};

/* ---- subjects ---- */

void cell_source(struct cell *cell, const struct function_name *name)
{
    if (!name->file)
        return;
    char source[512];
    snprintf(source, sizeof source, "%s:%u", path_file_name(name->file), name->line);
    cell_text(cell, source);
}

static void rows_fill_function(const struct analysis *analysis, struct cell *cells, size_t i)
{
    const struct function_name *name = &analysis->names[i];
    cell_text(&cells[0], name->name);
    cell_text(&cells[1], name->module);
    cell_text(&cells[2], name->file);
    if (name->line)
        cell_number(&cells[3], name->line);
    cell_source(&cells[4], name);
    if (has_waiting_name(analysis, (uint32_t)i))
        cell_mark_waiting(&cells[COLUMN_WAITING]);
}

static void rows_fill_module(const struct analysis *analysis, struct cell *cells, size_t i)
{
    char *name = names_module(analysis->profile->modules[i].path);
    cell_text(&cells[0], name);
    cell_text(&cells[1], analysis->profile->modules[i].path);
    free(name);
}

static void rows_fill_thread(const struct analysis *analysis, struct cell *cells, size_t i)
{
    const struct profile_thread *pt = &analysis->profile->threads[i];
    const struct trace_thread *t = session_file_thread(analysis->file, pt->thread);
    const struct trace_process *p = session_file_process(analysis->file, pt->process);
    char *process = names_module(p ? p->path : "");
    cell_thread(&cells[0], analysis, pt->thread, t && t->name[0] ? t->name : "[unknown]");
    if (t && t->tid)
        cell_number(&cells[1], t->tid);
    cell_text(&cells[2], process);
    if (p && p->pid)
        cell_number(&cells[3], p->pid);
    cell_thread_title(&cells[COLUMN_THREAD_TITLE], &cells[0]);
    if (analysis->part_count)
        cell_text(&cells[COLUMN_THREAD_SESSION], analysis_session_of(analysis, pt->process));
    free(process);
}

static void rows_fill_process(const struct analysis *analysis, struct cell *cells, uint32_t serial)
{
    const struct trace_process *p = session_file_process(analysis->file, serial);
    char *name = names_module(p ? p->path : "");
    cell_text(&cells[0], name);
    if (p && p->pid)
        cell_number(&cells[1], p->pid);
    if (p && p->parent_pid)
        cell_number(&cells[2], p->parent_pid);
    cell_text(&cells[3], p ? p->arguments : "");
    if (analysis->part_count)
        cell_text(&cells[COLUMN_SESSION], analysis_session_of(analysis, serial));
    free(name);
}

/* ---- order ---- */

static void rows_list_value_columns(FILE *out, int width)
{
    for (enum value_id i = 0; i < VALUE_COUNT; i++) {
        const struct value *v = &value_table[i];
        for (unsigned form = 0; form < v->forms; form++) {
            fprintf(out, "%-*s %s\n", width, value_column(i, form), v->meanings[form]);
            if (v->shares[form])
                fprintf(out, "%-*s its share of the session's %s inclusive time\n", width, v->shares[form], v->key);
        }
    }
}

void view_list_columns(FILE *out, bool recent)
{
    const int width = recent ? 32 : 30;
    for (size_t i = 0; recent && i < RECENT_VALUES; i++)
        fprintf(out, "%-*s %s\n", width, recent_columns[i].column.key, recent_columns[i].meaning);
    rows_list_value_columns(out, width);
    if (!recent)
        fputs(
            "\nFunctions, call paths and callers have p50, p90 and p99: percentiles of their completed calls, elapsed\n"
            "inclusive, to 2 %.\n"
            "\nFunctions also have columns of their single completed calls. Append _min, _mean, _median, _p90,\n"
            "_p99 or _max to elapsed_inclusive, elapsed_exclusive, application_inclusive or\n"
            "application_exclusive. The session is read once more for these.\n",
            out);
    fputs("\n--filter accepts these, name (the first column), and the other columns of csv.\n", out);
}

enum { MAX_SORT_COLUMNS = 128 };

static size_t view_sort_columns(struct column *columns, bool recent)
{
    static const char *const names[] = { "name", "function", "module",  "file", "line",   "path",      "thread",
                                         "tid",  "threads",  "process", "pid",  "parent", "arguments", "session" };
    size_t count = value_columns(columns);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        columns[count++] = (struct column){ names[i], names[i], CELL_TEXT, USE_ALWAYS, false };
    if (!recent) {
        for (size_t i = 0; i < PERCENTILE_COLUMNS; i++)
            columns[count++] = percentile_columns[i];
        for (size_t i = 0; i < CALL_COLUMN_COUNT; i++)
            columns[count++] = call_columns[i];
        return count;
    }
    for (size_t i = 0; i < RECENT_VALUES; i++)
        columns[count++] = recent_columns[i].column;
    columns[count++] = number_column;
    return count;
}

char *view_refuse_sort(const char *text, bool recent, const char *otherwise)
{
    struct column columns[MAX_SORT_COLUMNS];
    const char *keys[MAX_SORT_COLUMNS];
    const size_t count = view_sort_columns(columns, recent);
    for (size_t i = 0; i < count; i++) {
        if (column_is_named(&columns[i], text, strlen(text)))
            return NULL;
        keys[i] = columns[i].key;
    }
    return need_text("no column '%s'%s", text, suggestion(text, keys, count, otherwise));
}

unsigned view_call_times(const char *keys)
{
    unsigned times = 0;
    for (const char *key = keys; key; key = strchr(key, ',') ? strchr(key, ',') + 1 : NULL)
        for (size_t i = 0; i < CALL_COLUMN_COUNT; i++)
            if (column_is_named(&call_columns[i], key, strcspn(key, ",")))
                times |= 1u << i / COLUMNS_A_TIME;
    return times;
}

bool view_needs_calls(const char *keys)
{
    return view_call_times(keys) != 0;
}

bool view_sort(struct table *t, const struct sorting *sorting, struct error *error)
{
    if (sorting->filters && !table_filter(t, sorting->filters, error))
        return false;
    if (!table_sort(t, sorting->key, error))
        return false;
    if (sorting->waiting_last && t->waiting_column)
        table_move_last(t, t->waiting_column);
    if (sorting->limit)
        table_limit(t, sorting->limit);
    return true;
}

/* ---- single calls ---- */

/* A worker's. */
struct rows_calls {
    struct call_spread *spreads[CALL_TIMES]; /* by function; NULL if the time is not wanted */
};

static void rows_add_call(void *context, const struct finished_call *call)
{
    const struct rows_calls *calls = context;
    for (int i = 0; i < CALL_TIMES; i++)
        if (calls->spreads[i])
            call_spread_add(&calls->spreads[i][call->function], call->times[i]);
}

static void rows_add_amounts(void *context, const struct call_amount *amounts, size_t count)
{
    struct call_spread *spreads = ((const struct rows_calls *)context)->spreads[CALL_ELAPSED_INCLUSIVE];
    for (size_t i = 0; i < count; i++)
        call_spread_add(&spreads[amounts[i].function], amounts[i].time);
}

/* The whole of the time that calls have a part in. */
static uint64_t rows_whole(const struct times *t, int time)
{
    const uint64_t wholes[CALL_TIMES] = {
        [CALL_ELAPSED_INCLUSIVE] = t->elapsed_inclusive,
        [CALL_ELAPSED_EXCLUSIVE] = t->elapsed_exclusive,
        [CALL_APPLICATION_INCLUSIVE] = times_value(t, VALUE_APPLICATION, INCLUSIVE),
        [CALL_APPLICATION_EXCLUSIVE] = times_value(t, VALUE_APPLICATION, EXCLUSIVE),
    };
    return wholes[time];
}

enum { CALLS_LEAST, CALLS_MEAN, CALLS_GREATEST = COLUMNS_A_TIME - 1 };

/* Whether samples estimate the time of all calls of a row, so that their mean is known. In a part of the session, the
 * counted calls are unknown. */
static bool rows_have_estimated_mean(const struct analysis *analysis, const struct times *t)
{
    return !analysis->selection && times_are_sampled(t) && t->calls;
}

/* Some call is as short as the mean of all, and one as long, though they may not be timed ones. */
static void rows_widen(uint64_t *least, uint64_t *greatest, uint64_t mean)
{
    *least = smaller(*least, mean);
    *greatest = larger(*greatest, mean);
}

static uint64_t rows_estimated_mean(const struct times *t, int time)
{
    return (rows_whole(t, time) + t->calls / 2) / t->calls;
}

static void rows_limit_times(const struct analysis *analysis, struct times *t)
{
    if (rows_have_estimated_mean(analysis, t) && t->shortest <= t->longest)
        rows_widen(&t->shortest, &t->longest, rows_estimated_mean(t, CALL_ELAPSED_INCLUSIVE));
}

static void rows_fill_calls(const struct analysis *analysis, struct cell *cells, const struct rows_calls *calls,
                            size_t function, const struct times *t)
{
    for (int i = 0; i < CALL_TIMES; i++, cells += COLUMNS_A_TIME) {
        const struct call_spread *spread = calls->spreads[i] ? &calls->spreads[i][function] : NULL;
        if (!spread || (i >= CALL_APPLICATION_INCLUSIVE && !analysis->summary.application_known))
            continue;
        if (spread->count == 0) {
            if (rows_have_estimated_mean(analysis, t))
                cell_number(&cells[CALLS_MEAN], rows_estimated_mean(t, i));
            continue;
        }
        struct histogram h = call_spread_histogram(spread);
        uint64_t values[COLUMNS_A_TIME] = { h.least,
                                            (uint64_t)llround(call_spread_mean(spread)),
                                            histogram_percentile(&h, 50),
                                            histogram_percentile(&h, 90),
                                            histogram_percentile(&h, 99),
                                            h.greatest };
        if (rows_have_estimated_mean(analysis, t)) { /* the median and the like are those of the timed calls */
            values[CALLS_MEAN] = rows_estimated_mean(t, i);
            rows_widen(&values[CALLS_LEAST], &values[CALLS_GREATEST], values[CALLS_MEAN]);
        }
        for (int j = 0; j < COLUMNS_A_TIME; j++)
            cell_call_time(&cells[j], values[j], &analysis->summary);
        cells[CALLS_MEAN].unresolved =
            values[CALLS_MEAN] == 0 &&
            cells[CALLS_MEAN].unresolved; /* the mean of many calls is known better than one */
        histogram_drop(&h);
    }
}

/* Adds the distributions of all workers to those of the first one, and finishes them. */
static void rows_merge_spreads(const struct rows_calls *workers, unsigned jobs, int time, size_t functions)
{
    struct call_spread *all = workers[0].spreads[time];
    for (unsigned i = 1; i < jobs; i++) {
        struct call_spread *more = workers[i].spreads[time];
        for (size_t j = 0; j < functions; j++) {
            call_spread_merge(&all[j], &more[j]);
            call_spread_drop(&more[j]);
        }
        free(more);
    }
    for (size_t j = 0; j < functions; j++)
        call_spread_finish(&all[j]);
}

/* The caller drops and frees them. */
static struct rows_calls rows_find_spreads(const struct analysis *analysis, unsigned times)
{
    const unsigned jobs = analysis_jobs(analysis);
    const size_t functions = analysis->profile->function_count;
    struct rows_calls *workers = need_memory(jobs, sizeof *workers);
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++) {
        contexts[i] = &workers[i];
        for (int time = 0; time < CALL_TIMES; time++)
            if (times == 0 || times & 1u << time)
                workers[i].spreads[time] = need_memory(functions, sizeof *workers[i].spreads[time]);
    }
    if (times == 1u << CALL_ELAPSED_INCLUSIVE)
        analysis_scan_elapsed(analysis, PROFILE_NONE, rows_add_amounts, contexts);
    else
        analysis_scan_calls(analysis, PROFILE_NONE, rows_add_call, contexts);
    for (int time = 0; time < CALL_TIMES; time++)
        if (workers[0].spreads[time])
            rows_merge_spreads(workers, jobs, time, functions);
    const struct rows_calls calls = workers[0];
    free(contexts);
    free(workers);
    return calls;
}

/* Fills the columns of single calls, which begin at `first`. `groups` is the function of each row. */
static void rows_fill_all_calls(const struct analysis *analysis, struct table *t, size_t first, unsigned times,
                                const size_t *groups, const struct times *sums)
{
    const struct rows_calls calls = rows_find_spreads(analysis, times);
    for (size_t i = 0; i < t->row_count; i++)
        rows_fill_calls(analysis, &t->cells[i * t->column_count + first], &calls, groups[i], &sums[groups[i]]);
    for (int time = 0; time < CALL_TIMES; time++) {
        for (size_t j = 0; calls.spreads[time] && j < analysis->profile->function_count; j++)
            call_spread_drop(&calls.spreads[time][j]);
        free(calls.spreads[time]);
    }
}

/* Fills the columns of percentiles, which begin at `first`. */
static void rows_fill_percentiles(const struct analysis *analysis, struct table *t, size_t first, const size_t *groups)
{
    struct durations **durations = percentiles_by_function(analysis->profile);
    for (size_t i = 0; i < t->row_count; i++)
        percentiles_fill(&t->cells[i * t->column_count + first], analysis, durations[groups[i]]);
    percentiles_free_list(durations, analysis->profile);
}

size_t view_row_number(const struct table *t, size_t row)
{
    const size_t last = t->column_count - 1;
    assert(t->columns[last].key == number_column.key);
    return t->cells[row * t->column_count + last].number;
}

/* ---- recent times ---- */

/* Percentages are of the window, other values of the time since the previous refresh. */
static void rows_fill_recent(struct cell *cells, unsigned knows, const struct times *t, const struct times *window,
                             const struct recent_times *recent)
{
    const uint64_t all = recent->window->session.elapsed_inclusive;
    const double seconds = (double)recent->interval / 1e9;
    for (size_t i = 0; i < RECENT_VALUES; i++) {
        const struct recent_column *column = &recent_columns[i];
        if (!value_is_known(column->value, knows, t))
            continue;
        if (column->column.kind == CELL_PERCENT)
            cell_percent(&cells[i], percent_of(times_value(window, column->value, column->form), all));
        else
            cell_number(&cells[i], times_value(t, column->value, column->form));
    }
    cell_number(&cells[0], seconds > 0 ? (uint64_t)llround((double)t->calls / seconds) : 0);
}

static void rows_fill_all_recent(const struct analysis *analysis, struct table *t, enum rollup_by by,
                                 const struct recent_times *recent, const size_t *groups)
{
    struct times *sums = recent->rollup ? rollup_groups(recent->rollup, by) : NULL;
    struct times *window = recent->window ? rollup_groups(recent->window, by) : NULL;
    for (size_t i = 0; i < t->row_count; i++) {
        struct cell *cells = &t->cells[(i + 1) * t->column_count - RECENT_VALUES - 1];
        if (sums && window)
            rows_fill_recent(cells, summary_knows(&analysis->summary), &sums[groups[i]], &window[groups[i]], recent);
    }
    free(sums);
    free(window);
}

static bool rows_are_numbered(const struct sorting *sorting)
{
    return sorting->numbered || sorting->recent;
}

/* Lists the columns after the values. */
static size_t rows_list_others(struct column *columns, const struct analysis *analysis, bool calls,
                               const struct sorting *sorting)
{
    size_t count = 0;
    if (!summary_has_timing(&analysis->summary)) /* else all views have it */
        columns[count++] = timing_column;
    if (calls)
        count += percentiles_list(columns + count, analysis);
    for (size_t i = 0; calls && i < CALL_COLUMN_COUNT; i++)
        columns[count++] = call_columns[i];
    for (size_t i = 0; sorting->recent && i < RECENT_VALUES; i++)
        columns[count++] = recent_columns[i].column;
    if (rows_are_numbered(sorting))
        columns[count++] = number_column;
    return count;
}

/* Imported reports have no single calls. Their averages are sums over all calls, where they do not state them. */
static void rows_fill_means(struct table *t, const struct times *times)
{
    const uint64_t sums[] = { times->elapsed_inclusive, times->elapsed_exclusive };
    struct cell *row = &t->cells[(t->row_count - 1) * t->column_count];
    for (size_t at = t->first_value; at < t->column_count && times->calls; at++)
        for (int i = 0; i < 2; i++)
            if (strcmp(t->columns[at].key, i ? "elapsed_exclusive_mean" : "elapsed_inclusive_mean") == 0 &&
                !row[at].known)
                cell_number(&row[at], (sums[i] + times->calls / 2) / times->calls);
}

/* The share of exclusive CPU time, or of time if that is unknown. */
static size_t rows_hot_column(const struct table *t, const struct summary *summary)
{
    const enum value_id value = value_is_known(VALUE_CPU, summary_knows(summary), NULL) ? VALUE_CPU : VALUE_ELAPSED;
    for (size_t at = t->first_value; at < t->column_count; at++)
        if (strcmp(t->columns[at].key, value_table[value].shares[EXCLUSIVE]) == 0)
            return at;
    return 0;
}

struct table view_rows(const struct analysis *analysis, enum rollup_by by, const struct sorting *sorting)
{
    struct column others[1 + PERCENTILE_COLUMNS + CALL_COLUMN_COUNT + RECENT_VALUES + 1];
    const size_t other_count = rows_list_others(others, analysis, by == BY_FUNCTION, sorting);
    struct table t =
        values_table(subjects[by].columns, subjects[by].count + (analysis->part_count ? subjects[by].of_several : 0),
                     others, other_count, &analysis->summary);
    t.waiting_column = by == BY_FUNCTION ? COLUMN_WAITING : 0;
    t.hot_column = by == BY_FUNCTION ? rows_hot_column(&t, &analysis->summary) : 0;
    size_t count = rollup_group_count(analysis->rollup, by), process_count;
    struct times *sums = rollup_groups(analysis->rollup, by);
    uint32_t *processes = rollup_process_list(analysis->profile, &process_count);
    const struct dwell_stated **stated = stated_percentages(analysis, by);
    size_t *groups = need_memory(count, sizeof *groups);
    for (size_t i = 0; i < count; i++) {
        if (analysis->selection && times_are_empty(&sums[i]))
            continue; /* not part of the selection */
        groups[t.row_count] = i;
        struct cell *cells = table_row(&t);
        if (by == BY_FUNCTION)
            rows_fill_function(analysis, cells, i);
        else if (by == BY_MODULE)
            rows_fill_module(analysis, cells, i);
        else if (by == BY_THREAD)
            rows_fill_thread(analysis, cells, i);
        else
            rows_fill_process(analysis, cells, processes[i]);
        if (by == BY_FUNCTION) {
            rows_limit_times(analysis, &sums[i]);
            fill_function_times(&t, &sums[i]);
        } else {
            fill_times(&t, &sums[i]);
        }
        if (!summary_has_timing(&analysis->summary))
            cell_text(&cells[t.column_count - other_count], "timed");
        fill_stated(&t, stated ? stated[i] : NULL);
        if (by == BY_FUNCTION && analysis->summary.imported && !analysis->summary.samples)
            rows_fill_means(&t, &sums[i]);
    }
    free(stated);
    const size_t first = t.column_count - other_count + !summary_has_timing(&analysis->summary);
    if (by == BY_FUNCTION && analysis->durations)
        rows_fill_percentiles(analysis, &t, first, groups);
    if (by == BY_FUNCTION && sorting->calls)
        rows_fill_all_calls(analysis, &t, first + (analysis->durations ? PERCENTILE_COLUMNS : 0), sorting->call_times,
                            groups, sums);
    percentiles_limit(&t, analysis);
    for (size_t i = 0; rows_are_numbered(sorting) && i < t.row_count; i++)
        cell_number(&t.cells[(i + 1) * t.column_count - 1], groups[i]);
    if (sorting->recent)
        rows_fill_all_recent(analysis, &t, by, sorting->recent, groups);
    free(groups);
    free(processes);
    free(sums);
    return t;
}
