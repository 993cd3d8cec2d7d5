/* Writes samples into chunks of their threads. Of the stack, only words that can be addresses are kept. */
#include "recorder/sample_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "trace/header.h"

enum { FIRST_CHUNK = 16 << 10, OTHER_CHUNK = 64 << 10, WORD = sizeof(uint64_t) };

struct sampled_thread {
    struct dwell_chunk_header *chunk; /* NULL if it has none */
    uint32_t size, used, count;
    uint32_t period; /* of the chunk's samples */
    uint32_t sequence;
};

struct sample_writer {
    const struct session *session;
    int fd;
    struct number_index *places; /* from a tid to the thread's place in the list */
    struct sampled_thread *threads;
    size_t count, room;
};

struct sample_writer *sample_writer_new(const struct session *session, int fd)
{
    struct sample_writer *w = need_memory(1, sizeof *w);
    *w = (struct sample_writer){ .session = session, .fd = fd, .places = index_new() };
    return w;
}

static struct sampled_thread *sample_writer_thread(struct sample_writer *w, uint32_t tid)
{
    struct index_slot *slot = index_find(w->places, tid, 0);
    if (slot->value_plus_1)
        return &w->threads[slot->value_plus_1 - 1];
    GROW(w->threads, w->count, w->room);
    w->threads[w->count] = (struct sampled_thread){ .chunk = NULL };
    index_set(w->places, slot, tid, 0, (uint32_t)w->count);
    return &w->threads[w->count++];
}

static void sampled_thread_end_chunk(struct sampled_thread *t)
{
    if (!t->chunk)
        return;
    t->chunk->samples = t->count;
    __atomic_store_n(&t->chunk->used, t->used, __ATOMIC_RELEASE);
    session_unmap(t->chunk, t->size);
    t->chunk = NULL;
}

static bool sample_writer_begin_chunk(struct sample_writer *w, struct sampled_thread *t, const struct taken_sample *s)
{
    const uint32_t size = t->sequence ? OTHER_CHUNK : FIRST_CHUNK;
    sampled_thread_end_chunk(t);
    if (w->session->header->limit_time)
        return false; /* recording has ended: see --max-size */
    const uint64_t offset = session_claim(w->session, w->fd, size);
    t->chunk = offset ? session_map(w->session, w->fd, offset, size) : NULL;
    if (!t->chunk)
        return false;
    t->size = size;
    t->used = sizeof *t->chunk;
    t->count = 0;
    t->period = s->period;
    t->chunk->size = size;
    t->chunk->tid = s->tid;
    t->chunk->pid = s->pid;
    t->chunk->period = s->period;
    t->chunk->start_time = s->time;
    t->chunk->sequence = t->sequence++;
    t->chunk->magic = DWELL_CHUNK_MAGIC;
    __atomic_store_n(&t->chunk->kind, DWELL_CHUNK_SAMPLES, __ATOMIC_RELEASE);
    return true;
}

/* Whether the value can be the address of code or of something on the stack. */
static bool sample_is_address(uint64_t value)
{
#if defined(__x86_64__)
    return value >> 16 && !(value >> 47);
#else
    return value >> 16 != 0;
#endif
}

/* Packs the sample into `words`. Returns the number of bytes. */
static uint32_t sample_pack(const struct taken_sample *s, uint64_t *words)
{
    const uint32_t count = (uint32_t)smaller(s->stack_size / WORD, DWELL_SAMPLE_WORDS);
    struct dwell_stack_sample head = { .registers = (uint16_t)s->register_count,
                                       .words = (uint16_t)count,
                                       .time = s->time };
    uint64_t *at = words + sizeof head / WORD, *bits = at + s->register_count;
    memcpy(at, s->registers, s->register_count * WORD);
    at = bits + (count + 63) / 64;
    memset(bits, 0, (size_t)((uint8_t *)at - (uint8_t *)bits));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value;
        memcpy(&value, s->stack + (size_t)i * WORD, sizeof value);
        if (!sample_is_address(value))
            continue;
        bits[i / 64] |= 1ull << i % 64;
        *at++ = value;
    }
    const uint32_t size = (uint32_t)((uint8_t *)at - (uint8_t *)words);
    memcpy(words, &head, sizeof head);
    return size;
}

void sample_writer_add(struct sample_writer *w, const struct taken_sample *sample)
{
    uint64_t words[2 + DWELL_SAMPLE_REGISTERS + DWELL_SAMPLE_WORDS / 64 + DWELL_SAMPLE_WORDS];
    const uint32_t size = sample_pack(sample, words);
    struct sampled_thread *t = sample_writer_thread(w, sample->tid);
    const bool fits = t->chunk && t->used + size <= t->size && t->period == sample->period;
    if (!fits && !sample_writer_begin_chunk(w, t, sample)) {
        sample_writer_lose(w, 1);
        return;
    }
    char *at = (char *)t->chunk + t->used;
    memcpy(at + sizeof size, (char *)words + sizeof size, size - sizeof size);
    __atomic_store_n((uint32_t *)at, size, __ATOMIC_RELEASE);
    t->used += size;
    t->count++;
}

void sample_writer_end_thread(struct sample_writer *w, uint32_t tid)
{
    struct sampled_thread *t = sample_writer_thread(w, tid);
    sampled_thread_end_chunk(t);
    t->sequence = 0;
}

void sample_writer_lose(struct sample_writer *w, uint64_t samples)
{
    header_lose_samples(w->session->header, samples);
}

void sample_writer_free(struct sample_writer *w)
{
    for (size_t i = 0; i < w->count; i++)
        sampled_thread_end_chunk(&w->threads[i]);
    index_free(w->places);
    free(w->threads);
    free(w);
}
