/*
 * How a row is stored in the usual case, where the thread's chunk has room. Its room is claimed by one instruction, so
 * a signal handler that comes in between has room of its own. Inlined into what appends rows.
 */
#ifndef DWELL_VALUE_STORE_H
#define DWELL_VALUE_STORE_H

#include "common.h"
#include "dwell/format.h"
#include "thread.h"
#include "value_rows.h"

/* The first returns what the second gets. Between the two, no handler gives the chunk up. */
static ALWAYS_INLINE uint32_t value_rows_begin_row(struct thread_values *v)
{
    const uint32_t writers = *(volatile uint32_t *)&v->writers;
    *(volatile uint32_t *)&v->writers = writers + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return writers;
}

static ALWAYS_INLINE void value_rows_end_row(struct thread_values *v, uint32_t writers)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *(volatile uint32_t *)&v->writers = writers;
}

/* False if a handler's row has come in between. No other thread has to see it at once. */
static ALWAYS_INLINE bool value_rows_advance(struct thread_values *v, char *from, char *to)
{
#if defined(__x86_64__)
    bool done;
    __asm__ volatile("cmpxchgq %[to], %[at]" : "=@cce"(done), [at] "+m"(v->at), "+a"(from) : [to] "r"(to) : "memory");
    return done;
#else
    return __atomic_compare_exchange_n(&v->at, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

/* Claims room in the chunk, whose end it says. NULL if the chunk has none. */
static ALWAYS_INLINE char *value_rows_claim(struct thread_values *v, uint32_t size, const char **chunk_end)
{
    for (;;) {
        char *at = *(char *volatile *)&v->at, *const end = *(char *volatile *)&v->end;
        *chunk_end = end;
        if (UNLIKELY((size_t)(end - at) < size || !at))
            return NULL;
        if (LIKELY(value_rows_advance(v, at, at + size)))
            return at;
    }
}

/* The first word is stored before the others, and the state in it once more behind them. */
static ALWAYS_INLINE void value_rows_store_head(char *at, uint64_t first, uint64_t time)
{
    __atomic_store_n((uint64_t *)at, first, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    ((struct dwell_values_row *)at)->time = time;
}

static ALWAYS_INLINE void value_rows_store_word(char *at, uint32_t number, uint64_t word)
{
    __atomic_store_n((uint64_t *)(at + sizeof(struct dwell_values_row)) + number, word, __ATOMIC_RELAXED);
}

static ALWAYS_INLINE void value_rows_store_whole(char *at)
{
    __atomic_store_n(&((struct dwell_values_row *)at)->state, DWELL_VALUES_WHOLE, __ATOMIC_RELEASE);
}

/* ---- whole rows ---- */

/* A row that is being stored. */
struct value_place {
    char *at; /* NULL if the chunk has no room */
    const char *end;
    uint32_t writers;
};

static ALWAYS_INLINE struct value_place value_store_begin(struct thread *t, uint64_t first, uint64_t time)
{
    struct value_place place = { .writers = value_rows_begin_row(&t->values) };
    place.at = value_rows_claim(&t->values, value_row_size(first), &place.end);
    if (LIKELY(place.at != NULL))
        value_rows_store_head(place.at, first, time);
    return place;
}

/* False if the row has to be appended by value_rows_append. */
static ALWAYS_INLINE bool value_store_end(struct thread *t, const struct value_place *place)
{
    bool good = LIKELY(place->at != NULL);
    if (good) {
        value_rows_store_whole(place->at);
        good = LIKELY(*(char *volatile *)&t->values.end == place->end) || !value_rows_missed_copy(t, place->at);
    }
    value_rows_end_row(&t->values, place->writers);
    return good;
}

static ALWAYS_INLINE void value_store_row(struct thread *t, const struct value_row *row)
{
    const struct value_place place = value_store_begin(t, row->first, row->time);
    const uint32_t count = value_row_words(row->first);
    for (uint32_t i = 0; LIKELY(place.at != NULL) && i < count; i++)
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the first word says how many there are
        value_rows_store_word(place.at, i, row->words[i]);
    if (UNLIKELY(!value_store_end(t, &place)))
        value_rows_append(t, row);
}

#endif
