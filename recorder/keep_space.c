/* The free chunks of a session. Neighbours become one chunk, as others may need larger ones. */
#include "recorder/keep_space.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "offers.h"

enum { LARGEST = 1 << 20 /* bytes of a chunk that neighbours become */ };

static void space_add(struct keep_space *s, uint64_t offset, uint32_t size, bool changed)
{
    GROW(s->chunks, s->count, s->room);
    s->chunks[s->count++] = (struct keep_chunk){ offset, size, changed };
}

static bool space_read_head(const struct keep_space *s, uint64_t offset, struct dwell_chunk_header *head)
{
    return pread(s->fd, head, sizeof *head, (off_t)offset) == (ssize_t)sizeof *head &&
           head->magic == DWELL_CHUNK_MAGIC && head->size >= DWELL_UNIT && head->size % DWELL_UNIT == 0;
}

void keep_space_begin(struct keep_space *s, const struct session *session, int fd, const uint32_t *gone, size_t count)
{
    *s = (struct keep_space){ .session = session, .fd = fd };
    s->next_process = __atomic_load_n(&session->header->next_process, __ATOMIC_RELAXED);
    const uint64_t end = __atomic_load_n(&session->header->cursor, __ATOMIC_RELAXED);
    for (uint64_t offset = DWELL_UNIT; offset < end;) {
        struct dwell_chunk_header head;
        if (!space_read_head(s, offset, &head)) {
            offset += DWELL_UNIT; /* it may be written a moment later */
            continue;
        }
        if (head.kind == DWELL_CHUNK_FREE && head.process == 0)
            space_add(s, offset, head.size, false);
        else if (head.kind == DWELL_CHUNK_FREE && count &&
                 bsearch(&head.process, gone, count, sizeof *gone, compare_numbers_32))
            keep_space_free(s, offset, head.size);
        offset += head.size;
    }
}

void keep_space_free(struct keep_space *s, uint64_t offset, uint32_t size)
{
    if (offers_write_free(s->fd, offset, size, 0))
        s->freed += size;
}

void keep_space_free_chunk(struct keep_space *s, uint64_t offset)
{
    struct dwell_chunk_header head;
    if (space_read_head(s, offset, &head))
        keep_space_free(s, offset, head.size);
}

/* ---- processes ---- */

void keep_space_add_process(struct keep_space *s, uint32_t serial)
{
    if (s->process_count && s->processes[s->process_count - 1] == serial)
        return;
    GROW(s->processes, s->process_count, s->process_room);
    s->processes[s->process_count++] = serial;
}

void keep_space_sort_processes(struct keep_space *s)
{
    if (s->process_count)
        qsort(s->processes, s->process_count, sizeof *s->processes, compare_numbers_32);
}

bool keep_space_has_process(const struct keep_space *s, uint32_t serial)
{
    return serial >= s->next_process ||
           (s->process_count && bsearch(&serial, s->processes, s->process_count, sizeof serial, compare_numbers_32));
}

/* ---- offers ---- */

static int space_compare_offsets(const void *a, const void *b)
{
    const struct keep_chunk *x = a, *y = b;
    return ORDER_BY(x, y, offset);
}

static int space_compare_sizes(const void *a, const void *b)
{
    const struct keep_chunk *x = a, *y = b;
    return x->size != y->size ? ORDER(y->size, x->size) : ORDER(x->offset, y->offset);
}

/* Takes the offers back that nobody has taken. */
static void space_withdraw(struct keep_space *s)
{
    uint64_t *offers = session_more(s->session)->offers;
    for (int i = 0; i < DWELL_OFFERS; i++) {
        const uint64_t offer = __atomic_exchange_n(&offers[i], 0, __ATOMIC_ACQ_REL);
        if (offer)
            space_add(s, offer & ~(uint64_t)DWELL_OFFER_UNITS, (uint32_t)(offer & DWELL_OFFER_UNITS) * DWELL_UNIT,
                      true);
    }
}

static void space_join(struct keep_space *s)
{
    size_t kept = 0;
    qsort(s->chunks, s->count, sizeof *s->chunks, space_compare_offsets);
    for (size_t i = 0; i < s->count; i++) {
        struct keep_chunk *last = kept ? &s->chunks[kept - 1] : NULL;
        if (last && last->offset + last->size == s->chunks[i].offset && last->size + s->chunks[i].size <= LARGEST) {
            last->size += s->chunks[i].size;
            last->changed = true;
        } else {
            s->chunks[kept++] = s->chunks[i];
        }
    }
    s->count = kept;
}

uint64_t keep_space_offer(struct keep_space *s)
{
    uint64_t free_bytes = s->freed, crumbs = 0;
    space_withdraw(s);
    if (s->count) {
        space_join(s);
        qsort(s->chunks, s->count, sizeof *s->chunks, space_compare_sizes);
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct keep_chunk *chunk = &s->chunks[i];
        free_bytes += chunk->size;
        if (i < DWELL_OFFERS) {
            offers_add(s->session, s->fd, chunk->offset, chunk->size);
            continue;
        }
        crumbs += chunk->size;
        if (chunk->changed)
            offers_write_free(s->fd, chunk->offset, chunk->size, 0);
    }
    __atomic_store_n(&session_more(s->session)->free_bytes, free_bytes, __ATOMIC_RELAXED);
    return crumbs;
}

void keep_space_end(struct keep_space *s)
{
    free(s->chunks);
    free(s->processes);
}
