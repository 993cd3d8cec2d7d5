/* The view of marks, which the program sets at moments of interest, in order of time. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/views.h"

const struct column view_marks_columns[] = {
    { "time", "TIME", CELL_TICKS, USE_ALWAYS, false },
    { "since_previous", "SINCE", CELL_TICKS, USE_ALWAYS, false },
    { "number", "MARK", CELL_COUNT, USE_ALWAYS, false },
    { "tid", "TID", CELL_COUNT, USE_ALWAYS, false },
    { "process", "PROCESS", CELL_COUNT, USE_ALWAYS, false },
    { "thread", "THREAD", CELL_TEXT, USE_ALWAYS, false },
    { "function", "FUNCTION", CELL_TEXT, USE_ALWAYS, false },
    { "text", "TEXT", CELL_TEXT, USE_ALWAYS, false },
};
enum { COLUMN_COUNT = sizeof view_marks_columns / sizeof *view_marks_columns };
const size_t view_marks_column_count = COLUMN_COUNT;

static void marks_fill_row(struct cell *cells, const struct analysis *l, const struct profile_mark *mark,
                           uint64_t previous)
{
    const struct trace_thread *t = session_file_thread(l->file, mark->thread);
    const struct trace_process *p = session_file_process(l->file, mark->process);
    const uint64_t start = l->file->header.start_ticks;
    const uint32_t function = l->profile->nodes[mark->node].function;
    cell_number(&cells[0], mark->time > start ? mark->time - start : 0);
    cell_number(&cells[1], mark->time - previous);
    cell_number(&cells[2], mark->number);
    if (t)
        cell_number(&cells[3], t->tid);
    if (p)
        cell_number(&cells[4], p->pid);
    cell_text(&cells[5], t ? t->name : "");
    if (function != PROFILE_NONE)
        cell_text(&cells[6], l->names[function].name);
    cell_text(&cells[7], mark->text);
}

struct table view_marks(const struct analysis *l)
{
    const struct profile *p = l->profile;
    struct table table = table_make(view_marks_columns, COLUMN_COUNT, &l->summary);
    struct profile_mark *marks = need_memory(p->mark_count, sizeof *marks);
    if (p->mark_count) {
        memcpy(marks, p->marks, p->mark_count * sizeof *marks);
        qsort(marks, p->mark_count, sizeof *marks, profile_compare_marks);
    }
    for (size_t i = 0; i < p->mark_count; i++) {
        const uint64_t start =
            l->file->header.start_ticks < marks[i].time ? l->file->header.start_ticks : marks[i].time;
        marks_fill_row(table_row(&table), l, &marks[i], i ? marks[i - 1].time : start);
    }
    free(marks);
    return table;
}
