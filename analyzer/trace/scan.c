#include "trace/scan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "trace/decode.h"

enum { RECENT = 4096 };

struct scanner {
    const struct session_file *file;
    size_t *next_chunk; /* shared */
    struct scan found;
    size_t room;
    struct table_index *seen; /* (address, process) */
    uint32_t process;         /* of the chunk at hand */
    uint64_t recent[RECENT];  /* functions of it seen lately: most enters need no look into the table */
    uint8_t *buffer;
    size_t buffer_size;
    pthread_t thread;
};

static void remember(struct scanner *s, uint32_t process, uint64_t address)
{
    struct table_slot *slot = table_find(s->seen, address, process);
    if (slot->value_plus_1)
        return;
    GROW(s->found.functions, s->found.function_count, s->room);
    s->found.functions[s->found.function_count] = (struct scan_function){ process, address };
    table_set(s->seen, slot, address, process, (uint32_t)s->found.function_count++);
}

static inline void note(struct scanner *s, uint64_t address)
{
    uint64_t *recent = &s->recent[(address >> 4 ^ address >> 16) % RECENT];
    if (__builtin_expect(*recent == address, 1))
        return;
    *recent = address;
    remember(s, s->process, address);
}

static void scan_events(struct scanner *s, const struct trace_chunk *chunk)
{
    struct decoder d;
    uint64_t enters = 0, exits = 0;
    decode_begin(&d, chunk, s->buffer);
    for (enum decoded event; (event = decode_next(&d)) != DECODED_END;) {
        if (event == DECODED_ENTER) {
            note(s, d.function);
            enters++;
        } else {
            exits++;
        }
    }
    s->found.enters += enters;
    s->found.exits += exits;
}

static void scan_chunk(struct scanner *s, const struct trace_chunk *chunk)
{
    size_t needed = (size_t)chunk->size + TRACE_PADDING;
    if (needed > s->buffer_size) {
        s->buffer = need_more(s->buffer, needed, 1);
        s->buffer_size = needed;
    }
    if (!decode_has_frames(chunk) || !session_file_read_chunk(s->file, chunk, s->buffer))
        return;
    if (s->process != chunk->process)
        memset(s->recent, 0xff, sizeof s->recent);
    s->process = chunk->process;
    for (uint32_t i = 0; i < chunk->depth; i++)
        note(s, decode_frame(s->buffer, i).function);
    scan_events(s, chunk);
}

static void *work(void *argument)
{
    struct scanner *s = argument;
    for (;;) {
        size_t i = __atomic_fetch_add(s->next_chunk, 1, __ATOMIC_RELAXED);
        if (i >= s->file->chunk_count)
            return NULL;
        if (s->file->chunks[i].kind == DWELL_CHUNK_EVENTS)
            scan_chunk(s, &s->file->chunks[i]);
    }
}

static void add(struct scanner *into, const struct scanner *from)
{
    into->found.enters += from->found.enters;
    into->found.exits += from->found.exits;
    for (size_t i = 0; i < from->found.function_count; i++)
        remember(into, from->found.functions[i].process, from->found.functions[i].address);
}

static void end_scanner(struct scanner *s)
{
    table_free(s->seen);
    free(s->buffer);
}

struct scan scan_session(const struct session_file *file, unsigned jobs)
{
    size_t next_chunk = 0;
    struct scanner *scanners = need_memory(jobs, sizeof *scanners);
    for (unsigned i = 0; i < jobs; i++) {
        scanners[i].file = file;
        scanners[i].next_chunk = &next_chunk;
        scanners[i].seen = table_new();
    }
    bool *started = need_memory(jobs, sizeof *started);
    for (unsigned i = 1; i < jobs; i++)
        started[i] = pthread_create(&scanners[i].thread, NULL, work, &scanners[i]) == 0;
    work(&scanners[0]);
    for (unsigned i = 1; i < jobs; i++) {
        if (started[i])
            pthread_join(scanners[i].thread, NULL);
        add(&scanners[0], &scanners[i]);
        free(scanners[i].found.functions);
        end_scanner(&scanners[i]);
    }
    struct scan scan = scanners[0].found;
    end_scanner(&scanners[0]);
    free(started);
    free(scanners);
    return scan;
}

void scan_free(struct scan *scan)
{
    free(scan->functions);
}
