/*
 * A chunk that is full is given up only when no row is being written into it: not if a handler finds it full while the
 * probe below it writes. Then it stays mapped to the process' end.
 *
 * In mode ring, each chunk is complete by itself: it begins with the rows of the calls that are open. So a chunk can be
 * used again as soon as the events are that were written before its end. Values can fill chunks faster than events do.
 * Then the events chunk ends early, so that its first calls have their values as long as it is there. Not with a
 * shortest duration: values of short calls would make the few events of long calls go.
 */
#include "value_rows.h"

#include <string.h>

#include "chunk.h"
#include "filter.h"
#include "gate.h"
#include "guard.h"
#include "losses.h"
#include "process.h"
#include "retired.h"
#include "ring.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"
#include "thread.h"
#include "value_open.h"
#include "value_store.h"

enum {
    FIRST_CHUNK = 16 << 10, /* doubled for each further chunk of a thread */
    LARGEST_CHUNK = 1 << 20,
    MOST_OPEN = DWELL_CHUNK_LARGEST / 16, /* bytes of rows of open calls; more are left out */
};

void value_rows_begin_thread(struct thread *t)
{
    t->values = (struct thread_values){ .chunk = NULL };
}

/* A thread that is ending has no chunks any more. */
static void value_rows_count_lost(bool late)
{
    struct dwell_file_more *more = session_more(&runtime.session);
    __atomic_fetch_add(&more->lost_values, 1, __ATOMIC_RELAXED);
    if (late)
        __atomic_fetch_add(&more->late_values, 1, __ATOMIC_RELAXED);
}

static bool value_rows_are_in_ring(void)
{
    return ring_chunk_size() > 0;
}

/* No event of the thread was later. With filters, `last` is the time of the last record. */
static uint64_t value_rows_now(const struct thread *t)
{
    return t->filter.last_seen > t->last ? t->filter.last_seen : t->last;
}

static void value_rows_finish(struct thread *t, bool unused)
{
    struct dwell_chunk_header *chunk = t->values.chunk;
    const uint32_t used = (uint32_t)(t->values.at - (char *)chunk);
    t->values.chunk = NULL;
    t->values.at = t->values.end = NULL;
    __atomic_store_n(&chunk->used, used, __ATOMIC_RELEASE);
    if (guard_trouble())
        losses_of_values(chunk, used);
    if (unused && !ring_keep_values(&t->ring, chunk))
        retired_add(chunk);
}

/* A chunk for `size` bytes of rows and more; {NULL, 0} if there is none. */
static struct area value_rows_take(struct thread *t, uint32_t size)
{
    const uint32_t ring_size = ring_chunk_size();
    uint32_t wanted = ring_size ? ring_size : FIRST_CHUNK;
    for (uint32_t i = 0; !ring_size && i < t->values.begun && wanted < LARGEST_CHUNK; i++)
        wanted *= 2;
    while (wanted < sizeof(struct dwell_chunk_header) + size)
        wanted *= 2;
    return ring_take_chunk(&t->ring, ring_size ? wanted : FIRST_CHUNK / 2, wanted);
}

static void value_rows_begin(struct thread *t, struct area area, uint32_t open)
{
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area.at;
    chunk->process = runtime.process->serial;
    chunk->thread = t->serial;
    chunk->sequence = t->values.begun++;
    chunk->start_time = value_rows_now(t);
    __atomic_store_n(&chunk->kind, DWELL_CHUNK_VALUES, __ATOMIC_RELEASE);
    t->values.chunk = chunk;
    t->values.end = area.at + area.size;
    t->values.at = area.at + sizeof *chunk + open;
}

/* Under blocked signals. Another probe of the thread may have been faster. The old chunk is read before a ring may use
 * it again. */
static void value_rows_next_chunk(struct thread *t, uint32_t size)
{
    struct dwell_chunk_header *const old = t->values.chunk;
    const uint32_t used = old ? (uint32_t)(t->values.at - (char *)old) : 0;
    struct area area = { NULL, 0 };
    if (old && (size_t)(t->values.end - t->values.at) >= size)
        return;
    uint32_t open = old && value_rows_are_in_ring() ? value_open_copy(t, old, used, NULL, 0) : 0;
    if (open > MOST_OPEN)
        open = 0;
    if (!__atomic_load_n(&runtime.process->stopped, __ATOMIC_RELAXED))
        area = value_rows_take(t, 4 * open + size);
    if (area.at && open)
        open = value_open_copy(t, old, used, area.at + sizeof *old, open);
    if (old)
        value_rows_finish(t, t->values.writers == 1);
    if (area.at)
        value_rows_begin(t, area, open);
    if (!filter_settings.waits && ring_has_many_values(&t->ring)) {
        t->ring.ends_early = true;
        thread_set_limit(t);
    }
}

void value_rows_end_thread(struct thread *t)
{
    struct dwell_chunk_header *chunk = t->values.chunk;
    if (!chunk)
        return;
    struct area area = { (char *)chunk, (uint32_t)(t->values.end - (char *)chunk) };
    if (!t->values.writers && !runtime.session.header->shared_ring)
        chunk_cut(&area, (uint32_t)(t->values.at - (char *)chunk));
    value_rows_finish(t, !t->values.writers);
}

/* Returns NULL if there is none, and counts the row as lost. */
static char *value_rows_claim_in_next(struct thread *t, uint32_t size)
{
    const uint64_t mask = sys_block_signals();
    const char *end;
    char *at = NULL;
    const bool late = mask == SYS_NOT_BLOCKED || !t->wiped->alive || t->stopped;
    if (!late) {
        value_rows_next_chunk(t, size);
        at = value_rows_claim(&t->values, size, &end);
    }
    if (!at)
        value_rows_count_lost(late);
    if (mask != SYS_NOT_BLOCKED)
        sys_restore_signals(mask);
    return at;
}

/* Returns where the row is, or NULL if it is lost. */
static const char *value_rows_put(struct thread *t, const struct value_row *row)
{
    const uint32_t count = value_row_words(row->first);
    const uint32_t size = value_row_size(row->first);
    const char *end;
    char *at = value_rows_claim(&t->values, size, &end);
    if (UNLIKELY(!at))
        at = value_rows_claim_in_next(t, size);
    if (LIKELY(at != NULL)) {
        value_rows_store_head(at, row->first, row->time);
        for (uint32_t i = 0; i < count; i++)
            value_rows_store_word(at, i, row->words[i]);
        value_rows_store_whole(at);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return at;
}

bool value_rows_missed_copy(const struct thread *t, const char *at)
{
    const volatile struct thread_values *v = &t->values;
    const char *const begin = (const char *)v->chunk;
    return UNLIKELY(at < begin || at >= v->end) && value_rows_are_in_ring();
}

void value_rows_append(struct thread *t, const struct value_row *row)
{
    const uint32_t writers = value_rows_begin_row(&t->values);
    const char *at = value_rows_put(t, row);
    if (LIKELY(at != NULL) && value_rows_missed_copy(t, at))
        value_rows_put(t, row);
    value_rows_end_row(&t->values, writers);
}
