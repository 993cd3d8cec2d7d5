/*
 * Chunks of the session file: taken ready from the pool that the helper thread fills, else asked for,
 * else prepared by the thread that needs one; and given up when they are full.
 */
#include <string.h>

#include "runtime.h"
#include "sys.h"

enum {
    PREPARED_SIZE = 256 << 10,
    LEAST_REST = 16 << 10, /* smaller rests are not worth a chunk of their own */
};

static uint32_t area_size(const char *at)
{
    return ((const struct dwell_chunk_header *)at)->size;
}

static void write_free_header(struct area area)
{
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area.at;
    chunk->size = area.size;
    __atomic_store_n(&chunk->magic, DWELL_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

struct area chunk_prepare(int fd, uint32_t size)
{
    struct area area = { NULL, size };
    uint64_t offset = session_claim(&runtime.session, fd, size);
    if (offset)
        area.at = session_map(&runtime.session, fd, offset, size);
    if (area.at)
        write_free_header(area);
    return area;
}

static bool pool_put(char *at)
{
    for (int i = 0; i < POOL_SLOTS; i++) {
        char *empty = NULL;
        if (__atomic_compare_exchange_n(&runtime.process->pool[i], &empty, at, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

static char *pool_get(uint32_t size)
{
    for (int i = 0; i < POOL_SLOTS; i++) {
        char *at = __atomic_exchange_n(&runtime.process->pool[i], NULL, __ATOMIC_ACQUIRE);
        if (!at)
            continue;
        if (area_size(at) >= size)
            return at;
        if (!pool_put(at))
            sys_unmap(at, area_size(at));
    }
    return NULL;
}

static struct area prepare_alone(uint32_t size)
{
    int fd = session_reopen(&runtime.session, runtime.path);
    if (fd < 0) {
        __atomic_fetch_or(&runtime.session.header->trouble, DWELL_TROUBLE_NO_FILE, __ATOMIC_RELAXED);
        return (struct area){ NULL, 0 };
    }
    struct area area = chunk_prepare(fd, size);
    sys_close(fd);
    return area;
}

struct area chunk_take(uint32_t size)
{
    struct process *p = runtime.process;
    struct area area = { pool_get(size), 0 };
    if (area.at) {
        area.size = area_size(area.at);
        helper_wake();
        return area;
    }
    const uint32_t wanted = size < PREPARED_SIZE ? PREPARED_SIZE : size;
    if (p->helper_tid) {
        if (p->pool_target < POOL_SLOTS)
            p->pool_target++; /* it was not quick enough */
        area = helper_ask(wanted);
    }
    if (!area.at && !p->helper_tid)
        area = prepare_alone(wanted);
    if (!area.at)
        process_stop();
    return area;
}

void chunk_split(struct area *area, uint32_t size)
{
    size = (size + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
    if (area->size < size + LEAST_REST)
        return;
    struct area rest = { area->at + size, area->size - size };
    write_free_header(rest); /* before the first part ends there */
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area->at;
    __atomic_store_n(&chunk->size, size, __ATOMIC_RELEASE);
    area->size = size;
    chunk_return(rest);
}

void chunk_return(struct area rest)
{
    if (!pool_put(rest.at))
        sys_unmap(rest.at, rest.size);
}

/* Walks the records; see docs/format.md. */
bool chunk_has_holes(const struct dwell_chunk_header *chunk)
{
    const char *at = (const char *)(chunk + 1) + (size_t)chunk->depth * sizeof(struct dwell_frame);
    const char *end = (const char *)chunk + chunk->used;
    while (at < end) {
        uint16_t word;
        memcpy(&word, at, sizeof word);
        uint32_t lower = 1;
        switch (word >> DWELL_WORD_KIND_SHIFT) {
        case DWELL_WORD_EXIT:
            at += EXIT_BYTES;
            break;
        case DWELL_WORD_EXTENSION:
            at += 2 + 2 * (word & ((1 << DWELL_EXTENSION_LENGTH_BITS) - 1));
            break;
        default:
            memcpy(&lower, at + 2, sizeof lower);
            at += ENTER_BYTES;
        }
        if (word == 0 || lower == 0)
            return true;
    }
    return false;
}

/*
 * A probe that a signal handler interrupted between its claim and its stores may still write to this
 * chunk, however long the handler runs. Such a chunk has a hole, and stays mapped until it has none.
 */
void chunk_retire(struct dwell_chunk_header *chunk)
{
    struct process *p = runtime.process;
    for (int i = 0; p->helper_tid && i < RETIRED_SLOTS; i++) {
        char *empty = NULL;
        if (__atomic_compare_exchange_n(&p->retired[i], &empty, (char *)chunk, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return;
    }
    if (!chunk_has_holes(chunk))
        sys_unmap(chunk, chunk->size);
}
