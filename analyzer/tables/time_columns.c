/* The columns of the values, which all views of values share, and the cells of a row in these columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bounds.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/units.h"
#include "base/wide.h"
#include "profile/reported.h"
#include "tables/views.h"

static enum column_use time_columns_use(unsigned shown)
{
    if (shown & SHOWN_IN_TEXT)
        return shown & SHOWN_IN_DATA ? USE_ALWAYS : USE_TEXT;
    return shown & SHOWN_IN_DATA ? USE_DATA : USE_CHOSEN;
}

size_t value_columns(struct column *columns)
{
    static const enum cell_kind kinds[] = {
        [VALUE_IS_TIME] = CELL_TICKS,
        [VALUE_IS_COUNT] = CELL_COUNT,
        [VALUE_IS_PERCENT] = CELL_PERCENT,
    };
    size_t count = 0;
    for (enum value_id i = 0; i < VALUE_COUNT; i++) {
        const struct value *v = &value_table[i];
        const enum column_use use = time_columns_use(v->shown);
        for (unsigned form = 0; form < v->forms; form++) {
            columns[count++] = (struct column){ value_column(i, form), v->titles[form], kinds[v->kind], use, false };
            if (v->shares[form])
                columns[count++] = (struct column){ v->shares[form], "%", CELL_PERCENT,
                                                    v->shown & SHARE_ONLY_CHOSEN ? USE_CHOSEN : use, false };
        }
    }
    return count;
}

/* The columns of sessions with samples. */
static const char *const estimate_titles[ESTIMATED_VALUES] = { "EL.INCL +-",  "EL.EXCL +-",  "APP.INCL +-",
                                                               "APP.EXCL +-", "CPU.INCL +-", "CPU.EXCL +-" };
static const struct column samples_column = { "samples", "SAMPLES", CELL_COUNT, USE_DATA, false };
static const struct column timing_column = { "timing", "TIMING", CELL_TEXT, USE_DATA, false };
static const struct column timed_calls_column = { "timed_calls", "TIMED", CELL_COUNT, USE_DATA, false };
enum { ESTIMATE_COLUMNS = ESTIMATED_VALUES + 3 };

static size_t time_columns_list_estimates(struct column *columns, const struct summary *session)
{
    size_t count = 0;
    if (!session || !summary_has_timing(session))
        return 0;
    if (session->stack_samples)
        columns[count++] = samples_column;
    for (size_t i = 0; session->stack_samples && i < ESTIMATED_VALUES; i++)
        columns[count++] = (struct column){ estimated_values[i].name, estimate_titles[i], CELL_TICKS, USE_DATA, false };
    columns[count++] = timing_column;
    if (session->counted)
        columns[count++] = timed_calls_column;
    if (session->partly_timed)
        columns[count - 1].use = USE_ALWAYS;
    return count;
}

/* Application times are far below CPU times: docs/reading-the-four-times.md says what the star means. */
static void time_columns_mark_application(struct column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(columns[i].title, "APP.INCL") == 0)
            columns[i].title = "APP.INCL*";
        else if (strcmp(columns[i].title, "APP.EXCL") == 0)
            columns[i].title = "APP.EXCL*";
}

struct table values_table(const struct column *subjects, size_t subject_count, const struct column *others,
                          size_t other_count, const struct summary *session)
{
    struct column *columns =
        need_memory(subject_count + MAX_VALUE_COLUMNS + ESTIMATE_COLUMNS + other_count, sizeof *columns);
    size_t count = subject_count;
    memcpy(columns, subjects, subject_count * sizeof *columns);
    count += value_columns(columns + count);
    if (session && session->path && bounds_are_apart(session))
        time_columns_mark_application(columns, count);
    count += time_columns_list_estimates(columns + count, session);
    if (other_count)
        memcpy(columns + count, others, other_count * sizeof *columns);
    struct table t = table_make(columns, count + other_count, session);
    t.own_columns = columns;
    t.first_value = subject_count;
    return t;
}

const struct column place_columns[PLACE_COLUMNS] = {
    { "file", "FILE", CELL_TEXT, USE_CHOSEN, false },
    { "line", "LINE", CELL_COUNT, USE_CHOSEN, false },
};

void fill_place(struct table *table, const struct function_name *function)
{
    struct cell *cells = &table->cells[table->row_count * table->column_count - PLACE_COLUMNS];
    cell_text(&cells[0], function->file);
    if (function->line)
        cell_number(&cells[1], function->line);
}

static void time_columns_fill_cell(struct cell *cell, const struct times *t, enum value_id value, enum value_form form)
{
    if (value_table[value].kind == VALUE_IS_PERCENT)
        cell_percent(cell, times_percent(t, value));
    else
        cell_number(cell, times_value(t, value, form));
}

/* A value that was measured has no interval. */
static void time_columns_fill_estimates(struct cell *cells, unsigned knows, const struct times *t)
{
    cell_number(&cells[0], t->samples);
    for (size_t i = 0; i < ESTIMATED_VALUES; i++) {
        const struct estimated_value *e = &estimated_values[i];
        const uint64_t error = times_error(t, e->value, e->form);
        if (error && value_is_known(e->value, knows, t))
            cell_number(&cells[1 + i], error);
    }
}

/* The cells of the columns that come after the values. A row is `whole` if it has the callers of its counted calls, as
 * these have their time. */
static void time_columns_fill_timing(struct cell *cells, const struct summary *summary, const struct times *t,
                                     bool whole)
{
    if (summary->stack_samples)
        time_columns_fill_estimates(cells, summary_knows(summary), t);
    cells += summary->stack_samples ? 1 + ESTIMATED_VALUES : 0;
    cell_text(&cells[0], whole && times_are_partial(t) ? "timed" : times_timing(t));
    if (summary->counted)
        cell_number(&cells[1], t->calls - t->counted);
}

/* An interval may be wider than the estimate. */
static uint16_t time_columns_spread(uint64_t error, uint64_t estimate)
{
    enum { MOST = 999 };
    return (uint16_t)(error ? smaller(estimate ? multiply_divide(error, 100, estimate) : MOST, MOST) : 0);
}

static void time_columns_fill(struct table *table, const struct times *t, bool whole)
{
    const struct summary *summary = table->session;
    const unsigned knows = summary_knows(summary);
    struct cell *row = &table->cells[(table->row_count - 1) * table->column_count], *cell = row + table->first_value;
    for (enum value_id i = 0; i < VALUE_COUNT; i++) {
        const struct value *v = &value_table[i];
        const bool known = value_is_known(i, knows, t);
        if (i == VALUE_WAITING)
            table->dim_column = (size_t)(cell - row);
        for (unsigned form = 0; form < v->forms; form++, cell++) {
            if (known)
                time_columns_fill_cell(cell, t, i, form);
            const uint64_t error = known && v->kind == VALUE_IS_TIME ? times_error(t, i, form) : 0;
            cell->estimated = error > 0;
            cell->spread = time_columns_spread(error, times_value(t, i, form));
            if (v->shares[form])
                cell[1].estimated = cell->estimated;
            if (v->shares[form] && known)
                cell_percent(cell + 1, percent_of(cell->number, times_value(&summary->whole, i, INCLUSIVE)));
            cell += v->shares[form] != NULL;
        }
    }
    if (summary && summary_has_timing(summary))
        time_columns_fill_timing(cell, summary, t, whole);
}

void fill_times(struct table *table, const struct times *t)
{
    time_columns_fill(table, t, true);
}

/* The time of counted calls is their callers'. So rows of threads do not lack it, and those of modules mostly not. The
 * time of probes is known of all calls. */
void fill_function_times(struct table *table, const struct times *t)
{
    struct cell *row = &table->cells[(table->row_count - 1) * table->column_count], *cell = row + table->first_value;
    time_columns_fill(table, t, false);
    if (!times_are_partial(t))
        return;
    for (enum value_id i = 0; i < VALUE_COUNT; i++) {
        const struct value *v = &value_table[i];
        const bool partial = v->forms == 2 && !v->of_probes;
        for (unsigned form = 0; form < v->forms; form++) {
            (cell++)->partial = partial;
            if (v->shares[form])
                (cell++)->partial = partial;
        }
    }
}

const struct dwell_stated **stated_percentages(const struct analysis *analysis, enum rollup_by by)
{
    if (analysis->selection || !analysis->profile->reported_count || (by != BY_FUNCTION && by != BY_MODULE))
        return NULL;
    return reported_stated(analysis->profile, by == BY_MODULE ? DWELL_REPORTED_MODULE : DWELL_REPORTED_FUNCTION,
                           PROFILE_NONE);
}

/* Reports state percentages with two decimals. Where the computed one is equal to these, it stays, with its decimals.
 */
static void stated_fill_percent(struct cell *cell, double percent)
{
    const double rounded = 0.005001;
    if (cell->known && fabs(cell->percent - percent) > rounded)
        cell_percent(cell, percent);
}

void fill_stated(struct table *table, const struct dwell_stated *stated)
{
    static const char minimum[] = "_min", average[] = "_mean", maximum[] = "_max";
    static const struct {
        enum value_id value;
        const char *ending; /* NULL: a percentage */
    } columns[DWELL_STATED_COLUMNS] = {
        { VALUE_ELAPSED, NULL },        { VALUE_ELAPSED, NULL },        { VALUE_APPLICATION, NULL },
        { VALUE_APPLICATION, NULL },    { VALUE_OVERHEAD, "" },         { VALUE_OVERHEAD, "" },
        { VALUE_ELAPSED, minimum },     { VALUE_ELAPSED, average },     { VALUE_ELAPSED, maximum },
        { VALUE_ELAPSED, minimum },     { VALUE_ELAPSED, average },     { VALUE_ELAPSED, maximum },
        { VALUE_APPLICATION, minimum }, { VALUE_APPLICATION, average }, { VALUE_APPLICATION, maximum },
        { VALUE_APPLICATION, minimum }, { VALUE_APPLICATION, average }, { VALUE_APPLICATION, maximum },
    };
    struct cell *row = &table->cells[(table->row_count - 1) * table->column_count];
    for (unsigned i = 0; stated && i < DWELL_STATED_COLUMNS; i++) {
        const struct value *v = &value_table[columns[i].value];
        const unsigned form = i < DWELL_STATED_EACH ? i % VALUE_FORMS : (i - DWELL_STATED_EACH) / 3 % VALUE_FORMS;
        const char *ending = columns[i].ending;
        char key[64];
        double value;
        if (!stated_value(stated, i, &value))
            continue;
        snprintf(key, sizeof key, "%s%s", ending ? value_column(columns[i].value, form) : v->shares[form],
                 ending ? ending : "");
        for (size_t at = table->first_value; at < table->column_count; at++) {
            if (strcmp(table->columns[at].key, key) != 0)
                continue;
            if (!ending)
                stated_fill_percent(&row[at], value);
            else if (!row[at].known && value >= 0 && value < 0x1p63)
                cell_number(&row[at], (uint64_t)llround(value));
        }
    }
}
