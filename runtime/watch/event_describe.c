/* Descriptions of the data of trace events: the names and types of its fields (dwell_event_describe). */
#include <errno.h>
#include <string.h>

#include "dwell/event.h"
#include "metadata_records.h"
#include "sys.h"
#include "thread.h"

DWELL_EXPORT int dwell_runtime_event_describe(const struct dwell_event_class *c, uint32_t type, uint32_t version,
                                              const char *type_name, const struct dwell_event_field *fields,
                                              size_t count);

/* The strings of a description: the name of its type, the types of its fields, the names of its fields. */
struct event_description {
    struct text texts[2 + MAX_MOF_FIELDS];
    char types[MAX_MOF_FIELDS];
};

static bool event_describe_knows_type(uint32_t type)
{
    return (type >= ETW_SBYTE_TYPE_VALUE && type <= ETW_UINT64_TYPE_VALUE) ||
           (type >= ETW_SINGLE_TYPE_VALUE && type <= ETW_BOOLEAN_TYPE_VALUE) ||
           (type >= ETW_GUID_TYPE_VALUE && type <= ETW_ASCIISTRING_TYPE_VALUE) || type == ETW_POINTER_TYPE_VALUE ||
           type == ETW_SIZET_TYPE_VALUE;
}

/* Returns DWELL_OK, or what is wrong with the names or types. */
static int event_describe_collect(struct event_description *d, const char *type_name,
                                  const struct dwell_event_field *fields, size_t count)
{
    const size_t length = type_name ? strnlen(type_name, DWELL_EVENT_LONGEST_NAME + 1) : 0;
    if (length > DWELL_EVENT_LONGEST_NAME)
        return DWELL_BAD_NAME;
    d->texts[0] = (struct text){ type_name ? type_name : "", length };
    d->texts[1] = (struct text){ d->types, count };
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = fields[i].name ? strnlen(fields[i].name, DWELL_EVENT_LONGEST_NAME + 1) : 0;
        if (bytes == 0 || bytes > DWELL_EVENT_LONGEST_NAME)
            return DWELL_BAD_NAME;
        if (!event_describe_knows_type(fields[i].type))
            return DWELL_EVENT_BAD_TYPE;
        d->types[i] = (char)fields[i].type;
        d->texts[2 + i] = (struct text){ fields[i].name, bytes };
    }
    return DWELL_OK;
}

static int event_describe_write(const struct dwell_event_class *c, uint32_t type, uint32_t version,
                                const struct event_description *d, size_t count)
{
    struct dwell_rec_event_layout record = {
        .record.type = DWELL_REC_EVENT_LAYOUT,
        .type = (uint16_t)type,
        .version = (uint16_t)version,
        .fields = (uint32_t)count,
    };
    memcpy(record.guid, &c->guid, sizeof record.guid);
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return DWELL_FAILED;
    const bool done = metadata_append(&record.record, sizeof record, d->texts, (int)count + 2) != NULL;
    sys_restore_signals(mask);
    return done ? DWELL_OK : DWELL_FAILED;
}

DWELL_EXPORT int dwell_runtime_event_describe(const struct dwell_event_class *c, uint32_t type, uint32_t version,
                                              const char *type_name, const struct dwell_event_field *fields,
                                              size_t count)
{
    const int error = errno;
    struct event_description d;
    if (!thread_of_caller())
        return DWELL_NOT_RECORDED;
    if (type > DWELL_EVENT_ANY_TYPE)
        return DWELL_EVENT_BAD_TYPE;
    if (count > MAX_MOF_FIELDS || (count && !fields))
        return DWELL_EVENT_BAD_SIZE;
    int status = event_describe_collect(&d, type_name, fields, count);
    if (status == DWELL_OK)
        status = event_describe_write(c, type, version, &d, count);
    errno = error;
    return status;
}
