/* The view by function, module, thread or process: one row each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/live.h"
#include "base/memory.h"
#include "base/units.h"
#include "report/row_order.h"
#include "report/views.h"

#define SOURCE_COLUMN                                                                                                  \
    {                                                                                                                  \
        "source", "SOURCE", CELL_TEXT, USE_TEXT, false                                                                 \
    }

/* Of single calls: these take another reading of the session. */
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

/* Of a session that is watched: what happened since it was looked at before. */
#define RECENT_COLUMNS                                                                                                 \
    { "calls_per_second", "CALLS/S", CELL_COUNT, USE_CHOSEN, false },                                                  \
        { "recent_calls", "+CALLS", CELL_COUNT, USE_CHOSEN, false },                                                   \
        { "recent_elapsed_inclusive", "+EL.INCL", CELL_TICKS, USE_CHOSEN, false },                                     \
        { "recent_elapsed_inclusive_percent", "NOW.INCL %", CELL_PERCENT, USE_CHOSEN, false },                         \
        { "recent_elapsed_exclusive", "+EL.EXCL", CELL_TICKS, USE_CHOSEN, false },                                     \
        { "recent_elapsed_exclusive_percent", "NOW %", CELL_PERCENT, USE_CHOSEN, false },                              \
        { "recent_application_inclusive", "+APP.INCL", CELL_TICKS, USE_CHOSEN, false },                                \
        { "recent_application_exclusive", "+APP.EXCL", CELL_TICKS, USE_CHOSEN, false },                                \
    {                                                                                                                  \
        "number", "NUMBER", CELL_COUNT, USE_CHOSEN, false                                                              \
    }
static const struct column recent_columns[] = { RECENT_COLUMNS };
enum { RECENT_COLUMN_COUNT = sizeof recent_columns / sizeof *recent_columns };

static const struct column function_columns[] = {
    { "function", "FUNCTION", CELL_TEXT, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_ALWAYS, false },
    { "file", "FILE", CELL_TEXT, USE_DATA, false },
    { "line", "LINE", CELL_COUNT, USE_DATA, false },
    SOURCE_COLUMN,
    TIME_COLUMNS,
    CALL_COLUMNS,
    RECENT_COLUMNS,
};
static const struct column module_columns[] = {
    { "module", "MODULE", CELL_TEXT, USE_ALWAYS, false },
    { "path", "PATH", CELL_TEXT, USE_ALWAYS, false },
    TIME_COLUMNS,
    RECENT_COLUMNS,
};
#define THREAD_COLUMNS                                                                                                 \
    { "thread", "THREAD", CELL_TEXT, USE_ALWAYS, false }, { "tid", "TID", CELL_COUNT, USE_ALWAYS, false },             \
        { "process", "PROCESS", CELL_TEXT, USE_ALWAYS, false },                                                        \
    {                                                                                                                  \
        "pid", "PID", CELL_COUNT, USE_DATA, false                                                                      \
    }
#define PROCESS_COLUMNS                                                                                                \
    { "process", "PROCESS", CELL_TEXT, USE_ALWAYS, false }, { "pid", "PID", CELL_COUNT, USE_ALWAYS, false },           \
        { "parent", "PARENT", CELL_COUNT, USE_DATA, false },                                                           \
    {                                                                                                                  \
        "arguments", "COMMAND", CELL_TEXT, USE_ALWAYS, false                                                           \
    }
#define SESSION_COLUMN                                                                                                 \
    {                                                                                                                  \
        "session", "SESSION", CELL_TEXT, USE_ALWAYS, false                                                             \
    }
enum { COLUMN_SESSION = 4 };

static const struct column thread_columns[] = { THREAD_COLUMNS, TIME_COLUMNS, RECENT_COLUMNS };
static const struct column process_columns[] = { PROCESS_COLUMNS, TIME_COLUMNS, RECENT_COLUMNS };
static const struct column threads_of_sessions[] = { THREAD_COLUMNS, SESSION_COLUMN, TIME_COLUMNS, RECENT_COLUMNS };
static const struct column processes_of_sessions[] = { PROCESS_COLUMNS, SESSION_COLUMN, TIME_COLUMNS, RECENT_COLUMNS };

#define COLUMN_SET(columns)                                                                                            \
    {                                                                                                                  \
        columns, sizeof columns / sizeof *columns                                                                      \
    }

/* Of one session, and of several. */
static const struct {
    const struct column *columns;
    size_t count;
} column_sets[2][4] = {
    { COLUMN_SET(function_columns), COLUMN_SET(module_columns), COLUMN_SET(thread_columns),
      COLUMN_SET(process_columns) },
    { COLUMN_SET(function_columns), COLUMN_SET(module_columns), COLUMN_SET(threads_of_sessions),
      COLUMN_SET(processes_of_sessions) },
};

/* ---- what stands before the times ---- */

static void rows_fill_function(const struct analysis *l, struct cell *cells, size_t i)
{
    const struct function_name *name = &l->names[i];
    cell_text(&cells[0], name->name);
    cell_text(&cells[1], name->module);
    cell_text(&cells[2], name->file);
    if (name->line)
        cell_number(&cells[3], name->line);
    if (name->file) {
        const char *slash = strrchr(name->file, '/');
        char source[512];
        snprintf(source, sizeof source, "%s:%u", slash ? slash + 1 : name->file, name->line);
        cell_text(&cells[4], source);
    }
}

static void rows_fill_module(const struct analysis *l, struct cell *cells, size_t i)
{
    char *name = names_module(l->profile->modules[i].path);
    cell_text(&cells[0], name);
    cell_text(&cells[1], l->profile->modules[i].path);
    free(name);
}

static void rows_fill_thread(const struct analysis *l, struct cell *cells, size_t i)
{
    const struct profile_thread *pt = &l->profile->threads[i];
    const struct trace_thread *t = session_file_thread(l->file, pt->thread);
    const struct trace_process *p = session_file_process(l->file, pt->process);
    char *process = names_module(p ? p->path : "");
    cell_text(&cells[0], t && t->name[0] ? t->name : "[unknown]");
    if (t && t->tid)
        cell_number(&cells[1], t->tid);
    cell_text(&cells[2], process);
    if (p && p->pid)
        cell_number(&cells[3], p->pid);
    if (l->part_count)
        cell_text(&cells[COLUMN_SESSION], analysis_session_of(l, pt->process));
    free(process);
}

static void rows_fill_process(const struct analysis *l, struct cell *cells, uint32_t serial)
{
    const struct trace_process *p = session_file_process(l->file, serial);
    char *name = names_module(p ? p->path : "");
    cell_text(&cells[0], name);
    if (p && p->pid)
        cell_number(&cells[1], p->pid);
    if (p && p->parent_pid)
        cell_number(&cells[2], p->parent_pid);
    cell_text(&cells[3], p ? p->arguments : "");
    if (l->part_count)
        cell_text(&cells[COLUMN_SESSION], analysis_session_of(l, serial));
    free(name);
}

/* ---- order ---- */

static const struct column time_columns[] = { TIME_COLUMNS };

static void rows_list_recent_columns(FILE *out)
{
    static const char *const meanings[] = {
        "enters a second, since the refresh before",      "enters since the refresh before",
        "elapsed inclusive since the refresh before",     "its share of all that elapsed since the refresh before",
        "elapsed exclusive since the refresh before",     "its share of all that elapsed since the refresh before",
        "application inclusive since the refresh before", "application exclusive since the refresh before",
    };
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        fprintf(out, "%-32s %s\n", recent_columns[i].key, meanings[i]);
}

void view_list_columns(FILE *out, bool recent)
{
    static const char *const meanings[TIME_COLUMN_COUNT] = {
        [TIME_CALLS] = "enters",
        [TIME_ELAPSED_INCLUSIVE] = "time with it on the stack",
        [TIME_ELAPSED_INCLUSIVE + 1] = "its share of the session's elapsed inclusive time",
        [TIME_ELAPSED_EXCLUSIVE] = "time with it on top of the stack",
        [TIME_ELAPSED_EXCLUSIVE + 1] = "its share of the session's elapsed inclusive time",
        [TIME_APPLICATION_INCLUSIVE] = "elapsed inclusive without the intervals in which the OS intervened",
        [TIME_APPLICATION_INCLUSIVE + 1] = "its share of the session's application inclusive time",
        [TIME_APPLICATION_EXCLUSIVE] = "elapsed exclusive without the intervals in which the OS intervened",
        [TIME_APPLICATION_EXCLUSIVE + 1] = "its share of the session's application inclusive time",
        [TIME_WAITING] = "share of its elapsed exclusive time in which it was blocked",
        [TIME_MIN] = "shortest completed call, elapsed inclusive",
        [TIME_MAX] = "longest completed call, elapsed inclusive",
        [TIME_BLOCKED_INCLUSIVE] = "off the CPU, waiting, with it on the stack",
        [TIME_BLOCKED_EXCLUSIVE] = "off the CPU, waiting, with it on top of the stack",
        [TIME_PREEMPTED_INCLUSIVE] = "off the CPU because another was to run, with it on the stack",
        [TIME_PREEMPTED_EXCLUSIVE] = "off the CPU because another was to run, with it on top of the stack",
        [TIME_CPU_INCLUSIVE] = "elapsed inclusive, less blocked and preempted",
        [TIME_CPU_EXCLUSIVE] = "elapsed exclusive, less blocked and preempted",
        [TIME_PAGE_FAULTS] = "page faults with it on the stack",
        [TIME_OVERHEAD_INCLUSIVE] =
            "what the probes took with it on the stack, which is in none of the others (see --raw)",
        [TIME_OVERHEAD_EXCLUSIVE] = "what the probes took with it on top of the stack",
        [TIME_PAGE_FAULTS_EXCLUSIVE] = "page faults with it on top of the stack",
    };
    if (recent)
        rows_list_recent_columns(out);
    for (size_t i = 0; i < TIME_COLUMN_COUNT; i++)
        fprintf(out, "%-*s %s\n", recent ? 32 : 30, time_columns[i].key, meanings[i]);
    if (!recent)
        fputs("\nOf functions, of their single completed calls (the session is read once more): each of\n"
              "elapsed_inclusive, elapsed_exclusive, application_inclusive and application_exclusive with\n"
              "_min, _mean, _median, _p90, _p99 and _max behind it.\n",
              out);
    fputs("\n--filter knows these, name (what the row is of), and the columns that csv has before them.\n", out);
}

static bool rows_is_call_column(const char *key, size_t length)
{
    for (size_t i = 0; i < CALL_COLUMN_COUNT; i++)
        if (table_is_key(&call_columns[i], key, length))
            return true;
    return false;
}

size_t view_sort_keys(const char **keys, bool recent)
{
    static const char *const subjects[] = { "function", "module",  "file", "line",   "path",      "thread", "tid",
                                            "threads",  "process", "pid",  "parent", "arguments", "session" };
    size_t count = 0;
    keys[count++] = "name";
    for (size_t i = 0; i < TIME_COLUMN_COUNT; i++)
        keys[count++] = time_columns[i].key;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        keys[count++] = subjects[i];
    for (size_t i = 0; i < (recent ? RECENT_COLUMN_COUNT : CALL_COLUMN_COUNT); i++)
        keys[count++] = recent ? recent_columns[i].key : call_columns[i].key;
    return count;
}

bool view_needs_calls(const char *keys)
{
    bool any = false;
    for (const char *key = keys; key && !any; key = strchr(key, ',') ? strchr(key, ',') + 1 : NULL)
        any = rows_is_call_column(key, strcspn(key, ","));
    return any;
}

bool view_sort(struct table *t, const struct sorting *sorting, struct error *error)
{
    if (sorting->filters && !table_filter(t, sorting->filters, error))
        return false;
    if (!table_sort(t, sorting->key, error))
        return false;
    if (sorting->limit)
        table_limit(t, sorting->limit);
    return true;
}

/* ---- single calls ---- */

struct rows_distributions {
    struct histogram (*functions)[CALL_TIMES];
    size_t count;
};

static bool rows_add_call(void *context, const struct finished_call *call)
{
    struct rows_distributions *d = context;
    for (int i = 0; i < CALL_TIMES && call->function < d->count; i++)
        histogram_add(&d->functions[call->function][i], call->times[i], 1);
    return true;
}

static void rows_fill_calls(const struct analysis *l, struct cell *cells, struct histogram *histograms)
{
    for (int i = 0; i < CALL_TIMES; i++, cells += COLUMNS_A_TIME) {
        const struct histogram *h = &histograms[i];
        if (h->count == 0 || (i >= CALL_APPLICATION_INCLUSIVE && !l->summary.application_known))
            continue;
        const uint64_t values[] = { h->least,
                                    (uint64_t)llround(histogram_mean(h)),
                                    histogram_percentile(h, 50),
                                    histogram_percentile(h, 90),
                                    histogram_percentile(h, 99),
                                    h->greatest };
        for (int j = 0; j < COLUMNS_A_TIME; j++)
            cell_number(&cells[j], values[j]);
    }
    for (int i = 0; i < CALL_TIMES; i++)
        histogram_drop(&histograms[i]);
}

/* `groups`: which function each row is of. */
static void rows_fill_all_calls(const struct analysis *l, struct table *t, const size_t *groups)
{
    struct rows_distributions d = { NULL, l->profile->function_count };
    d.functions = need_memory(d.count, sizeof *d.functions);
    calls_follow_selection(l->file, l->profile, l->selection, rows_add_call, &d);
    for (size_t i = 0; i < t->row_count; i++)
        rows_fill_calls(l, &t->cells[i * t->column_count + t->first_value + TIME_COLUMN_COUNT], d.functions[groups[i]]);
    free(d.functions);
}

size_t view_row_number(const struct table *t, size_t row)
{
    return t->cells[(row + 1) * t->column_count - 1].number;
}

/* ---- what happened since the look before ---- */

static void rows_fill_recent(struct cell *cells, const struct times *t, const struct recent_times *recent)
{
    const uint64_t all = recent->rollup->session.elapsed_inclusive;
    const double seconds = (double)recent->interval / 1e9;
    cell_number(&cells[0], seconds > 0 ? (uint64_t)llround((double)t->calls / seconds) : 0);
    cell_number(&cells[1], t->calls);
    cell_number(&cells[2], t->elapsed_inclusive);
    cell_percent(&cells[3], percent_of(t->elapsed_inclusive, all));
    cell_number(&cells[4], t->elapsed_exclusive);
    cell_percent(&cells[5], percent_of(t->elapsed_exclusive, all));
    cell_number(&cells[6], t->application_inclusive);
    cell_number(&cells[7], t->application_exclusive);
}

static void rows_fill_all_recent(const struct analysis *l, struct table *t, enum rollup_by by,
                                 const struct recent_times *recent, const size_t *groups)
{
    struct times *sums = recent->rollup ? rollup_groups(recent->rollup, by) : NULL;
    for (size_t i = 0; i < t->row_count; i++) {
        struct cell *cells = &t->cells[(i + 1) * t->column_count - RECENT_COLUMN_COUNT];
        cell_number(&cells[RECENT_COLUMN_COUNT - 1], groups[i]);
        if (sums)
            rows_fill_recent(cells, &sums[groups[i]], recent);
        if (!l->summary.application_known)
            cells[6].known = cells[7].known = false;
    }
    free(sums);
}

struct table view_rows(const struct analysis *l, enum rollup_by by, const struct sorting *sorting)
{
    const bool several = l->part_count > 0;
    const size_t columns = column_sets[several][by].count - (sorting->recent ? 0 : RECENT_COLUMN_COUNT);
    struct table t = table_make(column_sets[several][by].columns, columns, &l->summary);
    t.first_value = column_sets[several][by].count - RECENT_COLUMN_COUNT - TIME_COLUMN_COUNT -
                    (by == BY_FUNCTION ? CALL_COLUMN_COUNT : 0);
    size_t count = rollup_group_count(l->rollup, by), process_count;
    struct times *sums = rollup_groups(l->rollup, by);
    uint32_t *processes = rollup_process_list(l->profile, &process_count);
    size_t *groups = need_memory(count, sizeof *groups);
    for (size_t i = 0; i < count; i++) {
        if (l->selection && times_are_empty(&sums[i]))
            continue; /* it is of another part of the session */
        groups[t.row_count] = i;
        struct cell *cells = table_row(&t);
        if (by == BY_FUNCTION)
            rows_fill_function(l, cells, i);
        else if (by == BY_MODULE)
            rows_fill_module(l, cells, i);
        else if (by == BY_THREAD)
            rows_fill_thread(l, cells, i);
        else
            rows_fill_process(l, cells, processes[i]);
        fill_times(&t, &sums[i]);
    }
    if (by == BY_FUNCTION && sorting->calls)
        rows_fill_all_calls(l, &t, groups);
    if (sorting->recent)
        rows_fill_all_recent(l, &t, by, sorting->recent, groups);
    free(groups);
    free(processes);
    free(sums);
    return t;
}
