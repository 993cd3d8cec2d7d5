/* The views of PerfLog logs: markers, samples of CPU and memory, and runs. */
#include "perflog/perflog_views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/sorted.h"
#include "report/plot.h"

/* Scripts rely on the first eight columns. The columns of ticks are there only if a row's resolution is unknown. */
static const struct column marker_columns[] = {
    { "app", "APP", CELL_TEXT, USE_ALWAYS, false },
    { "marker", "MARKER", CELL_TEXT, USE_ALWAYS, false },
    { "id", "ID", CELL_COUNT, USE_ALWAYS, false },
    { "count", "COUNT", CELL_COUNT, USE_ALWAYS, false },
    { "total", "TOTAL", CELL_TICKS, USE_ALWAYS, false },
    { "min", "MIN", CELL_TICKS, USE_ALWAYS, false },
    { "mean", "AVERAGE", CELL_TICKS, USE_ALWAYS, false },
    { "max", "MAX", CELL_TICKS, USE_ALWAYS, false },
    { "median", "MEDIAN", CELL_TICKS, USE_ALWAYS, false },
    { "p90", "P90", CELL_TICKS, USE_ALWAYS, false },
    { "p99", "P99", CELL_TICKS, USE_ALWAYS, false },
    { "stddev", "STDDEV", CELL_TICKS, USE_ALWAYS, false },
    { "errors", "ERRORS", CELL_COUNT, USE_ALWAYS, false },
    { "registered", "REGISTERED", CELL_TEXT, USE_ALWAYS, false },
    { "total_ticks", "TOTAL ticks", CELL_COUNT, USE_ALWAYS, false },
    { "min_ticks", "MIN ticks", CELL_COUNT, USE_ALWAYS, false },
    { "mean_ticks", "AVERAGE ticks", CELL_COUNT, USE_ALWAYS, false },
    { "max_ticks", "MAX ticks", CELL_COUNT, USE_ALWAYS, false },
    { "median_ticks", "MEDIAN ticks", CELL_COUNT, USE_ALWAYS, false },
    { "p90_ticks", "P90 ticks", CELL_COUNT, USE_ALWAYS, false },
    { "p99_ticks", "P99 ticks", CELL_COUNT, USE_ALWAYS, false },
    { "stddev_ticks", "STDDEV ticks", CELL_COUNT, USE_ALWAYS, false },
};
enum { TIMES = 4, ERRORS = 12, REGISTERED = 13, TICKS = 14, TIME_COLUMNS = 8 };
enum { MARKER_COLUMNS = sizeof marker_columns / sizeof *marker_columns };

/* Times of single activations share a unit. Totals may be a million times as long. */
static const size_t marker_units[REGISTERED] = { [5] = 6, [6] = 6, [7] = 6, [8] = 6, [9] = 6, [10] = 6, [11] = 6 };

void perflog_table_drop(struct perflog_table *t)
{
    table_drop(&t->table);
    for (size_t i = 0; i < t->key_count; i++)
        free(t->keys[i]);
    free(t->keys);
    free(t->columns);
    free(t->units);
}

/* The optional columns of a table of markers. */
struct perflog_layout {
    bool ticks;     /* a row has them */
    bool instances; /* rows have a place of registration */
    bool pairs;     /* the table has a column for each key */
    size_t fixed;   /* number of columns before those of the keys */
};

static void perflog_fill_place(struct cell *cell, const struct perflog_row *row)
{
    char *place = need_text("%s:%" PRIu64, row->file, row->line);
    cell_text(cell, place);
    free(place);
}

static void perflog_fill_marker(struct cell *cells, const struct perflog_row *row, const struct perflog_layout *layout)
{
    const uint64_t times[TIME_COLUMNS] = { row->total,  row->least, row->mean, row->greatest,
                                           row->median, row->p90,   row->p99,  row->deviation };
    char *marker = layout->pairs ? NULL : perflog_text_with_values(row);
    cell_text(&cells[0], row->app);
    cell_text(&cells[1], marker ? marker : row->marker);
    free(marker);
    cell_number(&cells[2], row->id);
    cell_number(&cells[3], row->count);
    struct cell *at = &cells[row->in_ticks ? layout->fixed - TIME_COLUMNS : TIMES];
    if (!row->in_ticks)
        cell_number(&at[0], row->total);
    for (size_t i = 0; row->count && i < TIME_COLUMNS; i++)
        cell_number(&at[i], times[i]);
    cell_number(&cells[ERRORS], row->errors);
    if (layout->instances && row->file)
        perflog_fill_place(&cells[REGISTERED], row);
}

enum { MAX_KEYS = 1000 }; /* maximum number of columns, each of which is in all rows */

/* Collects all keys in order of appearance, and the names of attributes. */
static void perflog_find_keys(struct intern *keys, const struct perflog_row *rows, size_t count)
{
    struct perflog_pair pair;
    for (size_t i = 0; i < count; i++)
        for (const char *at = rows[i].marker; perflog_next_pair(&at, &pair);)
            intern(keys, pair.key, pair.key_length);
    for (size_t i = 0; i < count; i++)
        for (size_t a = 0; a < rows[i].attribute_count; a++)
            intern(keys, rows[i].attributes[a].name, strlen(rows[i].attributes[a].name));
}

/* The value of a key in the marker's string, or else of the attribute of that name. */
static char *perflog_row_value(const struct perflog_row *row, const char *key)
{
    char *value = perflog_pair_value(row, key);
    for (size_t a = 0; a < row->attribute_count && !value; a++)
        if (strcmp(row->attributes[a].name, key) == 0)
            value = need_copy(row->attributes[a].value, strlen(row->attributes[a].value));
    return value;
}

static bool perflog_any_errors(const struct perflog_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].errors)
            return true;
    return false;
}

static bool perflog_any_ticks(const struct perflog_row *rows, size_t count, bool in_ticks)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].in_ticks == in_ticks)
            return true;
    return false;
}

static bool perflog_is_column_key(const char *key)
{
    for (size_t i = 0; i < MARKER_COLUMNS; i++) {
        const size_t length = strlen(marker_columns[i].key);
        if (strncmp(marker_columns[i].key, key, length) == 0 && (!key[length] || strcmp(key + length, "_ns") == 0))
            return true;
    }
    return false;
}

/* Renames a key that another column already has. */
static char *perflog_column_name(const char *key)
{
    static const char before[] = "marker_";
    if (!perflog_is_column_key(key))
        return need_copy(key, strlen(key));
    char *name = need_memory(sizeof before + strlen(key), 1);
    memcpy(name, before, sizeof before - 1);
    strcpy(name + sizeof before - 1, key);
    return name;
}

static struct perflog_layout perflog_find_layout(const struct perflog_row *rows, size_t count, bool instances,
                                                 bool pairs)
{
    struct perflog_layout layout = { perflog_any_ticks(rows, count, true), instances, pairs, REGISTERED };
    layout.fixed += instances;
    layout.fixed += layout.ticks ? TIME_COLUMNS : 0;
    return layout;
}

/* Makes a table with the fixed columns and one for each key. */
static struct perflog_table perflog_make_table(const struct intern *keys, const struct perflog_layout *layout)
{
    const size_t fixed = layout->fixed;
    struct perflog_table t = { .key_count = keys->count < MAX_KEYS ? keys->count : MAX_KEYS };
    if (keys->count > MAX_KEYS)
        say("%zu different keys in markers' strings; only the first %d are shown as columns", keys->count, MAX_KEYS);
    t.keys = need_memory(t.key_count, sizeof *t.keys);
    t.columns = need_memory(fixed + t.key_count, sizeof *t.columns);
    memcpy(t.columns, marker_columns, (REGISTERED + layout->instances) * sizeof *t.columns);
    if (layout->ticks)
        memcpy(&t.columns[fixed - TIME_COLUMNS], &marker_columns[TICKS], TIME_COLUMNS * sizeof *t.columns);
    for (size_t i = 0; i < t.key_count; i++) {
        t.keys[i] = perflog_column_name(keys->pieces[i].bytes);
        t.columns[fixed + i] = (struct column){ t.keys[i], t.keys[i], CELL_TEXT, USE_DATA, false };
    }
    t.table = table_make(t.columns, fixed + t.key_count, NULL);
    t.units = need_memory(fixed + t.key_count, sizeof *t.units); /* the further columns are not times */
    memcpy(t.units, marker_units, sizeof marker_units);
    t.table.unit_groups = t.units;
    return t;
}

/* Text leaves out columns that are empty or zero in all rows. */
static void perflog_hide_columns(struct perflog_table *t, const struct perflog_row *rows, size_t count)
{
    if (!perflog_any_errors(rows, count))
        t->columns[ERRORS].use = USE_DATA;
    for (size_t i = 0; count && !perflog_any_ticks(rows, count, false) && i < TIME_COLUMNS; i++)
        t->columns[TIMES + i].use = USE_DATA;
}

static void perflog_fill_pairs(struct cell *cells, size_t count, const struct perflog_row *row,
                               const struct intern *keys)
{
    for (size_t i = 0; i < count && i < keys->count; i++) {
        char *value = perflog_row_value(row, keys->pieces[i].bytes);
        cell_text(&cells[i], value);
        free(value);
    }
}

struct perflog_table view_perflog(const struct perflog *log, const struct perflog_choice *choice, bool pairs)
{
    size_t count;
    struct perflog_row *rows = perflog_rows(log, choice->instances, &count);
    struct intern keys = { 0 };
    perflog_sort(rows, count, choice->sort);
    const size_t shown = choice->limit && choice->limit < count ? choice->limit : count;
    if (pairs)
        perflog_find_keys(&keys, rows, shown);
    const struct perflog_layout layout = perflog_find_layout(rows, shown, choice->instances, pairs);
    struct perflog_table t = perflog_make_table(&keys, &layout);
    perflog_hide_columns(&t, rows, shown);
    for (size_t i = 0; i < shown; i++) {
        struct cell *cells = table_row(&t.table);
        perflog_fill_marker(cells, &rows[i], &layout);
        perflog_fill_pairs(&cells[layout.fixed], t.key_count, &rows[i], &keys);
    }
    t.table.hidden_rows = count - shown;
    intern_drop(&keys);
    free(rows);
    return t;
}

/* ---- CPU and memory ---- */

static const struct column monitor_columns[] = {
    { "app", "APP", CELL_TEXT, USE_ALWAYS, false },      { "kind", "KIND", CELL_TEXT, USE_ALWAYS, false },
    { "count", "COUNT", CELL_COUNT, USE_ALWAYS, false }, { "min", "", CELL_DIGITS, USE_DATA, false },
    { "mean", "", CELL_DIGITS, USE_DATA, false },        { "max", "", CELL_DIGITS, USE_DATA, false },
    { "", "MIN", CELL_DIGITS, USE_TEXT, false },         { "", "AVERAGE", CELL_DIGITS, USE_TEXT, false },
    { "", "MAX", CELL_DIGITS, USE_TEXT, false },         { "", "", CELL_TEXT, USE_TEXT, false }, /* unit */
    { "", "OVER TIME", CELL_TEXT, USE_TEXT, false },     { "marker", "MARKER", CELL_TEXT, USE_ALWAYS, false },
};
enum { MONITOR_COLUMNS = sizeof monitor_columns / sizeof *monitor_columns };

/* Formats a number without trailing zeros: 10059776, 57.843834, 12.5. */
static void perflog_put_value(struct cell *cell, int128 millionths)
{
    char text[64];
    const uint128 amount = millionths < 0 ? -(uint128)millionths : (uint128)millionths;
    int length = snprintf(text, sizeof text, "%s%" PRIu64 ".%06" PRIu64, millionths < 0 ? "-" : "",
                          (uint64_t)(amount / 1000000), (uint64_t)(amount % 1000000));
    while (text[length - 1] == '0')
        length--;
    text[text[length - 1] == '.' ? length - 1 : length] = '\0';
    cell_text(cell, text);
}

/* Memory is in bytes, as in the log. */
static void perflog_put_with_unit(struct cell *cell, int128 millionths, bool memory)
{
    char text[64];
    snprintf(text, sizeof text, memory ? "%.0f" : "%.2f", (double)millionths / 1e6);
    cell_text(cell, text);
}

static int128 perflog_series_mean(const struct perflog_series *s)
{
    const int128 half = (int128)(s->count / 2);
    return (s->sum < 0 ? s->sum - half : s->sum + half) / (int128)s->count;
}

static void perflog_put_plot(struct cell *cell, const struct perflog_plot *plot)
{
    double points[PLOT_POINTS];
    for (size_t i = 0; i < plot->used; i++)
        points[i] = (double)plot->sums[i] / (double)plot->counts[i];
    char *bars = plot_bars(points, plot->used, plot_has_blocks());
    cell_text(cell, bars);
    free(bars);
}

static int perflog_compare_series(const void *a, const void *b)
{
    const struct perflog_series *x = *(const struct perflog_series *const *)a,
                                *y = *(const struct perflog_series *const *)b;
    int order = strcmp(x->app, y->app);
    if (order == 0)
        order = x->memory - y->memory;
    return order ? order : ORDER(x, y);
}

struct table view_perflog_monitors(const struct perflog *log, bool instances)
{
    size_t count, marker_count;
    const struct perflog_series *series = perflog_series(log, &count);
    const struct perflog_marker *markers = perflog_markers(log, &marker_count);
    const struct perflog_series **sorted = need_memory(count, sizeof *sorted);
    struct table t = table_make(monitor_columns, instances ? MONITOR_COLUMNS : MONITOR_COLUMNS - 1, NULL);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &series[i];
    qsort(sorted, count, sizeof *sorted, perflog_compare_series);
    for (size_t i = 0; i < count; i++) {
        const struct perflog_series *s = sorted[i];
        const int128 values[] = { s->least, perflog_series_mean(s), s->greatest };
        struct cell *cells = table_row(&t);
        cell_text(&cells[0], s->app);
        cell_text(&cells[1], s->memory ? "MEM" : "CPU");
        cell_number(&cells[2], s->count);
        for (size_t v = 0; v < 3; v++) {
            perflog_put_value(&cells[3 + v], values[v]);
            perflog_put_with_unit(&cells[6 + v], values[v], s->memory);
        }
        cell_text(&cells[9], s->memory ? "bytes" : "%");
        perflog_put_plot(&cells[10], &s->plot);
        if (instances)
            cell_text(&cells[11], markers[s->marker].text);
    }
    free(sorted);
    return t;
}

/* ---- runs ---- */

static const struct column run_columns[] = {
    { "file", "FILE", CELL_TEXT, USE_ALWAYS, false },
    { "line", "LINE", CELL_COUNT, USE_ALWAYS, false },
    { "app", "APP", CELL_TEXT, USE_ALWAYS, false },
    { "pid", "PID", CELL_COUNT, USE_ALWAYS, false },
    { "resolution", "TICKS PER SECOND", CELL_COUNT, USE_ALWAYS, false },
    { "osversion", "OS", CELL_TEXT, USE_ALWAYS, false },
    { "build", "BUILD", CELL_TEXT, USE_ALWAYS, false },
    { "platform", "PLATFORM", CELL_TEXT, USE_ALWAYS, false },
    { "cpu", "CPU", CELL_TEXT, USE_ALWAYS, false },
    { "devname", "DEVICE", CELL_TEXT, USE_ALWAYS, false },
};
enum { RUN_COLUMNS = sizeof run_columns / sizeof *run_columns };

struct table view_perflog_runs(const struct perflog *log)
{
    size_t count;
    const struct perflog_run *runs = perflog_runs(log, &count);
    struct table t = table_make(run_columns, RUN_COLUMNS, NULL);
    for (size_t i = 0; i < count; i++) {
        struct cell *cells = table_row(&t);
        cell_text(&cells[0], runs[i].file);
        cell_number(&cells[1], runs[i].line);
        cell_text(&cells[2], runs[i].app);
        if (runs[i].pid_known)
            cell_number(&cells[3], runs[i].pid);
        if (runs[i].resolution)
            cell_number(&cells[4], runs[i].resolution);
        for (int field = 0; field < FIELD_COUNT; field++) {
            /* A device without a name gets its platform's name. */
            const char *text = runs[i].fields[field];
            const bool nameless = field == FIELD_DEVNAME && (!text || !*text);
            cell_text(&cells[5 + field], nameless ? runs[i].fields[FIELD_PLATFORM] : text);
        }
    }
    return t;
}
