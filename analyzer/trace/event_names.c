/* The names of the severities and predefined types of trace events. */
#include "trace/event_names.h"

#include <stddef.h>
#include <stdlib.h>
#include <strings.h>

#include "base/memory.h"
#include "dwell/event.h"
#include "trace/event_fields.h"

struct event_names_entry {
    const char *name;
    int number;
};

/* A number can have several names. The first one is shown. */
static const struct event_names_entry types[] = {
    { "INFO", EVENT_TRACE_TYPE_INFO },
    { "START", EVENT_TRACE_TYPE_START },
    { "END", EVENT_TRACE_TYPE_END },
    { "STOP", EVENT_TRACE_TYPE_STOP },
    { "DC_START", EVENT_TRACE_TYPE_DC_START },
    { "DC_END", EVENT_TRACE_TYPE_DC_END },
    { "EXTENSION", EVENT_TRACE_TYPE_EXTENSION },
    { "REPLY", EVENT_TRACE_TYPE_REPLY },
    { "DEQUEUE", EVENT_TRACE_TYPE_DEQUEUE },
    { "RESUME", EVENT_TRACE_TYPE_RESUME },
    { "CHECKPOINT", EVENT_TRACE_TYPE_CHECKPOINT },
    { "SUSPEND", EVENT_TRACE_TYPE_SUSPEND },
    { "SEND", EVENT_TRACE_TYPE_WINEVT_SEND },
    { "RECEIVE", EVENT_TRACE_TYPE_WINEVT_RECEIVE },
};

static const struct event_names_entry severities[] = {
    { "none", TRACE_LEVEL_NONE },        { "critical", TRACE_LEVEL_CRITICAL },
    { "fatal", TRACE_LEVEL_FATAL },      { "error", TRACE_LEVEL_ERROR },
    { "warning", TRACE_LEVEL_WARNING },  { "information", TRACE_LEVEL_INFORMATION },
    { "info", TRACE_LEVEL_INFORMATION }, { "verbose", TRACE_LEVEL_VERBOSE },
};

enum { TYPES = sizeof types / sizeof *types, SEVERITIES = sizeof severities / sizeof *severities };

static int event_names_find_number(const struct event_names_entry *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(names[i].name, name) == 0)
            return names[i].number;
    return -1;
}

const char *event_type_name(unsigned type)
{
    for (size_t i = 0; i < TYPES; i++)
        if ((unsigned)types[i].number == type)
            return types[i].name;
    return NULL;
}

const char *event_own_type_name(const struct session_file *file, const struct trace_event *event,
                                const struct trace_event_class *class)
{
    const char *name =
        event_fields_type_name(event_fields_layout(file, class->guid, event->type, event->version), event->type);
    return name ? name : event_type_name(event->type);
}

char *event_name(const struct session_file *file, const struct trace_event *event,
                 const struct trace_event_class *class)
{
    char guid[GUID_TEXT];
    const char *type = event_own_type_name(file, event, class);
    guid_text(class->guid, guid);
    return need_text("%s %s", class->name[0] ? class->name : guid, type ? type : "event");
}

int event_type_of(const char *name)
{
    return event_names_find_number(types, TYPES, name);
}

int event_severity_of(const char *name)
{
    return event_names_find_number(severities, SEVERITIES, name);
}

static int event_names_number(const char *text)
{
    char *end;
    const long number = strtol(text, &end, 10);
    return end == text || *end || *text < '0' || *text > '9' || number > 255 ? -1 : (int)number;
}

int event_severity(const char *text)
{
    const int number = event_names_number(text);
    return number >= 0 ? number : event_severity_of(text);
}

int event_type(const char *text)
{
    const int number = event_names_number(text);
    return number >= 0 ? number : event_type_of(text);
}
