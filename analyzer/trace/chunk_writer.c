/* Fills a chunk in memory, and writes it with as many units as it needs. */
#include "trace/chunk_writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

enum { FIRST_ROOM = 4096 };

static void chunk_writer_end_chunk(struct chunk_writer *w)
{
    if (w->used > sizeof w->head && !w->failed) {
        const uint32_t size = (w->used + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
        const uint64_t offset = session_claim(w->session, w->fd, size);
        w->head.magic = DWELL_CHUNK_MAGIC;
        w->head.size = size;
        w->head.used = w->used;
        memcpy(w->chunk, &w->head, sizeof w->head);
        w->failed = offset == 0 || pwrite(w->fd, w->chunk, w->used, (off_t)offset) != (ssize_t)w->used;
        w->head.sequence++;
    }
    w->used = sizeof w->head;
}

struct chunk_writer chunk_writer_begin(const struct session *session, int fd, enum dwell_chunk_kind kind,
                                       uint32_t process, uint32_t size)
{
    struct chunk_writer w = { .session = session, .fd = fd, .size = size };
    w.head.kind = (uint16_t)kind;
    w.head.process = process;
    w.used = sizeof w.head;
    return w;
}

bool chunk_writer_end(struct chunk_writer *w)
{
    chunk_writer_end_chunk(w);
    free(w->chunk);
    return !w->failed;
}

static void chunk_writer_make_room(struct chunk_writer *w, size_t size)
{
    if (w->used + size <= w->room)
        return;
    w->room = w->room ? 2 * w->room : FIRST_ROOM;
    w->room = w->room < w->used + size ? w->used + size : w->room;
    w->chunk = need_more(w->chunk, w->room, 1);
}

void chunk_writer_add(struct chunk_writer *w, const void *data, size_t size)
{
    if (w->used + size > w->size)
        chunk_writer_end_chunk(w);
    chunk_writer_make_room(w, size);
    memcpy(w->chunk + w->used, data, size);
    w->used += (uint32_t)size;
}

struct chunk_text chunk_text_of(const char *text)
{
    return (struct chunk_text){ text ? text : "", text ? strlen(text) : 0 };
}

static size_t chunk_put_text(uint8_t *at, const struct chunk_text *text)
{
    const uint16_t length = (uint16_t)(text->length < CHUNK_LONGEST_TEXT ? text->length : CHUNK_LONGEST_TEXT);
    memcpy(at, &length, sizeof length);
    memcpy(at + sizeof length, text->at, length);
    return sizeof length + length;
}

void chunk_writer_add_record(struct chunk_writer *w, const void *fixed, size_t size, const struct chunk_text *texts,
                             size_t count)
{
    size_t total = size;
    for (size_t i = 0; i < count; i++)
        total += sizeof(uint16_t) + (texts[i].length < CHUNK_LONGEST_TEXT ? texts[i].length : CHUNK_LONGEST_TEXT);
    total = (total + 7) & ~(size_t)7;
    uint8_t *bytes = need_memory(1, total);
    memcpy(bytes, fixed, size);
    size_t at = size;
    for (size_t i = 0; i < count; i++)
        at += chunk_put_text(bytes + at, &texts[i]);
    ((struct dwell_record *)bytes)->size = (uint32_t)total;
    chunk_writer_add(w, bytes, total);
    free(bytes);
}
