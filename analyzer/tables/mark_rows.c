/* The view of marks, which the program sets at moments of interest, and of its PerfLog timers, in order of time. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "tables/views.h"
#include "trace/activities.h"

const struct column view_marks_columns[] = {
    { "time", "TIME", CELL_MOMENT, USE_ALWAYS, false },
    { "since_previous", "SINCE", CELL_TICKS, USE_ALWAYS, false },
    { "number", "MARK", CELL_COUNT, USE_ALWAYS, false },
    { "tid", "TID", CELL_COUNT, USE_ALWAYS, false },
    { "process", "PROCESS", CELL_COUNT, USE_ALWAYS, false },
    { "thread", "THREAD", CELL_TEXT, USE_ALWAYS, false },
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    { "text", "TEXT", CELL_TEXT, USE_ALWAYS, false },
    { "duration", "DURATION", CELL_TICKS, USE_ALWAYS, false },
    { "thread_title", "TITLE", CELL_TEXT, USE_DATA, false },
};
enum { COLUMN_COUNT = sizeof view_marks_columns / sizeof *view_marks_columns };
const size_t view_marks_column_count = COLUMN_COUNT;

enum { COLUMN_DURATION = 8 };

/* A mark, or a timer of PerfLog. */
struct marks_row {
    uint64_t time, order;
    const struct profile_mark *mark; /* NULL if it is a timer: */
    const struct trace_activity *timer;
};

static int marks_compare_rows(const void *a, const void *b)
{
    const struct marks_row *x = a, *y = b;
    return ORDER_BY(x, y, time, order);
}

/* Marks in their own order, then timers. */
static struct marks_row *marks_collect_rows(const struct profile_mark *marks, size_t mark_count,
                                            const struct activities *activities, size_t *count)
{
    struct marks_row *rows = need_memory(mark_count + activities->count, sizeof *rows);
    *count = 0;
    for (size_t i = 0; i < mark_count; i++, ++*count)
        rows[*count] = (struct marks_row){ marks[i].time, *count, &marks[i], NULL };
    for (size_t i = 0; i < activities->count; i++)
        if (activities->list[i].marker) {
            rows[*count] = (struct marks_row){ activities->list[i].first->time, *count, NULL, &activities->list[i] };
            ++*count;
        }
    if (*count)
        qsort(rows, *count, sizeof *rows, marks_compare_rows);
    return rows;
}

static void marks_fill_mark(struct cell *cells, const struct analysis *analysis, const struct profile_mark *mark)
{
    const uint32_t function = analysis->profile->nodes[mark->node].function;
    cell_number(&cells[2], mark->number);
    if (function != PROFILE_NONE)
        cell_text(&cells[6], analysis->names[function].name);
    cell_text(&cells[7], mark->text);
}

static void marks_fill_timer(struct cell *cells, const struct trace_activity *timer, struct namer *namer)
{
    const struct trace_event *e = timer->first;
    cell_number(&cells[COLUMN_DURATION], timer->last->time - e->time);
    cell_number(&cells[2], timer->number);
    if (e->frames)
        cell_text(&cells[6], namer_find(namer, e->process, trace_event_frame(e, 0), e->time));
    cell_text(&cells[7], timer->name);
}

static void marks_fill_row(struct cell *cells, const struct analysis *analysis, const struct marks_row *row,
                           uint64_t previous, struct namer *namer)
{
    const uint32_t thread = row->mark ? row->mark->thread : row->timer->first->thread;
    const uint32_t process = row->mark ? row->mark->process : row->timer->first->process;
    const struct trace_thread *t = session_file_thread(analysis->file, thread);
    const struct trace_process *p = session_file_process(analysis->file, process);
    const uint64_t start = analysis->file->header.start_ticks;
    cell_number(&cells[0], row->time > start ? row->time - start : 0);
    cell_number(&cells[1], row->time - previous);
    if (t)
        cell_number(&cells[3], t->tid);
    if (p)
        cell_number(&cells[4], p->pid);
    cell_thread(&cells[5], analysis, thread, t ? t->name : "");
    cell_thread_title(&cells[9], &cells[5]);
    if (row->mark)
        marks_fill_mark(cells, analysis, row->mark);
    else
        marks_fill_timer(cells, row->timer, namer);
}

/* Text shows durations only if there are timers. */
static void marks_hide_durations(struct table *table)
{
    struct column *columns = need_memory(COLUMN_COUNT, sizeof *columns);
    memcpy(columns, view_marks_columns, sizeof view_marks_columns);
    columns[COLUMN_DURATION].use = USE_DATA;
    table->columns = table->own_columns = columns;
}

static struct profile_mark *marks_sorted(const struct profile *p)
{
    struct profile_mark *marks = need_memory(p->mark_count, sizeof *marks);
    if (p->mark_count) {
        memcpy(marks, p->marks, p->mark_count * sizeof *marks);
        qsort(marks, p->mark_count, sizeof *marks, profile_compare_marks);
    }
    return marks;
}

struct table view_marks(const struct analysis *analysis)
{
    struct table table = table_make(view_marks_columns, COLUMN_COUNT, &analysis->summary);
    struct profile_mark *marks = marks_sorted(analysis->profile);
    struct activities activities = activities_read(analysis->file);
    size_t count;
    struct marks_row *rows = marks_collect_rows(marks, analysis->profile->mark_count, &activities, &count);
    struct namer *namer = namer_new(analysis->file);
    if (count == analysis->profile->mark_count)
        marks_hide_durations(&table);
    const uint64_t session_start = analysis->file->header.start_ticks;
    for (size_t i = 0; i < count; i++) {
        const uint64_t start = session_start < rows[i].time ? session_start : rows[i].time;
        marks_fill_row(table_row(&table), analysis, &rows[i], i ? rows[i - 1].time : start, namer);
    }
    namer_free(namer);
    free(rows);
    activities_free(&activities);
    free(marks);
    return table;
}
