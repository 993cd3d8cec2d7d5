/* Collects the program's marks and trace events with their times, threads and names. */
#include "view/page_marks.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "trace/activities.h"
#include "view/thread_rank.h"

struct moment {
    uint64_t time, duration, waited;
    int32_t thread;
    uint32_t name, number;
    uint32_t type, severity; /* of events */
};

static uint64_t moments_since_start(const struct analysis *analysis, uint64_t time)
{
    const uint64_t start = analysis->file->header.start_ticks;
    return time > start ? time - start : 0;
}

void marks_find(struct moments *m, const struct analysis *analysis, const struct order *order)
{
    const struct profile *p = analysis->profile;
    *m = (struct moments){ .count = p->mark_count };
    m->list = need_memory(m->count + 1, sizeof *m->list);
    struct profile_mark *marks = need_memory(m->count + 1, sizeof *marks);
    if (m->count) {
        memcpy(marks, p->marks, m->count * sizeof *marks);
        qsort(marks, m->count, sizeof *marks, profile_compare_marks);
    }
    for (size_t i = 0; i < m->count; i++)
        m->list[i] = (struct moment){
            .time = moments_since_start(analysis, marks[i].time),
            .thread = thread_rank(order, marks[i].process, marks[i].thread),
            .name = intern(&m->names, marks[i].text, strlen(marks[i].text)),
            .number = marks[i].number,
        };
    free(marks);
}

static uint32_t moments_class_name(struct moments *m, const struct trace_event_class *class)
{
    char guid[GUID_TEXT];
    if (class->name)
        return intern(&m->names, class->name, strlen(class->name));
    guid_text(class->guid, guid);
    return intern(&m->names, guid, strlen(guid));
}

void events_find(struct moments *m, const struct analysis *analysis, const struct order *order)
{
    struct trace_events events = trace_events_read(analysis->file);
    const size_t most = events.count < MAX_EVENTS ? events.count : MAX_EVENTS;
    *m = (struct moments){ 0 };
    m->list = need_memory(most + 1, sizeof *m->list);
    for (size_t i = 0; i < events.count; i++) {
        const struct trace_event *event = &events.list[i];
        if (!selection_holds(analysis->selection, event->time) ||
            !selection_holds_event(analysis->selection, event->thread, event->time) ||
            !selection_takes(analysis->selection, analysis->file, event->process, event->thread))
            continue;
        if (m->count == MAX_EVENTS) {
            m->left_out++;
            continue;
        }
        m->list[m->count++] = (struct moment){
            .time = moments_since_start(analysis, event->time),
            .thread = thread_rank(order, event->process, event->thread),
            .name = moments_class_name(m, &events.classes[event->class]),
            .type = event->type,
            .severity = event->severity,
        };
    }
    trace_events_free(&events);
}

void activities_find(struct moments *m, const struct analysis *analysis, const struct order *order)
{
    struct activities activities = activities_read(analysis->file);
    const size_t most = activities.count < MAX_EVENTS ? activities.count : MAX_EVENTS;
    *m = (struct moments){ 0 };
    m->list = need_memory(most + 1, sizeof *m->list);
    for (size_t i = 0; i < activities.count; i++) {
        const struct trace_activity *activity = &activities.list[i];
        const struct trace_event *first = activity->first, *start = activity->start;
        if (!selection_holds(analysis->selection, first->time) ||
            !selection_holds_event(analysis->selection, first->thread, first->time) ||
            !selection_takes(analysis->selection, analysis->file, first->process, first->thread))
            continue;
        if (m->count == MAX_EVENTS) {
            m->left_out++;
            continue;
        }
        m->list[m->count++] = (struct moment){
            .time = moments_since_start(analysis, start->time),
            .duration = less(activity->last->time, start->time),
            .waited = less(first->time, start->time),
            .thread = thread_rank(order, first->process, first->thread),
            .name = intern(&m->names, activity->name, strlen(activity->name)),
        };
    }
    activities_free(&activities);
}

static struct container_table moments_make_table(struct moments *m, const char *name,
                                                 const struct container_column *columns, size_t count)
{
    memcpy(m->columns, columns, count * sizeof *columns);
    return (struct container_table){ name, m->count, m->columns, count };
}

struct container_table marks_table(struct moments *m)
{
    const struct container_column columns[MARK_COLUMNS] = {
        { "time", &m->list->time, sizeof *m->list, CONTAINER_U64, NULL },
        { "thread", &m->list->thread, sizeof *m->list, CONTAINER_I32, NULL },
        { "number", &m->list->number, sizeof *m->list, CONTAINER_U32, NULL },
        { "name", &m->list->name, sizeof *m->list, CONTAINER_U32, NULL },
    };
    return moments_make_table(m, "marks", columns, MARK_COLUMNS);
}

struct container_table events_table(struct moments *m)
{
    const struct container_column columns[EVENT_COLUMNS] = {
        { "time", &m->list->time, sizeof *m->list, CONTAINER_U64, NULL },
        { "thread", &m->list->thread, sizeof *m->list, CONTAINER_I32, NULL },
        { "name", &m->list->name, sizeof *m->list, CONTAINER_U32, NULL },
        { "type", &m->list->type, sizeof *m->list, CONTAINER_U32, NULL },
        { "level", &m->list->severity, sizeof *m->list, CONTAINER_U32, NULL },
    };
    return moments_make_table(m, "events", columns, EVENT_COLUMNS);
}

struct container_table activities_table(struct moments *m)
{
    const struct container_column columns[DURATION_COLUMNS] = {
        { "time", &m->list->time, sizeof *m->list, CONTAINER_U64, NULL },
        { "duration", &m->list->duration, sizeof *m->list, CONTAINER_U64, NULL },
        { "waited", &m->list->waited, sizeof *m->list, CONTAINER_U64, NULL },
        { "thread", &m->list->thread, sizeof *m->list, CONTAINER_I32, NULL },
        { "name", &m->list->name, sizeof *m->list, CONTAINER_U32, NULL },
    };
    return moments_make_table(m, "activities", columns, DURATION_COLUMNS);
}

struct json_object *moments_names(const struct moments *m)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < m->names.count; i++)
        json_object_array_add(list, json_new_text(m->names.pieces[i].bytes));
    return list;
}

void moments_drop(struct moments *m)
{
    intern_drop(&m->names);
    free(m->list);
}
