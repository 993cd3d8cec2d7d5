#include "trace/unfinished.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/decode.h"

enum { EXIT_BYTES = 2, ENTER_BYTES = 6, PAUSE_WORDS = 3, PAUSE_BYTES = 2 + 2 * PAUSE_WORDS };

void stand_free(struct stand *s)
{
    free(s->frames);
    *s = (struct stand){ 0 };
}

static void stand_push_frame(struct stand *s, struct dwell_frame frame)
{
    size_t count = s->depth;
    GROW(s->frames, count, s->room);
    s->frames[s->depth++] = frame;
}

static void stand_pop_frames(struct stand *s, uint64_t count)
{
    s->depth -= count < s->depth ? (uint32_t)count : s->depth;
}

void stand_begin(struct stand *s, const struct trace_chunk *chunk, const uint8_t *bytes)
{
    s->time = chunk->start_time;
    s->upper[0] = chunk->upper[0];
    s->upper[1] = chunk->upper[1];
    s->depth = 0;
    s->paused = false;
    for (uint32_t i = 0; i < chunk->depth; i++)
        stand_push_frame(s, decode_frame(bytes, i));
}

static bool unfinished_is_control(uint32_t type)
{
    return type == DWELL_EXT_MARK || type == DWELL_EXT_PAUSE || type == DWELL_EXT_RESUME || type == DWELL_EXT_SWITCH;
}

uint32_t unfinished_length(const uint8_t *records, uint32_t size, bool quiet, uint32_t *stop)
{
    uint32_t at = 0, whole = 0, before = 0; /* `before`: without the last event, if that is a control event */
    while (at + 2 <= size) {
        const uint32_t word = decode_word(records + at), kind = word >> DWELL_WORD_KIND_SHIFT;
        const bool extension = kind == DWELL_WORD_EXTENSION;
        uint32_t lower = 1, length = kind == DWELL_WORD_EXIT ? EXIT_BYTES : ENTER_BYTES;
        if (extension)
            length = 2 + 2 * (word & ((1u << DWELL_EXTENSION_LENGTH_BITS) - 1));
        if (word == 0 || at + length > size)
            break;
        if (!extension && length == ENTER_BYTES)
            memcpy(&lower, records + at + 2, sizeof lower);
        if (lower == 0)
            break;
        at += length;
        if (extension && !unfinished_is_control(word >> DWELL_EXTENSION_LENGTH_BITS))
            continue; /* belongs to the event behind it */
        before = extension ? whole : at;
        whole = at;
    }
    *stop = at;
    const bool followed = at > whole || (at + 2 <= size && decode_word(records + at) != 0);
    return quiet || followed ? whole : before;
}

/* ---- the calls ---- */

static void stand_reopen_frames(struct stand *s, const struct decoder *d)
{
    struct dwell_frame frame;
    for (const uint8_t *at = d->run; (at = decode_opened(d, at, &frame));)
        stand_push_frame(s, frame);
}

static void stand_apply_control(struct stand *s, const struct decoder *d, uint64_t last)
{
    switch (d->control_type) {
    case DWELL_EXT_PAUSE:
        s->paused = true;
        break;
    case DWELL_EXT_RESUME:
        if (!s->paused)
            break;
        stand_pop_frames(s, decode_number(d->control, 2));
        for (uint32_t i = 0; i < s->depth; i++)
            s->frames[i].enter_time += d->time - last;
        stand_reopen_frames(s, d);
        s->paused = false;
        break;
    case DWELL_EXT_SWITCH:
        s->depth = 0;
        stand_reopen_frames(s, d);
        break;
    default:
        break;
    }
}

bool stand_follow(struct stand *s, const uint8_t *records, uint32_t size)
{
    struct decoder d = {
        .at = records,
        .end = records + size,
        .limit = records + size,
        .time = s->time,
        .upper = { (uint64_t)s->upper[0] << 32, (uint64_t)s->upper[1] << 32 },
    };
    enum decoded event;
    for (uint64_t last = d.time; (event = decode_next(&d)) != DECODED_END; last = d.time) {
        if (d.has_extras) {
            stand_pop_frames(s, d.extras.unwound);
            memset(&d.extras, 0, sizeof d.extras);
            d.has_extras = false;
        }
        if (event == DECODED_CONTROL)
            stand_apply_control(s, &d, last);
        else if (event == DECODED_ENTER)
            stand_push_frame(s, (struct dwell_frame){ d.function, d.time });
        else
            stand_pop_frames(s, 1);
    }
    s->time = d.time;
    s->upper[0] = (uint32_t)(d.upper[0] >> 32);
    s->upper[1] = (uint32_t)(d.upper[1] >> 32);
    return !d.damaged;
}

/* ---- parts ---- */

/* The thread pauses anew at its last event, which takes no time. */
static void unfinished_put_pause(uint8_t *at, uint64_t time)
{
    uint16_t words[1 + PAUSE_WORDS] = { DWELL_EXT_PAUSE << DWELL_EXTENSION_LENGTH_BITS | PAUSE_WORDS };
    for (int i = 0; i < PAUSE_WORDS; i++)
        words[1 + i] = (uint16_t)(time >> 16 * i);
    memcpy(at, words, sizeof words);
}

uint8_t *unfinished_part(const struct stand *s, const uint8_t *records, uint32_t size, struct trace_chunk *chunk)
{
    const size_t frames = s->depth * sizeof *s->frames, pause = s->paused ? PAUSE_BYTES : 0;
    const struct dwell_chunk_header head = {
        .magic = DWELL_CHUNK_MAGIC,
        .kind = chunk->kind,
        .thread = chunk->thread,
        .sequence = chunk->sequence,
        .depth = s->depth,
    };
    chunk->size = chunk->used = (uint32_t)(sizeof head + frames + pause + size);
    chunk->depth = s->depth;
    chunk->start_time = s->time;
    chunk->upper[0] = s->upper[0];
    chunk->upper[1] = s->upper[1];
    chunk->enters = chunk->exits = DWELL_NOT_COUNTED;
    uint8_t *bytes = need_memory(chunk->size + TRACE_PADDING, 1);
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, s->frames ? (const void *)s->frames : "", frames);
    if (pause)
        unfinished_put_pause(bytes + sizeof head + frames, s->time);
    memcpy(bytes + sizeof head + frames + pause, records, size);
    chunk->bytes = bytes;
    return bytes;
}
