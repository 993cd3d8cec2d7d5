/* Makes the list of activities of the pairs of trace events, with their names. */
#include "trace/activities.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char marker_word[] = "marker:", activity_word[] = "activity:";

static uint32_t activity_marker_number(const struct trace_event *e)
{
    uint32_t number;
    memcpy(&number, e->data, sizeof number);
    return number;
}

static char *activity_class_name(const struct trace_event_class *class)
{
    char guid[GUID_TEXT];
    guid_text(class->guid, guid);
    return need_text("%s", class->name[0] ? class->name : guid);
}

char *activity_marker_name(const struct trace_event *e)
{
    if (e->data_size > DWELL_PERFLOG_KEY)
        return need_copy((const char *)e->data + DWELL_PERFLOG_KEY, e->data_size - DWELL_PERFLOG_KEY);
    return need_text("%" PRIu32, activity_marker_number(e));
}

static void activity_set_name(struct trace_activity *activity, const struct trace_events *events)
{
    const struct trace_event *e = activity->start;
    activity->marker = event_is_of_perflog(events, e);
    if (!activity->marker) {
        activity->name = activity_class_name(&events->classes[e->class]);
        return;
    }
    activity->number = activity_marker_number(e);
    activity->name = activity_marker_name(e);
}

struct activities activities_read(const struct session_file *file)
{
    struct activities a = { .events = trace_events_read(file) };
    struct event_pairs pairs = event_pairs_match(&a.events, 0);
    for (size_t i = 0; i < pairs.count; i++) {
        const struct event_activity *pair = &pairs.list[i];
        if (!pair->end)
            continue;
        GROW(a.list, a.count, a.room);
        struct trace_activity *activity = &a.list[a.count++];
        *activity = (struct trace_activity){
            .first = &a.events.list[(pair->dequeue ? pair->dequeue : pair->start) - 1],
            .last = &a.events.list[pair->end - 1],
            .start = &a.events.list[pair->start - 1],
        };
        activity_set_name(activity, &a.events);
    }
    event_pairs_free(&pairs);
    return a;
}

void activities_free(struct activities *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->list[i].name);
    free(a->list);
    trace_events_free(&a->events);
    *a = (struct activities){ 0 };
}

static bool activity_name_is(const char *name, const char *wanted)
{
    return strcmp(name, wanted) == 0 || fnmatch(wanted, name, 0) == 0;
}

/* Whether the string or one of its parts between commas is the wanted one. */
static bool activity_marker_is(const struct trace_activity *activity, const char *wanted)
{
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, activity->number);
    if (strcmp(number, wanted) == 0 || activity_name_is(activity->name, wanted))
        return true;
    bool found = false;
    for (const char *at = activity->name; *at && !found;) {
        const size_t length = strcspn(at, ",");
        char *part = need_copy(at, length);
        found = activity_name_is(part, wanted);
        free(part);
        at += length + (at[length] == ',');
    }
    return found;
}

static bool activity_class_is(const struct trace_event_class *class, const char *wanted)
{
    uint8_t guid[16];
    if (guid_parse(wanted, guid))
        return memcmp(guid, class->guid, sizeof guid) == 0;
    return class->name[0] && activity_name_is(class->name, wanted);
}

bool activity_matches(const struct activities *a, const struct trace_activity *activity, const char *wanted)
{
    if (strncmp(wanted, marker_word, sizeof marker_word - 1) == 0)
        return activity->marker && activity_marker_is(activity, wanted + sizeof marker_word - 1);
    return activity_class_is(&a->events.classes[activity->start->class], wanted + sizeof activity_word - 1);
}

bool activity_is_valid_name(const char *wanted)
{
    return (strncmp(wanted, marker_word, sizeof marker_word - 1) == 0 && wanted[sizeof marker_word - 1]) ||
           (strncmp(wanted, activity_word, sizeof activity_word - 1) == 0 && wanted[sizeof activity_word - 1]);
}
