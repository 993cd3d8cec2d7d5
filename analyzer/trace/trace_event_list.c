/* Reads trace events from their chunks, sorts them by time, and parses GUIDs. */
#include "trace/trace_event_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/sorted.h"

/* ---- one chunk ---- */

/* Reads the event at `at` and returns its size. Returns zero if there is no complete event. *damaged is set if no
 * runtime writes such bytes. */
static uint32_t trace_events_event_at(const uint8_t *data, uint32_t at, uint32_t end, struct dwell_trace_event *event,
                                      bool *damaged)
{
    if (end - at < sizeof *event + sizeof event->size)
        return 0;
    memcpy(event, data + at, sizeof *event);
    if (event->size == 0)
        return 0;
    const uint64_t needed = sizeof *event + (uint64_t)event->frames * 8 + event->data_size + sizeof event->size;
    if (event->size % 8 || event->size > end - at || needed > event->size || event->frames > event->depth ||
        event->frames > DWELL_TRACE_EVENT_FRAMES) {
        *damaged = true;
        return 0;
    }
    uint32_t again;
    memcpy(&again, data + at + event->size - sizeof again, sizeof again);
    return again == event->size ? event->size : 0; /* otherwise it was copied while it was being written */
}

/* The number of the class with that GUID. Adds a class without a name if there is none. */
static uint32_t trace_events_class_of(struct trace_events *events, const uint8_t guid[16])
{
    for (uint64_t key = index_bytes_key(guid, 16);; key++) {
        struct index_slot *slot = index_find(events->class_numbers, key, 0);
        const uint32_t number = slot->value_plus_1 - 1;
        if (number < events->class_count) {
            if (memcmp(events->classes[number].guid, guid, 16) == 0)
                return number;
            continue; /* another GUID with the same key */
        }
        GROW(events->classes, events->class_count, events->class_room);
        struct trace_event_class *c = &events->classes[events->class_count];
        memcpy(c->guid, guid, sizeof c->guid);
        c->name = need_copy("", 0);
        index_set(events->class_numbers, slot, key, 0, (uint32_t)events->class_count);
        return (uint32_t)events->class_count++;
    }
}

/* If a GUID was registered several times, its first name counts. */
static void trace_events_add_classes(struct trace_events *events, const struct session_file *file)
{
    for (size_t i = 0; i < file->events.class_count; i++) {
        const struct trace_event_class *registered = &file->events.classes[i];
        const uint32_t number = trace_events_class_of(events, registered->guid); /* the call can move the list */
        struct trace_event_class *c = &events->classes[number];
        if (c->name[0])
            continue;
        free(c->name);
        c->name = need_copy(registered->name, strlen(registered->name));
    }
    events->registered = events->class_count;
}

static struct trace_event trace_events_event_of(const struct trace_chunk *chunk, const struct dwell_trace_event *e,
                                                uint32_t class, const uint8_t *addresses)
{
    return (struct trace_event){
        .time = e->time,
        .process = chunk->process,
        .thread = chunk->thread,
        .class = class,
        .type = e->type,
        .severity = e->severity,
        .version = e->version,
        .flags = e->flags,
        .frames = e->frames,
        .depth = e->depth,
        .kernel_time = e->kernel_time,
        .user_time = e->user_time,
        .cpu_time = e->cpu_time,
        .addresses = addresses,
        .data = addresses + (size_t)e->frames * 8,
        .data_size = e->data_size,
    };
}

static void trace_events_add_chunk(struct trace_events *events, const struct trace_chunk *chunk, const uint8_t *data)
{
    const uint32_t end = trace_chunk_end(chunk);
    bool damaged = false;
    uint32_t at = sizeof(struct dwell_chunk_header), size;
    struct dwell_trace_event e;
    for (; at < end && (size = trace_events_event_at(data, at, end, &e, &damaged)) > 0; at += size) {
        GROW(events->list, events->count, events->room);
        events->list[events->count++] =
            trace_events_event_of(chunk, &e, trace_events_class_of(events, e.guid), data + at + sizeof e);
    }
    events->damaged_chunks += damaged;
}

uint64_t trace_event_frame(const struct trace_event *event, unsigned i)
{
    uint64_t address;
    memcpy(&address, event->addresses + (size_t)i * 8, sizeof address);
    return address;
}

/* ---- all ---- */

static int trace_events_compare_chunks(const void *a, const void *b)
{
    const struct trace_chunk *x = *(const struct trace_chunk *const *)a, *y = *(const struct trace_chunk *const *)b;
    return ORDER_BY(x, y, thread, sequence, offset);
}

static const struct trace_chunk **trace_events_sorted_chunks(const struct session_file *file, size_t *count)
{
    const struct trace_chunk **chunks = need_memory(file->chunk_count, sizeof *chunks);
    *count = 0;
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_TRACE_EVENTS)
            chunks[(*count)++] = &file->chunks[i];
    if (*count)
        qsort(chunks, *count, sizeof *chunks, trace_events_compare_chunks);
    return chunks;
}

static int trace_events_compare_events(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    return ORDER_BY(x, y, time, thread, order);
}

/* Events are thread by thread. They keep their order even if the times of a damaged file run backwards. */
static void trace_events_number_events(struct trace_events *events)
{
    for (size_t i = 0; i < events->count; i++) {
        struct trace_event *e = &events->list[i];
        const bool first = i == 0 || e[-1].thread != e->thread;
        e->order = first ? 0 : e[-1].order + 1;
        if (!first && e->time < e[-1].time)
            e->time = e[-1].time;
    }
}

static void trace_events_link_threads(struct trace_events *events)
{
    struct number_index *numbers = index_new(); /* of the threads, from 0 */
    size_t *last = NULL, threads = 0, room = 0;
    for (size_t i = 0; i < events->count; i++) {
        struct index_slot *slot = index_find(numbers, events->list[i].thread, 0);
        uint32_t number = slot->value_plus_1 - 1;
        if (number >= threads) {
            number = (uint32_t)threads;
            GROW(last, threads, room);
            last[threads++] = 0;
            index_set(numbers, slot, events->list[i].thread, 0, number);
        }
        events->list[i].previous = last[number];
        last[number] = i + 1;
    }
    free(last);
    index_free(numbers);
}

struct trace_events trace_events_read(const struct session_file *file)
{
    struct trace_events events = { .class_numbers = index_new() };
    trace_events_add_classes(&events, file);
    size_t count;
    const struct trace_chunk **chunks = trace_events_sorted_chunks(file, &count);
    for (size_t i = 0; i < count; i++) {
        uint8_t *data = need_memory((size_t)chunks[i]->size + TRACE_PADDING, 1);
        if (!session_file_read_chunk(file, chunks[i], data)) {
            events.damaged_chunks++;
            free(data);
            continue;
        }
        GROW(events.chunks, events.chunk_count, events.chunk_room);
        events.chunks[events.chunk_count++] = data;
        trace_events_add_chunk(&events, chunks[i], data);
    }
    free(chunks);
    trace_events_number_events(&events);
    if (events.count)
        qsort(events.list, events.count, sizeof *events.list, trace_events_compare_events);
    trace_events_link_threads(&events);
    return events;
}

void trace_events_free(struct trace_events *events)
{
    for (size_t i = 0; i < events->class_count; i++)
        free(events->classes[i].name);
    for (size_t i = 0; i < events->chunk_count; i++)
        free(events->chunks[i]);
    free(events->classes);
    index_free(events->class_numbers);
    free(events->chunks);
    free(events->list);
    memset(events, 0, sizeof *events);
}

/* The state of following events: the consumer, and the position in the current thread. */
struct following {
    trace_event_taker *take;
    void *context;
    struct trace_events classes; /* no events */
    uint32_t thread, order;
    uint64_t last;
};

/* Returns false to stop. */
static bool trace_events_follow_chunk(struct following *f, const struct trace_chunk *chunk, const uint8_t *data)
{
    const uint32_t end = trace_chunk_end(chunk);
    bool damaged = false;
    struct dwell_trace_event e;
    if (chunk->thread != f->thread)
        f->order = 0;
    f->thread = chunk->thread;
    for (uint32_t at = sizeof(struct dwell_chunk_header), size;
         at < end && (size = trace_events_event_at(data, at, end, &e, &damaged)) > 0; at += size) {
        struct trace_event event =
            trace_events_event_of(chunk, &e, trace_events_class_of(&f->classes, e.guid), data + at + sizeof e);
        event.order = f->order++;
        if (event.order && event.time < f->last) /* in a damaged file */
            event.time = f->last;
        f->last = event.time;
        if (!f->take(f->context, &event, &f->classes.classes[event.class]))
            return false;
    }
    return true;
}

void trace_events_follow(const struct session_file *file, uint32_t thread, trace_event_taker *take, void *context)
{
    struct following f = { .take = take, .context = context, .classes = { .class_numbers = index_new() } };
    trace_events_add_classes(&f.classes, file);
    size_t count;
    const struct trace_chunk **chunks = trace_events_sorted_chunks(file, &count);
    uint8_t *buffer = NULL;
    bool more = true;
    for (size_t i = 0; i < count && more; i++) {
        if (thread && chunks[i]->thread != thread)
            continue;
        buffer = need_more(buffer, (size_t)chunks[i]->size + TRACE_PADDING, 1);
        if (session_file_read_chunk(file, chunks[i], buffer))
            more = trace_events_follow_chunk(&f, chunks[i], buffer);
    }
    free(buffer);
    free(chunks);
    trace_events_free(&f.classes);
}

uint64_t trace_events_count(const struct session_file *file)
{
    uint64_t count = 0;
    uint8_t *buffer = NULL;
    for (size_t i = 0; i < file->chunk_count; i++) {
        const struct trace_chunk *chunk = &file->chunks[i];
        if (chunk->kind != DWELL_CHUNK_TRACE_EVENTS)
            continue;
        buffer = need_more(buffer, (size_t)chunk->size + TRACE_PADDING, 1);
        if (!session_file_read_chunk(file, chunk, buffer))
            continue;
        bool damaged = false;
        struct dwell_trace_event e;
        const uint32_t end = trace_chunk_end(chunk);
        for (uint32_t at = sizeof(struct dwell_chunk_header), size; at < end; at += size, count++) {
            size = trace_events_event_at(buffer, at, end, &e, &damaged);
            if (!size)
                break;
        }
    }
    free(buffer);
    return count;
}

/* ---- GUIDs ---- */

/* The first three parts are little-endian numbers. */
static const int text_order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

static bool guid_has_dash_before(int i)
{
    return i == 4 || i == 6 || i == 8 || i == 10;
}

void guid_text(const uint8_t guid[16], char text[GUID_TEXT])
{
    for (int i = 0; i < 16; i++) {
        if (guid_has_dash_before(i))
            *text++ = '-';
        sprintf(text, "%02x", guid[text_order[i]]);
        text += 2;
    }
}

static int guid_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool guid_parse(const char *text, uint8_t guid[16])
{
    const bool braces = *text == '{';
    text += braces;
    for (int i = 0; i < 16; i++) {
        if (guid_has_dash_before(i) && *text++ != '-')
            return false;
        if (guid_digit(text[0]) < 0 || guid_digit(text[1]) < 0)
            return false;
        guid[text_order[i]] = (uint8_t)(guid_digit(text[0]) << 4 | guid_digit(text[1]));
        text += 2;
    }
    return strcmp(text, braces ? "}" : "") == 0;
}
