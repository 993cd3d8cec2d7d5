/* Makes rows of a critical path's functions, segments and threads. */
#include "causes/critical_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/time_unit.h"
#include "base/units.h"

const struct column view_critical_function_columns[] = {
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_DATA, false },
    { "work", "WORK", CELL_TICKS, USE_ALWAYS, false },
    { "runnable", "RUNNABLE", CELL_TICKS, USE_ALWAYS, false },
    { "outside", "OUTSIDE", CELL_TICKS, USE_ALWAYS, false },
    { "total", "TOTAL", CELL_TICKS, USE_ALWAYS, false },
    { "path_percent", "PATH %", CELL_PERCENT, USE_ALWAYS, false },
};
enum { FUNCTION, MODULE, WORK, RUNNABLE, OUTSIDE, TOTAL, SHARE, FUNCTION_COLUMNS };
const size_t view_critical_function_count = FUNCTION_COLUMNS;
_Static_assert(sizeof view_critical_function_columns / sizeof *view_critical_function_columns == FUNCTION_COLUMNS,
               "each column has its number");

const struct column view_critical_segment_columns[] = {
    { "tid", "TID", CELL_COUNT, USE_ALWAYS, false },       { "thread", "THREAD", CELL_TEXT, USE_ALWAYS, false },
    { "from", "FROM", CELL_MOMENT, USE_ALWAYS, false },    { "to", "TO", CELL_MOMENT, USE_ALWAYS, false },
    { "length", "LENGTH", CELL_TICKS, USE_ALWAYS, false }, { "function", "MOSTLY IN", CELL_NAME, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_DATA, false },    { "thread_title", "TITLE", CELL_TEXT, USE_DATA, false },
};
enum {
    SEGMENT_TID,
    SEGMENT_THREAD,
    SEGMENT_FROM,
    SEGMENT_TO,
    SEGMENT_LENGTH,
    SEGMENT_FUNCTION,
    SEGMENT_MODULE,
    SEGMENT_TITLE,
    SEGMENT_COLUMNS
};
const size_t view_critical_segment_count = SEGMENT_COLUMNS;
_Static_assert(sizeof view_critical_segment_columns / sizeof *view_critical_segment_columns == SEGMENT_COLUMNS,
               "each column has its number");

const struct column view_critical_thread_columns[] = {
    { "tid", "TID", CELL_COUNT, USE_ALWAYS, false },
    { "thread", "THREAD", CELL_TEXT, USE_ALWAYS, false },
    { "on_path", "ON PATH", CELL_TICKS, USE_ALWAYS, false },
    { "path_percent", "PATH %", CELL_PERCENT, USE_ALWAYS, false },
    { "slack", "SLACK", CELL_TICKS, USE_ALWAYS, false },
    { "thread_title", "TITLE", CELL_TEXT, USE_DATA, false },
};
enum { THREAD_TID, THREAD_NAME, THREAD_ON_PATH, THREAD_SHARE, THREAD_SLACK, THREAD_TITLE, THREAD_COLUMNS };
const size_t view_critical_thread_count = THREAD_COLUMNS;
_Static_assert(sizeof view_critical_thread_columns / sizeof *view_critical_thread_columns == THREAD_COLUMNS,
               "each column has its number");

static const char *const place_names[] = {
    [CRITICAL_OUTSIDE] = "(outside functions)",
    [CRITICAL_STARTING] = "(start of thread)",
    [CRITICAL_UNKNOWN] = "(not recorded)",
};

static const char *critical_what_name(const struct analysis *analysis, const struct critical_what *what)
{
    return what->place == CRITICAL_FUNCTION ? analysis->names[what->function].name : place_names[what->place];
}

static uint64_t critical_length(const struct critical_path *p)
{
    return p->part.to - p->part.from;
}

static void critical_fill_module(struct cell *cell, const struct analysis *analysis, const struct critical_what *what)
{
    if (what->place == CRITICAL_FUNCTION)
        cell_text(cell, analysis->names[what->function].module);
}

struct table view_critical_functions(const struct analysis *analysis, const struct critical_path *p)
{
    struct table t = table_make(view_critical_function_columns, FUNCTION_COLUMNS, &analysis->summary);
    for (size_t i = 0; i < p->row_count; i++) {
        const struct critical_row *row = &p->rows[i];
        struct cell *cells = table_row(&t);
        cell_text(&cells[FUNCTION], critical_what_name(analysis, &row->what));
        critical_fill_module(&cells[MODULE], analysis, &row->what);
        cell_number(&cells[WORK], row->times.work);
        cell_number(&cells[RUNNABLE], row->times.runnable);
        cell_number(&cells[OUTSIDE], row->times.outside);
        cell_number(&cells[TOTAL], path_times_total(&row->times));
        cell_percent(&cells[SHARE], percent_of(path_times_total(&row->times), critical_length(p)));
    }
    return t;
}

static void critical_fill_thread(const struct analysis *analysis, uint32_t serial, struct cell *tid, struct cell *name,
                                 struct cell *title)
{
    const struct trace_thread *t = session_file_thread(analysis->file, serial);
    if (!t)
        return;
    cell_number(tid, t->tid);
    cell_thread(name, analysis, serial, t->name ? t->name : "");
    cell_thread_title(title, name);
}

/* Moments count from the beginning of the session. */
static uint64_t critical_moment(const struct analysis *analysis, uint64_t time)
{
    return time > analysis->file->header.start_ticks ? time - analysis->file->header.start_ticks : 0;
}

struct table view_critical_segments(const struct analysis *analysis, const struct critical_path *p)
{
    struct table t = table_make(view_critical_segment_columns, SEGMENT_COLUMNS, &analysis->summary);
    for (size_t i = 0; i < p->segment_count; i++) {
        const struct critical_segment *s = &p->segments[i];
        struct cell *cells = table_row(&t);
        critical_fill_thread(analysis, s->thread, &cells[SEGMENT_TID], &cells[SEGMENT_THREAD], &cells[SEGMENT_TITLE]);
        cell_number(&cells[SEGMENT_FROM], critical_moment(analysis, s->begin));
        cell_number(&cells[SEGMENT_TO], critical_moment(analysis, s->end));
        cell_number(&cells[SEGMENT_LENGTH], s->end - s->begin);
        cell_text(&cells[SEGMENT_FUNCTION], critical_what_name(analysis, &s->longest));
        critical_fill_module(&cells[SEGMENT_MODULE], analysis, &s->longest);
    }
    return t;
}

struct table view_critical_threads(const struct analysis *analysis, const struct critical_path *p)
{
    struct table t = table_make(view_critical_thread_columns, THREAD_COLUMNS, &analysis->summary);
    for (size_t i = 0; i < p->thread_count; i++) {
        const struct critical_thread *thread = &p->threads[i];
        struct cell *cells = table_row(&t);
        critical_fill_thread(analysis, thread->thread, &cells[THREAD_TID], &cells[THREAD_NAME], &cells[THREAD_TITLE]);
        cell_number(&cells[THREAD_ON_PATH], thread->on_path);
        cell_percent(&cells[THREAD_SHARE], percent_of(thread->on_path, critical_length(p)));
        cell_number(&cells[THREAD_SLACK], thread->slack);
    }
    return t;
}

/* The thread on which the path ends, as the tables name it, with its number. */
static char *critical_end(const struct analysis *analysis, const struct critical_path *p)
{
    const struct trace_thread *t = session_file_thread(analysis->file, p->part.thread);
    const char *title = analysis_thread_title(analysis, p->part.thread);
    const char *name = title ? title : t && t->name ? t->name : "";
    const uint32_t tid = t ? t->tid : 0;
    return *name ? need_text("%s (%" PRIu32 ")", name, tid) : need_text("%" PRIu32, tid);
}

char *critical_heading(const struct analysis *analysis, const struct critical_path *p)
{
    const uint64_t ticks_per_second = analysis->summary.ticks_per_second;
    const uint64_t from_ns = ticks_to_ns(critical_moment(analysis, p->part.from), ticks_per_second);
    const uint64_t to_ns = ticks_to_ns(critical_moment(analysis, p->part.to), ticks_per_second);
    const struct time_unit *unit = time_unit_for(to_ns); /* of both */
    char length[TIME_TEXT], from[TIME_TEXT], to[TIME_TEXT];
    time_text_with_unit(ticks_to_ns(critical_length(p), ticks_per_second), length);
    time_text(from_ns, unit, from);
    time_text(to_ns, unit, to);
    char *end = critical_end(analysis, p);
    char *heading = need_text("critical path: %s%s, from %s %s to %s %s; it ends on thread %s", length,
                              analysis->summary.overhead_known ? ", with the time of probes" : "", from, unit->name, to,
                              unit->name, end);
    free(end);
    return heading;
}
