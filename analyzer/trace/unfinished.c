/* Chunks that are still written to: finds the complete records, and makes a chunk of them. */
#include "trace/unfinished.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/decode.h"

enum { EXIT_BYTES = 2, ENTER_BYTES = 6 };

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
        if (extension && !decode_is_control(word >> DWELL_EXTENSION_LENGTH_BITS))
            continue; /* an extension belongs to the event after it */
        before = extension ? whole : at;
        whole = at;
    }
    *stop = at;
    const bool followed = at > whole || (at + 2 <= size && decode_word(records + at) != 0);
    return quiet || followed ? whole : before;
}

uint8_t *unfinished_part(const struct open_stack *s, const uint8_t *records, uint32_t size, struct trace_chunk *chunk)
{
    const size_t frames = s->depth * sizeof *s->frames;
    const struct dwell_chunk_header head = {
        .magic = DWELL_CHUNK_MAGIC,
        .kind = chunk->kind,
        .thread = chunk->thread,
        .sequence = chunk->sequence,
        .depth = s->depth,
    };
    chunk->size = chunk->used = (uint32_t)(sizeof head + frames + size);
    chunk->depth = s->depth;
    chunk->start_time = s->state.last;
    chunk->begins_paused = s->state.paused;
    chunk->upper[0] = s->upper[0];
    chunk->upper[1] = s->upper[1];
    chunk->enters = chunk->exits = DWELL_NOT_COUNTED;
    uint8_t *bytes = need_memory(chunk->size + TRACE_PADDING, 1);
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, s->frames ? (const void *)s->frames : "", frames);
    memcpy(bytes + sizeof head + frames, records, size);
    chunk->bytes = bytes;
    return bytes;
}
