/* Copies a finished session chunk by chunk, in a random order that recorders could have produced. */
#include "support/grower.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/session_file.h"

/* Offsets, from docs/format.md. */
enum { HEADER = 64, SEALED = 6, USED = 12, START_MONOTONIC = 48, STATE = 112, RECORDER = 136, SEAL = 4072 };

struct growing {
    uint64_t offset;
    uint32_t size, end;       /* of the chunk, and of its written part in the end */
    uint32_t at;              /* written so far; zero if it has not begun */
    bool is_events, in_parts; /* in_parts: a record is partly written */
    uint32_t thread, sequence;
    bool done;
};

struct grower {
    uint8_t *bytes;
    uint64_t size;
    int fd;
    struct growing *chunks;
    size_t count;
    uint64_t random;
};

static uint32_t grower_random(struct grower *g, uint32_t limit)
{
    g->random = g->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(g->random >> 33) % limit;
}

static void grower_put(struct grower *g, uint64_t offset, const void *bytes, size_t size)
{
    cr_assert(eq(long, pwrite(g->fd, bytes, size, (off_t)offset), (long)size));
}

static uint32_t grower_word_at(const struct grower *g, uint64_t offset)
{
    return (uint32_t)g->bytes[offset] | (uint32_t)g->bytes[offset + 1] << 8;
}

/* Returns the end of the record that begins at `at`. */
static uint32_t grower_next_record(const struct grower *g, const struct growing *c, uint32_t at)
{
    const uint32_t word = grower_word_at(g, c->offset + at);
    const uint32_t length = word == 0 ? 2 : word >> 14 == 3 ? 2 : word >> 14 == 0 ? 2 + 2 * (word & 255) : 6;
    return at + length < c->end ? at + length : c->end;
}

/* Writes the header without `used` and `sealed` first, then some records a step. */
static void grower_write_on(struct grower *g, struct growing *c, bool rest)
{
    if (!c->at) {
        uint8_t head[HEADER];
        memcpy(head, g->bytes + c->offset, HEADER);
        if (c->is_events) {
            memset(head + USED, 0, 4);
            memset(head + SEALED, 0, 2);
        }
        const uint32_t depth = *(const uint32_t *)(const void *)(head + 28);
        c->at = c->is_events ? HEADER + depth * 16 : c->end;
        grower_put(g, c->offset + HEADER, g->bytes + c->offset + HEADER, c->at - HEADER);
        grower_put(g, c->offset, head, HEADER);
    } else if (rest || c->at >= c->end) {
        grower_put(g, c->offset + c->at, g->bytes + c->offset + c->at, c->end > c->at ? c->end - c->at : 0);
        grower_put(g, c->offset, g->bytes + c->offset, HEADER);
        c->in_parts = false;
        c->done = true;
    } else {
        const uint32_t from = c->at;
        for (uint32_t records = 1 + grower_random(g, 40 + c->end / 400); records > 0 && c->at < c->end; records--)
            c->at = grower_next_record(g, c, c->at);
        uint32_t part = c->at;
        c->in_parts = grower_random(g, 3) == 0 && c->at < c->end;
        if (c->in_parts) { /* some words of a record */
            const uint32_t next = grower_next_record(g, c, c->at), length = next - c->at;
            part += grower_word_at(g, c->offset + c->at) >> 14 == 0 ? 2 * grower_random(g, length / 2) : 2;
        }
        grower_put(g, c->offset + from, g->bytes + c->offset + from, part - from);
    }
    c->done |= !c->is_events;
}

/* A thread's chunks are written one after the other. */
static bool grower_may_begin(const struct grower *g, const struct growing *c)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct growing *o = &g->chunks[i];
        if (o->is_events && !o->done && o->thread == c->thread && o->sequence < c->sequence)
            return false;
    }
    return true;
}

bool grower_is_in_parts(const struct grower *g)
{
    bool any = false;
    for (size_t i = 0; i < g->count; i++)
        any |= g->chunks[i].in_parts;
    return any;
}

bool grower_step(struct grower *g, bool rest)
{
    size_t left = 0;
    do {
        left = 0;
        for (size_t i = 0; i < g->count; i++) {
            struct growing *c = &g->chunks[i];
            if (!c->done && grower_may_begin(g, c) && (rest || c->in_parts || grower_random(g, 2)))
                grower_write_on(g, c, rest);
            left += !c->done;
        }
    } while (rest && left);
    if (left == 0)
        grower_put(g, 0, g->bytes, 4096);
    return left > 0;
}

static void grower_begin_file(struct grower *g)
{
    uint8_t header[4096];
    memcpy(header, g->bytes, sizeof header);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t monotonic = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    const uint32_t recorder = (uint32_t)getpid(); /* a live process, so that the session counts as live */
    header[STATE] = 1;
    memset(header + SEAL, 0, sizeof header - SEAL);
    memcpy(header + START_MONOTONIC, &monotonic, sizeof monotonic);
    memcpy(header + RECORDER, &recorder, sizeof recorder);
    cr_assert(eq(int, ftruncate(g->fd, (off_t)g->size), 0));
    grower_put(g, 0, header, sizeof header);
}

struct grower *grower_new(const char *from, const char *to, uint64_t seed)
{
    const char *error;
    struct session_file *file = session_file_open(from, &error);
    cr_assert(file != NULL, "%s", error);
    struct grower *g = calloc(1, sizeof *g);
    g->random = seed;
    g->size = file->size;
    g->bytes = malloc(g->size);
    cr_assert(eq(long, pread(file->fd, g->bytes, g->size, 0), (long)g->size));
    g->fd = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    grower_begin_file(g);
    g->chunks = calloc(file->chunk_count, sizeof *g->chunks);
    for (size_t i = 0; i < file->chunk_count; i++) {
        const struct trace_chunk *c = &file->chunks[i];
        const bool is_events = c->kind == DWELL_CHUNK_EVENTS;
        uint32_t end = c->used ? c->used : c->size;
        while (is_events && !c->used && end > HEADER && g->bytes[c->offset + end - 1] == 0)
            end--;
        g->chunks[g->count++] = (struct growing){
            .offset = c->offset,
            .size = c->size,
            .end = end,
            .is_events = is_events,
            .thread = c->thread,
            .sequence = c->sequence,
        };
    }
    for (size_t i = 0; i < g->count; i++) /* metadata comes before any event */
        if (!g->chunks[i].is_events)
            grower_write_on(g, &g->chunks[i], true);
    session_file_close(file);
    return g;
}

void grower_free(struct grower *g)
{
    close(g->fd);
    free(g->chunks);
    free(g->bytes);
    free(g);
}
