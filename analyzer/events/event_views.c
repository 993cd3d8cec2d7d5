/* The view of trace events: a row for each, in order of time. */
#include "events/event_views.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "trace/event_cost.h"
#include "trace/event_fields.h"
#include "trace/event_names.h"
#include "trace/event_stamp.h"

enum {
    COLUMN_TIME,
    COLUMN_PID,
    COLUMN_TID,
    COLUMN_SEVERITY,
    COLUMN_VERSION,
    COLUMN_KERNEL,
    COLUMN_USER,
    COLUMN_COST,
    COLUMN_RESOLUTION,
    COLUMN_COST_TIME,
    COLUMN_CPU,
    COLUMN_CPU_TOTAL,
    COLUMN_THREAD,
    COLUMN_CLASS,
    COLUMN_GUID,
    COLUMN_TYPE,
    COLUMN_TYPE_NUMBER,
    COLUMN_DEPTH,
    COLUMN_FUNCTION,
    COLUMN_STACK,
    COLUMN_SIZE,
    COLUMN_SHORT_DATA,
    COLUMN_DATA,
    COLUMN_HEX,
    COLUMN_STAMP,
    COLUMN_COUNT,
};

static const struct column columns[COLUMN_COUNT] = {
    [COLUMN_TIME] = { "time", "TIME", CELL_MOMENT, USE_ALWAYS, false },
    [COLUMN_STAMP] = { "timestamp", "TIMESTAMP", CELL_COUNT, USE_DATA, false },
    [COLUMN_PID] = { "pid", "PID", CELL_COUNT, USE_ALWAYS, false },
    [COLUMN_TID] = { "tid", "TID", CELL_COUNT, USE_ALWAYS, false },
    [COLUMN_SEVERITY] = { "level", "LEVEL", CELL_COUNT, USE_ALWAYS, false },
    [COLUMN_VERSION] = { "version", "VERSION", CELL_COUNT, USE_ALWAYS, false },
    [COLUMN_KERNEL] = { "kernel_time", "KERNEL", CELL_COUNT, USE_ALWAYS, false },
    [COLUMN_USER] = { "user_time", "USER", CELL_COUNT, USE_ALWAYS, false },
    [COLUMN_COST] = { "cost", "COST", CELL_COUNT, USE_ALWAYS, false },
    [COLUMN_RESOLUTION] = { "resolution_100ns", "", CELL_COUNT, USE_DATA, false },
    [COLUMN_COST_TIME] = { "cost_ns", "", CELL_COUNT, USE_DATA, false },
    [COLUMN_CPU] = { "cpu", "CPU", CELL_NS, USE_ALWAYS, false },
    [COLUMN_CPU_TOTAL] = { "cpu_total_ns", "", CELL_COUNT, USE_DATA, false },
    [COLUMN_THREAD] = { "thread", "THREAD", CELL_TEXT, USE_ALWAYS, false },
    [COLUMN_CLASS] = { "class", "CLASS", CELL_TEXT, USE_ALWAYS, false },
    [COLUMN_GUID] = { "guid", "", CELL_TEXT, USE_DATA, false },
    [COLUMN_TYPE] = { "type", "TYPE", CELL_TEXT, USE_ALWAYS, false },
    [COLUMN_TYPE_NUMBER] = { "type_number", "", CELL_COUNT, USE_DATA, false },
    [COLUMN_DEPTH] = { "depth", "", CELL_COUNT, USE_DATA, false },
    [COLUMN_FUNCTION] = { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    [COLUMN_STACK] = { "stack", "", CELL_TEXT, USE_DATA, false },
    [COLUMN_SIZE] = { "size", "", CELL_COUNT, USE_DATA, false },
    [COLUMN_SHORT_DATA] = { "", "DATA", CELL_TEXT, USE_TEXT, false },
    [COLUMN_DATA] = { "data", "", CELL_TEXT, USE_DATA, false },
    [COLUMN_HEX] = { "data_hex", "", CELL_TEXT, USE_DATA, false },
};

/* ---- filter ---- */

static bool events_class_passes(const struct event_filter *f, const struct trace_event_class *c)
{
    char guid[GUID_TEXT];
    guid_text(c->guid, guid);
    for (size_t i = 0; i < f->class_count; i++)
        if (strcmp(f->classes[i], guid) == 0 || (c->name[0] && fnmatch(f->classes[i], c->name, 0) == 0))
            return true;
    return f->class_count == 0;
}

uint64_t event_time(const struct session_file *file, uint64_t time)
{
    return time > file->header.start_ticks ? time - file->header.start_ticks : 0;
}

bool event_passes(const struct event_filter *f, const struct session_file *file, const struct trace_events *events,
                  const struct trace_event *e)
{
    if (f->some_types && !f->types[e->type])
        return false;
    if (f->severity >= 0 && e->severity > f->severity)
        return false;
    return e->time >= f->from && e->time < f->to && events_class_passes(f, &events->classes[e->class]) &&
           selection_holds_event(f->threads, e->thread, e->time) &&
           selection_takes(f->threads, file, e->process, e->thread);
}

/* ---- texts ---- */

const char *event_class_name(const struct trace_events *events, uint32_t class)
{
    static char guid[GUID_TEXT];
    const struct trace_event_class *c = &events->classes[class];
    if (c->name[0])
        return c->name;
    guid_text(c->guid, guid);
    return guid;
}

static const char *events_type_text(const struct session_file *file, const struct trace_events *events,
                                    const struct trace_event *e, char text[8])
{
    const char *name = event_own_type_name(file, e, &events->classes[e->class]);
    if (name)
        return name;
    snprintf(text, 8, "%u", e->type);
    return text;
}

/* The names of the open functions, outermost first. */
static char *events_stack_text(const struct trace_event *e, struct namer *namer)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (e->depth > e->frames)
        fprintf(out, "(%" PRIu32 " more) > ", e->depth - e->frames);
    for (unsigned i = e->frames; i > 0; i--)
        fprintf(out, "%s%s", namer_find(namer, e->process, trace_event_frame(e, i - 1), e->time), i > 1 ? " > " : "");
    fclose(out);
    return text;
}

/* ---- rows ---- */

static void events_fill_text(struct cell *cell, char *text)
{
    cell_text(cell, text);
    free(text);
}

/* The CPU time so far, and since the thread's event before: as the header rounds it, and exactly. */
static void events_fill_cost(struct cell *cells, const struct trace_event *e, const struct trace_event *before,
                             const struct event_units *units_so_far, uint32_t resolution)
{
    if (e->flags & DWELL_TRACE_EVENT_TIMES) {
        cell_number(&cells[COLUMN_KERNEL], units_so_far->kernel);
        cell_number(&cells[COLUMN_USER], units_so_far->user);
        cell_number(&cells[COLUMN_RESOLUTION], resolution);
        if (before && before->flags & DWELL_TRACE_EVENT_TIMES) {
            const uint32_t units = event_cost(before, e, resolution);
            cell_number(&cells[COLUMN_COST], units);
            cell_number(&cells[COLUMN_COST_TIME], event_cost_ns(units, resolution));
        }
    }
    if (e->flags & DWELL_TRACE_EVENT_CPU) {
        cell_number(&cells[COLUMN_CPU_TOTAL], e->cpu_time);
        if (before && before->flags & DWELL_TRACE_EVENT_CPU && e->cpu_time >= before->cpu_time)
            cell_number(&cells[COLUMN_CPU], e->cpu_time - before->cpu_time);
    }
}

static void events_fill_row(struct cell *cells, const struct analysis *analysis, const struct trace_events *events,
                            const struct trace_event *e, const struct event_units *units, struct namer *namer,
                            const struct event_options *options)
{
    const struct trace_thread *t = session_file_thread(analysis->file, e->thread);
    const struct trace_process *p = session_file_process(analysis->file, e->process);
    char guid[GUID_TEXT], type[8];
    guid_text(events->classes[e->class].guid, guid);
    cell_number(&cells[COLUMN_TIME], event_time(analysis->file, e->time));
    cell_number(&cells[COLUMN_STAMP],
                options->raw_timestamps ? e->time : (uint64_t)event_stamp(analysis->file, e->time));
    if (p)
        cell_number(&cells[COLUMN_PID], p->pid);
    if (t)
        cell_number(&cells[COLUMN_TID], t->tid);
    cell_number(&cells[COLUMN_SEVERITY], e->severity);
    cell_number(&cells[COLUMN_VERSION], e->version);
    events_fill_cost(cells, e, e->previous ? &events->list[e->previous - 1] : NULL, units, options->resolution);
    cell_thread(&cells[COLUMN_THREAD], analysis, t ? t->serial : 0, t ? t->name : "");
    cell_text(&cells[COLUMN_CLASS], event_class_name(events, e->class));
    cell_text(&cells[COLUMN_GUID], guid);
    cell_text(&cells[COLUMN_TYPE], events_type_text(analysis->file, events, e, type));
    cell_number(&cells[COLUMN_TYPE_NUMBER], e->type);
    cell_number(&cells[COLUMN_DEPTH], e->depth);
    cell_number(&cells[COLUMN_SIZE], e->data_size);
    char *stack = events_stack_text(e, namer);
    if (options->stacks)
        cell_text(&cells[COLUMN_FUNCTION], stack);
    else if (e->frames)
        cell_text(&cells[COLUMN_FUNCTION], namer_find(namer, e->process, trace_event_frame(e, 0), e->time));
    events_fill_text(&cells[COLUMN_STACK], stack);
    events_fill_text(&cells[COLUMN_SHORT_DATA], event_data_text(analysis->file, events, e, EVENT_SHORT_DATA));
    events_fill_text(&cells[COLUMN_DATA], event_data_text(analysis->file, events, e, SIZE_MAX));
    events_fill_text(&cells[COLUMN_HEX], need_hex(e->data, e->data_size));
}

static void events_show_stamps(struct table *table)
{
    struct column *own = need_memory(COLUMN_COUNT, sizeof *own);
    memcpy(own, columns, sizeof columns);
    own[COLUMN_STAMP].use = USE_ALWAYS;
    table->columns = table->own_columns = own;
}

struct table view_events(const struct analysis *analysis, const struct trace_events *events,
                         const struct event_options *options)
{
    struct table table = table_make(columns, COLUMN_COUNT, &analysis->summary);
    struct namer *namer = namer_new(analysis->file);
    struct event_units *units = event_units_of(events, options->resolution);
    if (options->raw_timestamps)
        events_show_stamps(&table);
    for (size_t i = 0; i < events->count; i++) {
        const struct trace_event *e = &events->list[i];
        if (!event_passes(options->filter, analysis->file, events, e))
            continue;
        if (options->limit && table.row_count == options->limit)
            table.hidden_rows++;
        else
            events_fill_row(table_row(&table), analysis, events, e, &units[i], namer, options);
    }
    free(units);
    namer_free(namer);
    return table;
}
