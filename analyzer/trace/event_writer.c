/* Writes the events of a thread into chunks: encodes times, addresses and extensions. */
#include "trace/event_writer.h"

#include <stdlib.h>

#include "base/memory.h"

enum { TIME_WORDS = 3, OPEN_SITE_WORDS = 4, MAX_LISTED = 60 };

static void event_writer_put_bytes(struct event_writer *w, const void *bytes, size_t length)
{
    if (!length) /* the bytes may be NULL */
        return;
    GROW_BY(w->bytes, w->length, length, w->room);
    memcpy(w->bytes + w->length, bytes, length);
    w->length += length;
}

static void event_writer_put_word(struct event_writer *w, uint32_t word)
{
    const uint16_t half = (uint16_t)word;
    event_writer_put_bytes(w, &half, sizeof half);
}

void event_writer_put_head(struct event_writer *w, enum dwell_extension type, unsigned words)
{
    event_writer_put_word(w, (uint32_t)type << DWELL_EXTENSION_LENGTH_BITS | words);
}

void event_writer_put_number(struct event_writer *w, uint64_t number, unsigned words)
{
    for (unsigned i = 0; i < words; i++)
        event_writer_put_word(w, (uint32_t)(number >> 16 * i) & UINT16_MAX);
}

void event_writer_put_words(struct event_writer *w, const void *words, size_t count)
{
    event_writer_put_bytes(w, words, count * sizeof(uint16_t));
}

/* ---- chunks ---- */

void event_writer_begin(struct event_writer *w, uint32_t process, uint32_t thread, uint32_t sequence, uint64_t start)
{
    static const struct dwell_chunk_header none;
    w->chunk = (struct trace_chunk){
        .kind = DWELL_CHUNK_EVENTS,
        .process = process,
        .thread = thread,
        .sequence = sequence,
        .start_time = start,
        .upper = { w->upper[0], w->upper[1] },
    };
    w->length = 0;
    w->last = start;
    w->open = true;
    event_writer_put_bytes(w, &none, sizeof none);
}

void event_writer_put_frame(struct event_writer *w, uint64_t function, uint64_t enter_time)
{
    const struct dwell_frame frame = { function, enter_time };
    event_writer_put_bytes(w, &frame, sizeof frame);
    w->chunk.depth++;
}

void event_writer_put_open_sites(struct event_writer *w, const uint64_t *sites, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t left = count - i;
        if (i % MAX_LISTED == 0)
            event_writer_put_head(w, DWELL_EXT_OPEN_SITES,
                                  (unsigned)(OPEN_SITE_WORDS * (left < MAX_LISTED ? left : MAX_LISTED)));
        event_writer_put_number(w, sites[i], OPEN_SITE_WORDS);
    }
}

static void event_writer_put_header(struct event_writer *w)
{
    struct trace_chunk *c = &w->chunk;
    c->size = c->used = (uint32_t)w->length;
    const struct dwell_chunk_header head = {
        .magic = DWELL_CHUNK_MAGIC,
        .kind = DWELL_CHUNK_EVENTS,
        .size = c->size,
        .used = c->used,
        .process = c->process,
        .thread = c->thread,
        .sequence = c->sequence,
        .depth = c->depth,
        .start_time = c->start_time,
        .upper = { c->upper[0], c->upper[1] },
        .enters = c->enters,
        .exits = c->exits,
    };
    memcpy(w->bytes, &head, sizeof head);
}

bool event_writer_end(struct event_writer *w)
{
    w->any |= w->chunk.depth || w->length > sizeof(struct dwell_chunk_header);
    if (!w->open || !w->any || w->stopped)
        return false;
    w->open = false;
    event_writer_put_header(w);
    w->stopped = !w->take(w->context, &w->chunk, w->bytes);
    return true;
}

void event_writer_free(struct event_writer *w)
{
    free(w->bytes);
    *w = (struct event_writer){ 0 };
}

/* ---- events ---- */

void event_writer_put_site(struct event_writer *w, uint64_t site, uint64_t caller)
{
    const enum dwell_extension type = site & DWELL_SITE_INLINED ? DWELL_EXT_SITE_INLINED : DWELL_EXT_SITE;
    const uint64_t address = site & ~DWELL_SITE_INLINED, distance = address - caller;
    if (!site)
        return;
    if (caller && distance <= UINT16_MAX) {
        event_writer_put_head(w, type, 1);
        event_writer_put_number(w, distance, 1);
    } else if (caller && (int64_t)distance == (int32_t)distance) {
        event_writer_put_head(w, type, 2);
        event_writer_put_number(w, distance, 2);
    } else {
        event_writer_put_head(w, type, 3);
        event_writer_put_number(w, address, 3);
    }
}

static uint64_t event_writer_put_time(struct event_writer *w, uint64_t time)
{
    if (time < w->last)
        time = w->last;
    if (time - w->last > DWELL_TIME_MASK) {
        event_writer_put_head(w, DWELL_EXT_TIME, TIME_WORDS);
        event_writer_put_number(w, time, TIME_WORDS);
    }
    w->last = time;
    return time;
}

/* Which of the two upper halves the function has. */
static unsigned event_writer_put_upper(struct event_writer *w, uint64_t function)
{
    const uint32_t upper = (uint32_t)(function >> 32);
    if (upper == w->upper[0] || upper == w->upper[1])
        return upper != w->upper[0];
    const unsigned half = w->next_upper;
    event_writer_put_head(w, DWELL_EXT_UPPER, 3);
    event_writer_put_number(w, half, 1);
    event_writer_put_number(w, upper, 2);
    w->upper[half] = upper;
    w->next_upper = !half;
    return half;
}

static void event_writer_put_timed(struct event_writer *w, uint32_t kind, uint64_t time)
{
    event_writer_put_word(w, kind << DWELL_WORD_KIND_SHIFT | ((uint32_t)time & DWELL_TIME_MASK));
}

void event_writer_enter(struct event_writer *w, uint64_t time, uint64_t function)
{
    time = event_writer_put_time(w, time);
    const unsigned half = event_writer_put_upper(w, function);
    event_writer_put_timed(w, DWELL_WORD_ENTER_0 + half, time);
    event_writer_put_number(w, function, 2);
    w->chunk.enters++;
}

void event_writer_exit(struct event_writer *w, uint64_t time)
{
    time = event_writer_put_time(w, time);
    event_writer_put_timed(w, DWELL_WORD_EXIT, time);
    w->chunk.exits++;
}

void event_writer_control(struct event_writer *w, uint64_t time, unsigned type, unsigned words)
{
    if (time < w->last)
        time = w->last;
    event_writer_put_head(w, (enum dwell_extension)type, TIME_WORDS + words);
    event_writer_put_number(w, time, TIME_WORDS);
    w->last = time;
}
