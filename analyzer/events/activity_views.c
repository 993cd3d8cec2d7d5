/* The views of activities, which are pairs or groups of trace events: one by one, and by class. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "dwell/event.h"
#include "events/event_views.h"
#include "trace/event_fields.h"
#include "trace/event_names.h"

/* The events of an activity; NULL for those that it lacks. */
struct activity_parts {
    const struct trace_event *start; /* never NULL */
    const struct trace_event *dequeue, *end;
};

static const struct trace_event *activity_event(const struct trace_events *events, size_t number)
{
    return number ? &events->list[number - 1] : NULL;
}

static struct activity_parts activity_find_parts(const struct trace_events *events, const struct event_activity *a)
{
    return (struct activity_parts){ &events->list[a->start - 1], activity_event(events, a->dequeue),
                                    activity_event(events, a->end) };
}

/* Applies the filter without its types, as an activity has events of several types. */
static bool activity_passes_filter(const struct analysis *analysis, const struct trace_events *events,
                                   const struct event_filter *filter, const struct trace_event *e)
{
    struct event_filter all_types = *filter;
    all_types.some_types = false;
    return event_passes(&all_types, analysis->file, events, e);
}

/* ---- events without a partner ---- */

struct activity_unmatched {
    uint64_t starts, dequeues, ends, replies, extensions; /* starts counts those of activities without an end */
};

/* A START is a stray if it has no key. */
static bool activity_type_starts(unsigned type)
{
    return type == EVENT_TRACE_TYPE_START || type == EVENT_TRACE_TYPE_DC_START;
}

static void activity_count_unmatched(struct activity_unmatched *u, unsigned type)
{
    if (type == EVENT_TRACE_TYPE_DEQUEUE)
        u->dequeues++;
    else if (type == EVENT_TRACE_TYPE_END || type == EVENT_TRACE_TYPE_DC_END)
        u->ends++;
    else if (type == EVENT_TRACE_TYPE_EXTENSION)
        u->extensions++;
    else if (type == EVENT_TRACE_TYPE_REPLY)
        u->replies++;
    else
        u->starts += activity_type_starts(type);
}

void event_remark(struct analysis *analysis, uint64_t count, const char *what)
{
    if (count)
        summary_remark(&analysis->summary, "events-unmatched", "%" PRIu64 " %s", count, what);
}

void event_remark_unmatched(struct analysis *analysis, const struct trace_events *events,
                            const struct event_pairs *pairs, const struct event_filter *filter)
{
    struct activity_unmatched u = { 0 };
    for (size_t i = 0; i < pairs->count; i++)
        if (!pairs->list[i].end &&
            activity_passes_filter(analysis, events, filter, activity_event(events, pairs->list[i].start)))
            u.starts++;
    for (size_t i = 0; i < pairs->stray_count; i++) {
        const struct trace_event *e = &events->list[pairs->strays[i]];
        if (activity_passes_filter(analysis, events, filter, e))
            activity_count_unmatched(&u, e->type);
    }
    event_remark(analysis, u.starts, "unmatched START: no END or REPLY followed");
    event_remark(analysis, u.dequeues, "unmatched DEQUEUE: no matching START was waiting");
    event_remark(analysis, u.ends, "unmatched END: no matching START was open");
    event_remark(analysis, u.replies, "unmatched REPLY: no matching START was open");
    event_remark(analysis, u.extensions, "unmatched EXTENSION: its thread has no earlier event of the class");
}

/* ---- one by one ---- */

enum {
    PAIR_TIME,
    PAIR_PID,
    PAIR_TID,
    PAIR_END_TID,
    PAIR_DURATION,
    PAIR_WAIT,
    PAIR_SERVICE,
    PAIR_CPU,
    PAIR_REPLIES,
    PAIR_FIRST_REPLY,
    PAIR_CLASS,
    PAIR_ENDED_BY,
    PAIR_FUNCTION,
    PAIR_SHORT_DATA,
    PAIR_DATA,
    PAIR_EXTENSIONS,
    PAIR_COLUMNS,
};

static const struct column pair_columns[PAIR_COLUMNS] = {
    [PAIR_TIME] = { "start", "START", CELL_MOMENT, USE_ALWAYS, false },
    [PAIR_PID] = { "pid", "PID", CELL_COUNT, USE_ALWAYS, false },
    [PAIR_TID] = { "tid", "TID", CELL_COUNT, USE_ALWAYS, false },
    [PAIR_END_TID] = { "end_tid", "END TID", CELL_COUNT, USE_ALWAYS, false },
    [PAIR_DURATION] = { "duration", "DURATION", CELL_TICKS, USE_ALWAYS, false },
    [PAIR_WAIT] = { "wait", "WAIT", CELL_TICKS, USE_ALWAYS, false },
    [PAIR_SERVICE] = { "service", "SERVICE", CELL_TICKS, USE_ALWAYS, false },
    [PAIR_CPU] = { "cpu", "CPU", CELL_NS, USE_ALWAYS, false },
    [PAIR_REPLIES] = { "replies", "REPLIES", CELL_COUNT, USE_ALWAYS, false },
    [PAIR_FIRST_REPLY] = { "first_reply", "", CELL_TICKS, USE_DATA, false },
    [PAIR_EXTENSIONS] = { "extensions", "", CELL_COUNT, USE_DATA, false },
    [PAIR_CLASS] = { "class", "CLASS", CELL_TEXT, USE_ALWAYS, false },
    [PAIR_ENDED_BY] = { "ended_by", "BY", CELL_TEXT, USE_ALWAYS, false },
    [PAIR_FUNCTION] = { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    [PAIR_SHORT_DATA] = { "", "DATA", CELL_TEXT, USE_TEXT, false },
    [PAIR_DATA] = { "data", "", CELL_TEXT, USE_DATA, false },
};

static uint64_t activity_ticks_between(const struct trace_event *from, const struct trace_event *to)
{
    return to->time > from->time ? to->time - from->time : 0;
}

/* The CPU time of the thread that did the work, if one thread did all of it. */
static void activity_fill_cpu(struct cell *cell, const struct activity_parts *p)
{
    const struct trace_event *from = p->dequeue ? p->dequeue : p->start;
    if (from->thread == p->end->thread && from->flags & p->end->flags & DWELL_TRACE_EVENT_CPU &&
        p->end->cpu_time >= from->cpu_time)
        cell_number(cell, p->end->cpu_time - from->cpu_time);
}

/* The data of an event with that of the EXTENSION events that continue it. The caller frees the bytes. */
static struct trace_event activity_whole_event(const struct trace_events *events, const struct event_pairs *pairs,
                                               size_t event, uint8_t **bytes)
{
    struct trace_event whole = events->list[event - 1];
    size_t size = 0;
    for (size_t i = event; i; i = pairs->extensions[i - 1])
        size += events->list[i - 1].data_size;
    *bytes = need_memory(size, 1);
    whole.data = *bytes;
    whole.data_size = 0;
    for (size_t i = event; i; i = pairs->extensions[i - 1]) {
        const struct trace_event *e = &events->list[i - 1];
        if (e->data_size > UINT32_MAX - whole.data_size)
            break;
        memcpy(*bytes + whole.data_size, e->data, e->data_size);
        whole.data_size += e->data_size;
    }
    return whole;
}

static void activity_fill_data(struct cell *cells, const struct session_file *file, const struct trace_events *events,
                               const struct event_pairs *pairs, size_t start)
{
    uint8_t *bytes;
    const struct trace_event whole = activity_whole_event(events, pairs, start, &bytes);
    char *short_data = event_data_text(file, events, &whole, EVENT_SHORT_DATA),
         *data = event_data_text(file, events, &whole, SIZE_MAX);
    cell_text(&cells[PAIR_SHORT_DATA], short_data);
    cell_text(&cells[PAIR_DATA], data);
    free(short_data);
    free(data);
    free(bytes);
}

static void activity_fill_row(struct cell *cells, const struct analysis *analysis, const struct trace_events *events,
                              const struct event_pairs *pairs, const struct event_activity *a, struct namer *namer)
{
    const struct activity_parts p = activity_find_parts(events, a);
    const struct trace_process *process = session_file_process(analysis->file, p.start->process);
    const struct trace_thread *first = session_file_thread(analysis->file, p.start->thread);
    const struct trace_thread *last = session_file_thread(analysis->file, p.end->thread);
    cell_number(&cells[PAIR_TIME], event_time(analysis->file, p.start->time));
    if (process)
        cell_number(&cells[PAIR_PID], process->pid);
    if (first)
        cell_number(&cells[PAIR_TID], first->tid);
    if (last)
        cell_number(&cells[PAIR_END_TID], last->tid);
    cell_number(&cells[PAIR_DURATION], activity_ticks_between(p.start, p.end));
    if (p.dequeue) {
        cell_number(&cells[PAIR_WAIT], activity_ticks_between(p.start, p.dequeue));
        cell_number(&cells[PAIR_SERVICE], activity_ticks_between(p.dequeue, p.end));
    }
    activity_fill_cpu(&cells[PAIR_CPU], &p);
    cell_number(&cells[PAIR_REPLIES], a->replies);
    if (a->replies)
        cell_number(&cells[PAIR_FIRST_REPLY], activity_ticks_between(p.start, activity_event(events, a->first_reply)));
    cell_text(&cells[PAIR_CLASS], event_class_name(events, a->class));
    cell_number(&cells[PAIR_EXTENSIONS], a->extensions);
    cell_text(&cells[PAIR_ENDED_BY], event_type_name(p.end->type));
    if (p.start->frames)
        cell_text(&cells[PAIR_FUNCTION],
                  namer_find(namer, p.start->process, trace_event_frame(p.start, 0), p.start->time));
    activity_fill_data(cells, analysis->file, events, pairs, a->start);
}

struct table view_event_pairs(const struct analysis *analysis, const struct trace_events *events,
                              const struct event_pairs *pairs, const struct event_options *options)
{
    struct table table = table_make(pair_columns, PAIR_COLUMNS, &analysis->summary);
    struct namer *namer = namer_new(analysis->file);
    for (size_t i = 0; i < pairs->count; i++) {
        const struct event_activity *a = &pairs->list[i];
        if (!a->end || !activity_passes_filter(analysis, events, options->filter, activity_event(events, a->start)))
            continue;
        if (options->limit && table.row_count == options->limit)
            table.hidden_rows++;
        else
            activity_fill_row(table_row(&table), analysis, events, pairs, a, namer);
    }
    namer_free(namer);
    return table;
}

/* ---- by class ---- */

struct activity_sums {
    uint64_t total, shortest, longest, count;
};

struct activity_class_sums {
    uint32_t class;
    struct activity_sums duration, wait, service;
    uint64_t replies, open, strays;
};

static void activity_sums_add(struct activity_sums *s, uint64_t ticks)
{
    if (!s->count++ || ticks < s->shortest)
        s->shortest = ticks;
    if (ticks > s->longest)
        s->longest = ticks;
    s->total += ticks;
}

enum { SUM_COLUMNS = 4 };

enum {
    QUEUE_ENDED,
    QUEUE_QUEUED,
    QUEUE_WAIT,
    QUEUE_SERVICE = QUEUE_WAIT + SUM_COLUMNS,
    QUEUE_SHARE = QUEUE_SERVICE + SUM_COLUMNS,
    QUEUE_DURATION,
    QUEUE_REPLIES = QUEUE_DURATION + SUM_COLUMNS,
    QUEUE_OPEN,
    QUEUE_STRAYS,
    QUEUE_CLASS,
    QUEUE_COLUMNS,
};

#define COLUMNS_OF(first, key, title, letter)                                                                          \
    [first] = { key, title, CELL_TICKS, USE_ALWAYS, false },                                                           \
    [(first) + 1] = { key "_mean", letter ".MEAN", CELL_TICKS, USE_ALWAYS, false },                                    \
    [(first) + 2] = { key "_min", "", CELL_TICKS, USE_DATA, false },                                                   \
    [(first) + 3] = { key "_max", letter ".MAX", CELL_TICKS, USE_ALWAYS, false }

static const struct column queue_columns[QUEUE_COLUMNS] = {
    [QUEUE_ENDED] = { "ended", "ENDED", CELL_COUNT, USE_ALWAYS, false },
    [QUEUE_QUEUED] = { "queued", "QUEUED", CELL_COUNT, USE_ALWAYS, false },
    COLUMNS_OF(QUEUE_WAIT, "wait", "WAIT", "W"),
    COLUMNS_OF(QUEUE_SERVICE, "service", "SERVICE", "S"),
    [QUEUE_SHARE] = { "wait_percent", "WAIT %", CELL_PERCENT, USE_ALWAYS, false },
    COLUMNS_OF(QUEUE_DURATION, "duration", "DURATION", "D"),
    [QUEUE_REPLIES] = { "replies", "REPLIES", CELL_COUNT, USE_ALWAYS, false },
    [QUEUE_OPEN] = { "unmatched_starts", "OPEN", CELL_COUNT, USE_ALWAYS, false },
    [QUEUE_STRAYS] = { "unmatched_others", "STRAY", CELL_COUNT, USE_ALWAYS, false },
    [QUEUE_CLASS] = { "class", "CLASS", CELL_TEXT, USE_ALWAYS, false },
};

static void activity_class_add(struct activity_class_sums *c, const struct activity_parts *p, uint32_t replies)
{
    c->replies += replies;
    if (!p->end) {
        c->open++;
        return;
    }
    activity_sums_add(&c->duration, activity_ticks_between(p->start, p->end));
    if (p->dequeue) {
        activity_sums_add(&c->wait, activity_ticks_between(p->start, p->dequeue));
        activity_sums_add(&c->service, activity_ticks_between(p->dequeue, p->end));
    }
}

static void activity_fill_sums(struct cell *cells, const struct activity_sums *s)
{
    if (!s->count)
        return;
    cell_number(&cells[0], s->total);
    cell_number(&cells[1], (s->total + s->count / 2) / s->count);
    cell_number(&cells[2], s->shortest);
    cell_number(&cells[3], s->longest);
}

static void activity_fill_class(struct cell *cells, const struct trace_events *events,
                                const struct activity_class_sums *c)
{
    cell_number(&cells[QUEUE_ENDED], c->duration.count);
    cell_number(&cells[QUEUE_QUEUED], c->wait.count);
    activity_fill_sums(&cells[QUEUE_WAIT], &c->wait);
    activity_fill_sums(&cells[QUEUE_SERVICE], &c->service);
    const uint64_t both = c->wait.total + c->service.total;
    if (both)
        cell_percent(&cells[QUEUE_SHARE], 100.0 * (double)c->wait.total / (double)both);
    activity_fill_sums(&cells[QUEUE_DURATION], &c->duration);
    cell_number(&cells[QUEUE_REPLIES], c->replies);
    cell_number(&cells[QUEUE_OPEN], c->open);
    cell_number(&cells[QUEUE_STRAYS], c->strays);
    cell_text(&cells[QUEUE_CLASS], event_class_name(events, c->class));
}

static int activity_compare_classes(const void *a, const void *b)
{
    const struct activity_class_sums *x = a, *y = b;
    if (x->duration.total != y->duration.total)
        return x->duration.total > y->duration.total ? -1 : 1;
    return ORDER_BY(x, y, class);
}

struct table view_event_queues(const struct analysis *analysis, const struct trace_events *events,
                               const struct event_pairs *pairs, const struct event_options *options)
{
    struct table table = table_make(queue_columns, QUEUE_COLUMNS, &analysis->summary);
    struct activity_class_sums *classes = need_memory(events->class_count, sizeof *classes);
    for (size_t i = 0; i < events->class_count; i++)
        classes[i].class = (uint32_t)i;
    for (size_t i = 0; i < pairs->count; i++) {
        const struct activity_parts p = activity_find_parts(events, &pairs->list[i]);
        if (activity_passes_filter(analysis, events, options->filter, p.start))
            activity_class_add(&classes[pairs->list[i].class], &p, pairs->list[i].replies);
    }
    for (size_t i = 0; i < pairs->stray_count; i++) {
        const struct trace_event *e = &events->list[pairs->strays[i]];
        if (!activity_passes_filter(analysis, events, options->filter, e))
            continue;
        if (activity_type_starts(e->type))
            classes[e->class].open++;
        else
            classes[e->class].strays++;
    }
    if (events->class_count)
        qsort(classes, events->class_count, sizeof *classes, activity_compare_classes);
    for (size_t i = 0; i < events->class_count; i++)
        if (classes[i].duration.count || classes[i].open || classes[i].strays)
            activity_fill_class(table_row(&table), events, &classes[i]);
    free(classes);
    return table;
}
