/* Checks the header of a trace event that a program passes in, and finds the size of its data. See dwell/event.h. */
#ifndef DWELL_EVENT_CHECK_H
#define DWELL_EVENT_CHECK_H

#include <stdint.h>

#include "dwell/event.h"

/* The data of an event, in one piece or several. */
struct event_data {
    const void *at;
    const MOF_FIELD *fields; /* NULL if the data lies at `at` */
    uint32_t count;          /* number of fields */
    uint64_t size;           /* bytes of all the data */
};

enum { EVENT_SIZE_LIMIT = DWELL_EVENT_BUFFER - DWELL_EVENT_BUFFER_HEADER };

static inline int event_check_size(uint64_t size)
{
    return size < EVENT_SIZE_LIMIT - DWELL_EVENT_HEADER ? DWELL_OK : DWELL_EVENT_TOO_LONG;
}

static inline int event_check_fields(const MOF_FIELD *fields, uint64_t count, struct event_data *data)
{
    *data = (struct event_data){ .fields = fields, .count = (uint32_t)count };
    if (count > MAX_MOF_FIELDS || (count && !fields))
        return DWELL_EVENT_BAD_SIZE;
    for (uint32_t i = 0; i < count; i++) {
        if (fields[i].Length && !fields[i].DataPtr)
            return DWELL_EVENT_BAD_SIZE;
        data->size += fields[i].Length;
    }
    return event_check_size(data->size);
}

static inline int event_check_header(const EVENT_TRACE_HEADER *header, struct event_data *data)
{
    const uint32_t known = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_GUID_PTR | WNODE_FLAG_USE_MOF_PTR;
    if (!header || header->Size < sizeof *header)
        return DWELL_EVENT_BAD_SIZE;
    if (!(header->Flags & WNODE_FLAG_TRACED_GUID) || header->Flags & ~known)
        return DWELL_EVENT_BAD_FLAGS;
    if (header->Flags & WNODE_FLAG_USE_GUID_PTR && !header->GuidPtr)
        return DWELL_EVENT_BAD_SIZE;
    const uint32_t behind = header->Size - (uint32_t)sizeof *header;
    if (header->Flags & WNODE_FLAG_USE_MOF_PTR) {
        if (behind % sizeof(MOF_FIELD))
            return DWELL_EVENT_BAD_SIZE;
        return event_check_fields((const MOF_FIELD *)(header + 1), behind / sizeof(MOF_FIELD), data);
    }
    *data = (struct event_data){ .at = header + 1, .size = behind };
    return event_check_size(behind);
}

#endif
