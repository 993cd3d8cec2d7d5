/* The beginning and end of a marker's timer as trace events of the class "perflog" (docs/format.md), while dwell
 * records. The event of a begin comes before the timer starts, and that of an end after it stops. */
#include <stdint.h>
#include <string.h>

#include "perflog/state.h"
#include "trace_events.h"

static struct dwell_event_class events_class = { .guid = DWELL_PERFLOG_GUID_PARTS, .name = "perflog" };

/* Level 0 is accepted at any level. */
enum { EVENT_LEVEL = 0 };

void perflog_events_begin(void)
{
    dwell_runtime_event_register(&events_class);
}

void perflog_event(enum perflog_event_type type, MARKER_ID marker)
{
    struct {
        uint32_t marker;
        char name[MAX_MARKERNAME_LEN + 1];
    } data = { .marker = marker };
    if (!dwell_event_enabled(&events_class, EVENT_LEVEL))
        return;
    const uint64_t mask = perflog_lock();
    strcpy(data.name, perflog.names[marker]);
    perflog_unlock(mask);
    dwell_runtime_event_write(&events_class, (uint32_t)type | EVENT_LEVEL << 8, &data,
                              sizeof data.marker + strlen(data.name));
}
