/*
 * Counts the events of a session and finds the functions that they enter. The beginning of an event depends on the kind
 * of the previous one, which the CPU cannot predict. A plain loop spends most of its time on mispredicted branches. So
 * each worker follows four chunks side by side, without a branch on the kind of event. Exits, and enters of recently
 * seen functions, are usual. All other events take a slow path.
 */
#include "trace/scan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/progress.h"
#include "trace/counted_calls.h"
#include "trace/decode.h"

enum { STREAMS = 4, FEW_RECENT = 1 << 12, MOST_RECENT = 1 << 18 };

struct scan_stream {
    const uint8_t *at, *end;
    uint64_t upper[2];
    struct chunk_buffer buffer;
};

struct scanner {
    const struct session_file *file;
    size_t *next_chunk; /* shared by the workers */
    struct scan found;
    size_t room;
    struct number_index *seen; /* (address, process) */
    uint32_t process;          /* of the streams' chunks */
    uint64_t *recent;          /* functions of the process that were seen recently, by scan_recent_place */
    size_t recent_room;        /* a power of two; with four places a function, few share one */
    struct scan_stream streams[STREAMS];
    pthread_t thread;
};

static inline size_t scan_recent_place(const struct scanner *s, uint64_t address)
{
    return (address >> 4 ^ address >> 16) & (s->recent_room - 1);
}

/* Every place gets an address that belongs to another place. */
static void scan_forget_recent(struct scanner *s)
{
    memset(s->recent, 0, s->recent_room * sizeof *s->recent);
    s->recent[0] = 1 << 4;
}

static void scan_make_recent(struct scanner *s, size_t room)
{
    free(s->recent);
    s->recent = need_memory(room, sizeof *s->recent);
    s->recent_room = room;
    scan_forget_recent(s);
}

static void scan_remember(struct scanner *s, uint32_t process, uint64_t address)
{
    struct index_slot *slot = index_find(s->seen, address, process);
    if (slot->value_plus_1)
        return;
    GROW(s->found.functions, s->found.function_count, s->room);
    s->found.functions[s->found.function_count] = (struct scan_function){ process, address };
    index_set(s->seen, slot, address, process, (uint32_t)s->found.function_count++);
    if (s->found.function_count > s->recent_room / 4 && s->recent_room < MOST_RECENT)
        scan_make_recent(s, 4 * s->recent_room);
}

/* ---- streams ---- */

static bool scan_fill_stream(struct scan_stream *stream, const struct session_file *file,
                             const struct trace_chunk *chunk)
{
    const bool good = decode_has_frames(chunk) && session_file_fill_buffer(file, chunk, &stream->buffer);
    stream->at = stream->end = stream->buffer.bytes;
    return good;
}

static void scan_open_stream(struct scanner *s, struct scan_stream *stream, const struct trace_chunk *chunk)
{
    if (!scan_fill_stream(stream, s->file, chunk))
        return;
    for (uint32_t i = 0; i < chunk->depth; i++)
        scan_remember(s, s->process, decode_frame(stream->buffer.bytes, i).function);
    struct decoder d;
    decode_begin(&d, chunk, stream->buffer.bytes);
    stream->at = d.at;
    stream->end = d.end;
    stream->upper[0] = d.upper[0];
    stream->upper[1] = d.upper[1];
}

/* One event, decoded with its extensions. */
static void scan_step_event(struct scanner *s, struct scan_stream *stream)
{
    struct decoder d = {
        .at = stream->at, .end = stream->end, .limit = stream->end, .upper = { stream->upper[0], stream->upper[1] }
    };
    enum decoded event = decode_next(&d);
    s->found.enters += event == DECODED_ENTER;
    s->found.exits += event == DECODED_EXIT;
    if (event == DECODED_ENTER) {
        scan_remember(s, s->process, d.function);
        s->recent[scan_recent_place(s, d.function)] = d.function;
    }
    if (event == DECODED_CONTROL) {
        struct dwell_frame frame;
        for (const uint8_t *at = d.run; (at = decode_opened(&d, at, &frame));)
            scan_remember(s, s->process, frame.function);
    }
    stream->at = event == DECODED_END ? stream->end : d.at;
    stream->upper[0] = d.upper[0];
    stream->upper[1] = d.upper[1];
}

/* Steps over a usual event. At any other event, it stays and sets `bit` of *unusual. */
static inline const uint8_t *scan_follow_event(const struct scanner *s, const uint8_t *at, const uint64_t *upper,
                                               unsigned bit, unsigned *unusual, uint64_t *enters)
{
    const uint32_t kind = decode_word(at) >> DWELL_WORD_KIND_SHIFT;
    const unsigned enter = kind != DWELL_WORD_EXIT;
    uint32_t lower;
    memcpy(&lower, at + 2, sizeof lower);
    const uint64_t address = upper[(kind - 1) & 1] | lower;
    const unsigned other =
        enter & ((kind == DWELL_WORD_EXTENSION) | (s->recent[scan_recent_place(s, address)] != address));
    *unusual |= other * bit;
    *enters += enter & ~other;
    return at + (other ? 0 : 2 + 4 * enter);
}

/* Follows `rounds` events of each stream. Each stream must have that many. */
static void scan_follow_streams(struct scanner *s, size_t rounds)
{
    struct scan_stream *const st = s->streams;
    uint64_t enters = 0, events = 0;
    for (size_t round = 0; round < rounds;) {
        const uint8_t *a = st[0].at, *b = st[1].at, *c = st[2].at, *d = st[3].at;
        unsigned unusual = 0;
        for (; round < rounds && !unusual; round++, events += STREAMS) {
            a = scan_follow_event(s, a, st[0].upper, 1, &unusual, &enters);
            b = scan_follow_event(s, b, st[1].upper, 2, &unusual, &enters);
            c = scan_follow_event(s, c, st[2].upper, 4, &unusual, &enters);
            d = scan_follow_event(s, d, st[3].upper, 8, &unusual, &enters);
        }
        st[0].at = a;
        st[1].at = b;
        st[2].at = c;
        st[3].at = d;
        for (int i = 0; i < STREAMS; i++) {
            if (unusual & 1u << i) {
                events--;
                scan_step_event(s, &st[i]);
                rounds = round; /* extensions can be long, so the rounds are counted again */
            }
        }
    }
    s->found.enters += enters;
    s->found.exits += events - enters;
}

static size_t scan_events_left(const struct scanner *s)
{
    size_t least = SIZE_MAX;
    for (int i = 0; i < STREAMS; i++) {
        size_t left = (size_t)(s->streams[i].end - s->streams[i].at + 5) / 6;
        if (left < least)
            least = left;
    }
    return least;
}

/* ---- workers ---- */

static const struct trace_chunk *scan_next_chunk(struct scanner *s)
{
    for (;;) {
        size_t i = __atomic_fetch_add(s->next_chunk, 1, __ATOMIC_RELAXED);
        if (i >= s->file->chunk_count)
            return NULL;
        progress_add(1);
        if (s->file->chunks[i].kind == DWELL_CHUNK_EVENTS)
            return &s->file->chunks[i];
    }
}

/* Replaces streams that have ended by the next chunks of the process. Returns false if there are not enough. */
static bool scan_refill_streams(struct scanner *s, const struct trace_chunk **chunk)
{
    for (int i = 0; i < STREAMS; i++) {
        while (s->streams[i].at >= s->streams[i].end) {
            if (!*chunk || (*chunk)->process != s->process)
                return false;
            scan_open_stream(s, &s->streams[i], *chunk);
            *chunk = scan_next_chunk(s);
        }
    }
    return true;
}

static void *scan_work_chunks(void *argument)
{
    struct scanner *s = argument;
    const struct trace_chunk *chunk = scan_next_chunk(s);
    while (chunk) {
        s->process = chunk->process;
        scan_forget_recent(s);
        while (scan_refill_streams(s, &chunk))
            scan_follow_streams(s, scan_events_left(s));
        for (int i = 0; i < STREAMS; i++)
            while (s->streams[i].at < s->streams[i].end)
                scan_step_event(s, &s->streams[i]);
    }
    return NULL;
}

static void scan_add_found(struct scanner *into, const struct scanner *from)
{
    into->found.enters += from->found.enters;
    into->found.exits += from->found.exits;
    for (size_t i = 0; i < from->found.function_count; i++)
        scan_remember(into, from->found.functions[i].process, from->found.functions[i].address);
}

static void scan_end_scanner(struct scanner *s)
{
    index_free(s->seen);
    free(s->recent);
    for (int i = 0; i < STREAMS; i++)
        free(s->streams[i].buffer.bytes);
}

/* Adds the functions whose calls were only counted. */
static void scan_find_counted(struct scanner *s)
{
    for (size_t i = 0; i < s->file->chunk_count; i++) {
        struct dwell_count *list;
        if (s->file->chunks[i].kind != DWELL_CHUNK_COUNTS)
            continue;
        const size_t count = counts_read(s->file, &s->file->chunks[i], &list);
        for (size_t j = 0; j < count; j++)
            if (list[j].calls)
                scan_remember(s, s->file->chunks[i].process, list[j].function);
        free(list);
    }
}

struct scan scan_session(const struct session_file *file, unsigned jobs)
{
    size_t next_chunk = 0;
    struct scanner *scanners = need_memory(jobs, sizeof *scanners);
    for (unsigned i = 0; i < jobs; i++) {
        scanners[i].file = file;
        scanners[i].next_chunk = &next_chunk;
        scanners[i].seen = index_new();
        scan_make_recent(&scanners[i], FEW_RECENT);
    }
    progress_begin("looking through", file->path, file->chunk_count);
    bool *started = need_memory(jobs, sizeof *started);
    for (unsigned i = 1; i < jobs; i++)
        started[i] = pthread_create(&scanners[i].thread, NULL, scan_work_chunks, &scanners[i]) == 0;
    scan_work_chunks(&scanners[0]);
    for (unsigned i = 1; i < jobs; i++) {
        if (started[i])
            pthread_join(scanners[i].thread, NULL);
        scan_add_found(&scanners[0], &scanners[i]);
        free(scanners[i].found.functions);
        scan_end_scanner(&scanners[i]);
    }
    scan_find_counted(&scanners[0]);
    progress_end();
    struct scan scan = scanners[0].found;
    scan_end_scanner(&scanners[0]);
    free(started);
    free(scanners);
    return scan;
}

/* Adds the calls of a call tree chunk. It has no exits; as many as calls are assumed. */
static void scan_count_tree(struct scan *scan, const struct session_file *file, const struct trace_chunk *chunk,
                            struct scan_stream *stream)
{
    if (!scan_fill_stream(stream, file, chunk))
        return;
    uint32_t at = sizeof(struct dwell_chunk_header) + (chunk->sequence == 0 ? sizeof(struct dwell_tree_head) : 0);
    struct dwell_tree_node node;
    for (; at + sizeof node <= chunk->size; at += sizeof node) {
        memcpy(&node, stream->buffer.bytes + at, sizeof node);
        if (!node.function)
            return;
        scan->enters += node.calls;
        scan->exits += node.calls;
    }
}

static uint64_t scan_count_counted(const struct session_file *file, const struct trace_chunk *chunk)
{
    struct dwell_count *list;
    const size_t count = counts_read(file, chunk, &list);
    uint64_t calls = 0;
    for (size_t i = 0; i < count; i++)
        calls += list[i].calls;
    free(list);
    return calls;
}

struct scan scan_counts(const struct session_file *file)
{
    struct scan scan = { 0 };
    struct scan_stream stream = { 0 };
    progress_begin("counting", file->path, file->chunk_count);
    for (size_t i = 0; i < file->chunk_count; i++, progress_add(1)) {
        const struct trace_chunk *chunk = &file->chunks[i];
        if (chunk->kind == DWELL_CHUNK_COUNTS)
            scan.counted += scan_count_counted(file, chunk);
        if (chunk->kind == DWELL_CHUNK_CALL_TREE)
            scan_count_tree(&scan, file, chunk, &stream);
        if (chunk->kind != DWELL_CHUNK_EVENTS)
            continue;
        if (chunk->used && chunk->enters != DWELL_NOT_COUNTED) {
            scan.enters += chunk->enters;
            scan.exits += chunk->exits;
        } else if (scan_fill_stream(&stream, file, chunk)) {
            struct decoder d;
            decode_begin(&d, chunk, stream.buffer.bytes);
            for (enum decoded event; (event = decode_next(&d)) != DECODED_END;) {
                scan.enters += event == DECODED_ENTER;
                scan.exits += event == DECODED_EXIT;
            }
        }
    }
    free(stream.buffer.bytes);
    progress_end();
    return scan;
}

void scan_free(struct scan *scan)
{
    free(scan->functions);
}
