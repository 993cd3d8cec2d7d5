/*
 * Chunks of the session file. A thread takes one from the pool that the helper thread fills, asks the helper for one,
 * or prepares one itself. A chunk is given up when it is full.
 */
#include <string.h>

#include "chunk.h"
#include "guard.h"
#include "helper.h"
#include "offers.h"
#include "process.h"
#include "processor.h"
#include "record.h"
#include "recorder.h"
#include "retired.h"
#include "runtime.h"
#include "session.h"
#include "spare.h"
#include "sys.h"
#include "upward.h"

enum {
    FIRST_SIZE = 32 << 10, /* for records of the process and the first events of a thread */
    PREPARED_SIZE = 256 << 10,
    WORDS_AT_ONCE = 64, /* a constant, so that the compiler uses vector instructions */
    MIN_REST = 8 << 10, /* smaller rests are not used */
    MOST_UNITS = 16,    /* chunks of one unit that the helper prepares at once */
    FAST = 64 << 20,    /* bytes of events a second, eight for a call: the probes take a sixth of the time or more */
    MANY = 64 << 10,    /* bytes of a fast chunk: the thread has made some 30,000 calls, as its first ones are small */
};

static void chunk_write_free_header(struct area area)
{
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area.at;
    chunk->size = area.size;
    chunk->process = runtime.process->serial;
    __atomic_store_n(&chunk->magic, DWELL_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

static bool chunk_put_slot(char **slots, int count, char *at)
{
    for (int i = 0; i < count; i++) {
        char *empty = NULL;
        if (__atomic_compare_exchange_n(&slots[i], &empty, at, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

/* A chunk that was taken back from the helper may be read for a moment more. */
static void chunk_unmap(char *at)
{
    if (!retired_is_read(at))
        spare_unmap_free(at);
}

static struct area chunk_get_slot(char **slots, int count, uint32_t least)
{
    for (int i = 0; i < count; i++) {
        char *at = __atomic_exchange_n(&slots[i], NULL, __ATOMIC_ACQUIRE);
        if (!at)
            continue;
        if (guard_size(at) >= least)
            return (struct area){ at, guard_size(at) };
        if (!chunk_put_slot(slots, count, at))
            chunk_unmap(at);
    }
    return (struct area){ NULL, 0 };
}

static void chunk_clear(char *at)
{
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)at;
    const uint32_t size = guard_size(at);
    guard_keep(at, size, false);
    __atomic_store_n(&chunk->sealed, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&chunk->kind, DWELL_CHUNK_FREE, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* a reader that finds its bytes changed finds that, too */
    memset((char *)(chunk + 1), 0, size - sizeof *chunk);
    *chunk =
        (struct dwell_chunk_header){ .size = size, .process = runtime.process->serial, .magic = DWELL_CHUNK_MAGIC };
}

/* Windows make room before the session has its maximum size, so that recording does not end. */
static struct area chunk_take_spare(int fd, uint32_t size, bool *full)
{
    spare_release_windows(fd);
    struct area area = spare_take_free(fd, size);
    *full = !area.at && runtime.makes_room && session_is_at_limit(&runtime.session, fd, size) &&
            !offers_have(&runtime.session, size) && spare_has_window(0);
    if (*full)
        area = spare_take_window(fd, size);
    if (area.at) {
        chunk_clear(area.at);
        chunk_cut(&area, size);
    }
    return area;
}

struct area chunk_prepare(int fd, uint32_t size)
{
    bool full;
    struct area area = chunk_take_spare(fd, size, &full);
    if (area.at || full)
        return area;
    const uint64_t offset = session_claim(&runtime.session, fd, size);
    area = (struct area){ NULL, size };
    if (offset)
        area.at = session_map(&runtime.session, fd, offset, size);
    if (area.at)
        chunk_write_free_header(area);
    return area;
}

static struct area chunk_prepare_alone(uint32_t size)
{
    int fd = session_reopen(&runtime.session, runtime.path);
    if (fd < 0) {
        session_trouble(&runtime.session, DWELL_TROUBLE_NO_FILE);
        return (struct area){ NULL, 0 };
    }
    struct area area = chunk_prepare(fd, size);
    sys_close(fd);
    return area;
}

static struct area chunk_ask(uint32_t size)
{
    const struct helper *helper = &runtime.process->helper;
    struct area area = { NULL, 0 };
    if (helper->tid)
        area = helper_ask(size);
    if (!area.at && !helper->tid)
        area = chunk_prepare_alone(size);
    return area;
}

/* The helper was too slow, or the process is young. */
static void chunk_prepare_more(struct chunk_pool *pool)
{
    if (pool->prepared < PREPARED_SIZE)
        pool->prepared *= 2;
    else if (pool->target < POOL_SLOTS)
        pool->target += pool->target ? 1 : runtime.recorder->ready_chunks;
}

static struct area chunk_take_prepared(uint32_t least)
{
    struct process *p = runtime.process;
    struct area area = chunk_get_slot(p->pool.ready, POOL_SLOTS, least);
    if (area.at) {
        helper_wake();
        return area;
    }
    area = chunk_ask(least < p->pool.prepared ? p->pool.prepared : least);
    chunk_prepare_more(&p->pool);
    if (!area.at && (runtime.session.header->limit_time || runtime.makes_room)) /* a small one may fit */
        area = chunk_ask((least + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT);
    return area;
}

struct area chunk_take_ready(uint32_t least, uint32_t size)
{
    struct chunk_pool *pool = &runtime.process->pool;
    struct area area = chunk_get_slot(pool->rests, REST_SLOTS, least);
    if (!area.at)
        area = chunk_get_slot(pool->ready, POOL_SLOTS, least);
    if (area.at)
        chunk_cut(&area, size);
    return area;
}

struct area chunk_take(uint32_t least, uint32_t size)
{
    struct area area = chunk_get_slot(runtime.process->pool.rests, REST_SLOTS, least);
    if (!area.at)
        area = chunk_take_prepared(least);
    if (area.at)
        chunk_cut(&area, size);
    else if (!runtime.session.header->shared_ring && !runtime.makes_room) /* else threads use chunks again */
        upward.space_is_gone();
    return area;
}

/* Threads that share a ring need chunks of one size, so none of these is cut. */
struct area chunk_take_unit(void)
{
    if (!runtime.session.header->shared_ring)
        return chunk_take(DWELL_UNIT, DWELL_UNIT);
    const struct area area = chunk_ask(DWELL_UNIT);
    if (!area.at)
        session_trouble(&runtime.session, DWELL_TROUBLE_MAX_SIZE);
    return area;
}

/* Keeps a chunk for later, in place of a smaller one if need be. */
static void chunk_keep(char *at)
{
    char **rests = runtime.process->pool.rests;
    for (int i = 0; !chunk_put_slot(rests, REST_SLOTS, at); i++) {
        char *other = i < REST_SLOTS ? __atomic_exchange_n(&rests[i], NULL, __ATOMIC_ACQUIRE) : at;
        if (!other || (guard_size(other) > guard_size(at) && chunk_put_slot(rests, REST_SLOTS, other)))
            continue;
        chunk_unmap(other);
        if (other == at)
            return;
    }
}

/* Makes the first `size` bytes a chunk of its own, and returns the rest; {NULL, 0} if that would be too small. */
static struct area chunk_split(struct area *area, uint32_t size)
{
    size = (size + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
    if (area->size < size + MIN_REST)
        return (struct area){ NULL, 0 };
    const struct area rest = { area->at + size, area->size - size };
    guard_split(rest.at);
    chunk_write_free_header(rest); /* written before the first part ends there */
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area->at;
    __atomic_store_n(&chunk->size, size, __ATOMIC_RELEASE);
    area->size = size;
    return rest;
}

void chunk_cut(struct area *area, uint32_t size)
{
    const struct area rest = chunk_split(area, size);
    if (rest.at)
        chunk_keep(rest.at);
}

struct area chunk_prepare_unit(int fd)
{
    struct helper *helper = &runtime.process->helper;
    if (runtime.session.header->shared_ring || runtime.makes_room)
        return chunk_prepare(fd, DWELL_UNIT);
    if (!helper->units.at) {
        const uint32_t count = helper->unit_count ? helper->unit_count : 1;
        helper->units = chunk_prepare(fd, count * DWELL_UNIT);
        helper->unit_count = count < MOST_UNITS ? 4 * count : count;
    }
    struct area area = helper->units;
    helper->units = area.at ? chunk_split(&area, DWELL_UNIT) : area;
    return area;
}

void chunk_begin_process(bool forked, int fd)
{
    struct chunk_pool *pool = &runtime.process->pool;
    const bool small = forked && !runtime.session.header->shared_ring;
    pool->target = small ? 0 : runtime.recorder->ready_chunks;
    pool->prepared = small ? 2 * FIRST_SIZE : PREPARED_SIZE;
    const struct area first = small ? chunk_prepare(fd, FIRST_SIZE) : (struct area){ NULL, 0 };
    if (first.at)
        chunk_keep(first.at);
}

void chunk_free(char *at)
{
    chunk_clear(at);
    chunk_keep(at);
}

/* Whether any word is zero: a record that was not stored, or part of an address or extension. */
static bool chunk_has_zero_word(const record_word *at, const record_word *end)
{
    for (; at + WORDS_AT_ONCE <= end; at += WORDS_AT_ONCE) {
        uint16_t zeros = 0;
        for (int i = 0; i < WORDS_AT_ONCE; i++)
            zeros |= (uint16_t) - (at[i] == 0);
        if (zeros)
            return true;
    }
    while (at < end)
        if (*at++ == 0)
            return true;
    return false;
}

/* Walks the records; see docs/format.md. */
static bool chunk_has_missing_record(const char *at, const char *end)
{
    while (at < end) {
        uint16_t word;
        uint32_t lower = 1;
        memcpy(&word, at, sizeof word);
        if (word >> DWELL_WORD_KIND_SHIFT != DWELL_WORD_EXTENSION && record_bytes(word) == ENTER_BYTES &&
            end - at >= ENTER_BYTES)
            memcpy(&lower, at + 2, sizeof lower);
        if (word == 0 || lower == 0)
            return true;
        at += record_bytes(word);
    }
    return false;
}

bool chunk_has_holes(const struct dwell_chunk_header *chunk)
{
    const uint64_t size = guard_size(chunk), end_used = __atomic_load_n(&chunk->used, __ATOMIC_RELAXED);
    const uint64_t used = end_used < size ? end_used : size;
    const uint64_t skip = sizeof *chunk + (uint64_t)chunk->depth * sizeof(struct dwell_frame);
    const char *begin = (const char *)chunk + (skip < used ? skip : used);
    const char *end = (const char *)chunk + used;
    return chunk_has_zero_word((const record_word *)begin, (const record_word *)end) &&
           chunk_has_missing_record(begin, end);
}

void chunk_ask_for_first_look(void)
{
    if (!(runtime.session.header->also & DWELL_ALSO_BUDGET))
        return;
    struct dwell_file_more *more = session_more(&runtime.session);
    uint32_t *asks = &more->look_asks;
    __atomic_store_n(&more->asker, processor_here(), __ATOMIC_RELAXED);
    __atomic_fetch_add(asks, 1, __ATOMIC_SEQ_CST);
    sys_futex_wake_shared(asks);
}

void chunk_ask_for_look(const struct dwell_chunk_header *chunk, uint64_t end)
{
    const uint64_t rate = runtime.session.header->ticks_per_second;
    if (end - chunk->start_time >= chunk->used * rate / FAST)
        return;
    if (chunk->used > MANY)
        upward.expect_changes();
    chunk_ask_for_first_look();
}

/*
 * For the count of the chunk's events (thread_chunks.c). If a handler has ended the chunk meanwhile, it may have
 * counted without this event. Then the chunk is marked as not counted, and the reader counts. The chunk stays mapped
 * until the event is stored.
 */
void chunk_count_extensions(struct dwell_chunk_header *chunk, uint32_t extension_bytes, uint32_t left)
{
    if (extension_bytes == 0)
        return;
    __atomic_fetch_add(&chunk->open.left, left, __ATOMIC_RELAXED);
    __atomic_fetch_add(&chunk->open.extension_bytes, extension_bytes, __ATOMIC_RELAXED);
    if (__atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE) != 0)
        chunk->enters = chunk->exits = DWELL_NOT_COUNTED;
}
