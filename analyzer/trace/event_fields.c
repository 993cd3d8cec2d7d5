/* Prints the data of trace events by the types of its fields. */
#include "trace/event_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "base/utf8.h"
#include "dwell/event.h"

/* The data of timers of PerfLog, which has no record of its own. */
static char marker_field[] = "marker", text_field[] = "string", no_name[] = "";
static const struct trace_event_layout event_fields_perflog = {
    .guid = DWELL_PERFLOG_GUID,
    .type = DWELL_EVENT_ANY_TYPE,
    .name = no_name,
    .count = 2,
    .types = { ETW_UINT32_TYPE_VALUE, ETW_ASCIISTRING_TYPE_VALUE },
    .names = { marker_field, text_field },
};

/* ---- descriptions ---- */

static int event_fields_compare_keys(const struct trace_event_layout *x, const struct trace_event_layout *y)
{
    const int guids = memcmp(x->guid, y->guid, sizeof x->guid);
    if (guids)
        return guids;
    return x->version != y->version ? x->version - y->version : x->type - y->type;
}

static int event_fields_compare_layouts(const void *a, const void *b)
{
    const struct trace_event_layout *x = a, *y = b;
    const int keys = event_fields_compare_keys(x, y);
    return keys ? keys : ORDER(x->order, y->order);
}

void event_fields_sort_layouts(struct session_file *file)
{
    for (size_t i = 0; i < file->events.layout_count; i++)
        file->events.layouts[i].order = i;
    if (file->events.layout_count)
        qsort(file->events.layouts, file->events.layout_count, sizeof *file->events.layouts,
              event_fields_compare_layouts);
}

/* The first of several descriptions of the same events. */
static const struct trace_event_layout *event_fields_find(const struct session_file *file, const uint8_t guid[16],
                                                          unsigned type, unsigned version)
{
    struct trace_event_layout wanted = { .type = (uint16_t)type, .version = (uint16_t)version };
    memcpy(wanted.guid, guid, sizeof wanted.guid);
    const size_t place = LOWER_BOUND(layout, file->events.layouts, file->events.layout_count,
                                     event_fields_compare_keys(layout, &wanted) < 0);
    const struct trace_event_layout *found = &file->events.layouts[place];
    return place < file->events.layout_count && event_fields_compare_keys(found, &wanted) == 0 ? found : NULL;
}

const struct trace_event_layout *event_fields_layout(const struct session_file *file, const uint8_t guid[16],
                                                     unsigned type, unsigned version)
{
    if (memcmp(guid, event_fields_perflog.guid, sizeof event_fields_perflog.guid) == 0)
        return &event_fields_perflog;
    const struct trace_event_layout *layout = event_fields_find(file, guid, type, version);
    if (layout || type == EVENT_TRACE_TYPE_EXTENSION)
        return layout;
    return event_fields_find(file, guid, DWELL_EVENT_ANY_TYPE, version);
}

const char *event_fields_type_name(const struct trace_event_layout *layout, unsigned type)
{
    return layout && layout->type == type && layout->name[0] ? layout->name : NULL;
}

/* ---- values ---- */

/* Bytes of a field, if its type is a known one of fixed size. */
static size_t event_fields_size(unsigned type)
{
    switch (type) {
    case ETW_INT64_TYPE_VALUE:
    case ETW_UINT64_TYPE_VALUE:
    case ETW_DOUBLE_TYPE_VALUE:
    case ETW_POINTER_TYPE_VALUE:
    case ETW_SIZET_TYPE_VALUE:
        return 8;
    case ETW_SBYTE_TYPE_VALUE:
    case ETW_BYTE_TYPE_VALUE:
    case ETW_BOOLEAN_TYPE_VALUE:
    case ETW_ASCIICHAR_TYPE_VALUE:
        return 1;
    case ETW_INT16_TYPE_VALUE:
    case ETW_UINT16_TYPE_VALUE:
        return 2;
    case ETW_INT32_TYPE_VALUE:
    case ETW_UINT32_TYPE_VALUE:
    case ETW_SINGLE_TYPE_VALUE:
        return 4;
    case ETW_GUID_TYPE_VALUE:
        return 16;
    default:
        return 0;
    }
}

static void event_fields_put_real(FILE *out, const uint8_t *data, size_t size)
{
    float single;
    double number;
    if (size == sizeof single) {
        memcpy(&single, data, sizeof single);
        fprintf(out, "%.9g", (double)single);
    } else {
        memcpy(&number, data, sizeof number);
        fprintf(out, "%.17g", number);
    }
}

static void event_fields_put_value(FILE *out, unsigned type, const uint8_t *data, size_t size)
{
    uint64_t number = 0;
    char guid[GUID_TEXT];
    memcpy(&number, data, size < sizeof number ? size : sizeof number);
    const unsigned unused = 64 - 8 * (unsigned)(size < sizeof number ? size : sizeof number);
    switch (type) {
    case ETW_SBYTE_TYPE_VALUE:
    case ETW_INT16_TYPE_VALUE:
    case ETW_INT32_TYPE_VALUE:
    case ETW_INT64_TYPE_VALUE:
        fprintf(out, "%" PRId64, (int64_t)(number << unused) >> unused);
        break;
    case ETW_SINGLE_TYPE_VALUE:
    case ETW_DOUBLE_TYPE_VALUE:
        event_fields_put_real(out, data, size);
        break;
    case ETW_BOOLEAN_TYPE_VALUE:
        fputs(number ? "true" : "false", out);
        break;
    case ETW_ASCIICHAR_TYPE_VALUE:
        fputc((int)number, out);
        break;
    case ETW_GUID_TYPE_VALUE:
        guid_text(data, guid);
        fputs(guid, out);
        break;
    case ETW_POINTER_TYPE_VALUE:
        fprintf(out, "0x%" PRIx64, number);
        break;
    default:
        fprintf(out, "%" PRIu64, number);
        break;
    }
}

/* Prints a field and returns its bytes. A field whose type is unknown, or that the data does not hold, has none. */
static size_t event_fields_put(FILE *out, unsigned type, const uint8_t *data, size_t size)
{
    if (type == ETW_ASCIISTRING_TYPE_VALUE) {
        const size_t length = strnlen((const char *)data, size);
        fwrite(data, 1, length, out);
        return length + (length < size); /* with the string's end */
    }
    const size_t bytes = event_fields_size(type);
    if (!bytes || bytes > size) {
        putc('?', out);
        return 0;
    }
    event_fields_put_value(out, type, data, bytes);
    return bytes;
}

char *event_fields_text(const struct trace_event_layout *layout, const uint8_t *data, size_t size)
{
    char *text = NULL;
    size_t length = 0;
    if (!layout || !layout->count)
        return NULL;
    FILE *out = need_stream(&text, &length);
    size_t at = 0;
    bool known = true; /* where the next field begins */
    for (unsigned i = 0; i < layout->count; i++) {
        fprintf(out, "%s%s=", i ? ", " : "", layout->names[i]);
        const bool string = layout->types[i] == ETW_ASCIISTRING_TYPE_VALUE;
        const size_t used = event_fields_put(out, known ? layout->types[i] : 0, data + at, size - at);
        at += used;
        known = known && (used || string);
    }
    if (at < size) {
        char *rest = need_hex(data + at, size - at);
        fprintf(out, ", 0x%s", rest);
        free(rest);
    }
    need_stream_end(out);
    return text;
}

/* ---- data with and without fields ---- */

static char *event_fields_hex(const uint8_t *data, size_t size, const char *before)
{
    char *digits = need_hex(data, size), *text = need_text("%s%s", before, digits);
    free(digits);
    return text;
}

/* True if the data is text. Excludes a final zero byte from *size. */
static bool event_fields_is_text(const uint8_t *data, size_t *size)
{
    if (*size && data[*size - 1] == '\0')
        --*size;
    for (size_t i = 0; i < *size; i++)
        if (data[i] < ' ' || data[i] > '~')
            return false;
    return *size > 0;
}

/* NULL if the data has no known fields. */
static char *event_fields_short(const struct session_file *file, const struct trace_events *events,
                                const struct trace_event *e, size_t most)
{
    char *text = event_fields_text(event_fields_layout(file, events->classes[e->class].guid, e->type, e->version),
                                   e->data, e->data_size);
    if (!text || strlen(text) <= most)
        return text;
    char *begin = need_copy(text, most), *valid = utf8_repair(begin);
    char *shortened = need_text("%s... (%" PRIu32 " bytes)", valid, e->data_size);
    free(text);
    free(begin);
    free(valid);
    return shortened;
}

char *event_data_text(const struct session_file *file, const struct trace_events *events, const struct trace_event *e,
                      size_t most)
{
    size_t size = e->data_size;
    char *fields = event_fields_short(file, events, e, most);
    if (fields)
        return fields;
    if (size == 0)
        return need_copy("", 0);
    const bool text = event_fields_is_text(e->data, &size);
    const size_t shown = size < most ? size : most;
    char *begin = text ? need_copy((const char *)e->data, shown)
                       : event_fields_hex(e->data, e->data_size < most ? e->data_size : most, "0x");
    if (text ? shown == size : e->data_size <= most)
        return begin;
    const size_t room = strlen(begin) + 32;
    char *whole = need_memory(room, 1);
    snprintf(whole, room, "%s... (%" PRIu32 " bytes)", begin, e->data_size);
    free(begin);
    return whole;
}
