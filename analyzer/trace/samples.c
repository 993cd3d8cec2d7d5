/* Reads the samples of a chunk, and finds the thread that they are of. */
#include "trace/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "trace/counted_calls.h"

enum { WORD = sizeof(uint64_t) };

static uint32_t sample_count_bits(const uint64_t *bits, uint32_t words)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < (words + 63) / 64; i++)
        count += (uint32_t)__builtin_popcountll(bits[i]);
    return count;
}

static bool sample_decode(const uint8_t *at, const struct dwell_stack_sample *head, struct stack_sample *sample)
{
    const uint32_t bitmap = ((uint32_t)head->words + 63) / 64;
    const uint32_t fixed = (uint32_t)sizeof *head + (head->registers + bitmap) * WORD;
    if (!head->registers || head->registers > DWELL_SAMPLE_REGISTERS || head->words > DWELL_SAMPLE_WORDS ||
        head->size < fixed)
        return false;
    const uint64_t *registers = (const uint64_t *)(const void *)(at + sizeof *head);
    *sample = (struct stack_sample){
        .time = head->time,
        .registers = registers,
        .register_count = head->registers,
        .words = head->words,
        .bits = registers + head->registers,
        .values = registers + head->registers + bitmap,
    };
    return (head->size - fixed) / WORD >= sample_count_bits(sample->bits, head->words);
}

bool samples_next(const uint8_t *chunk, uint32_t size, uint32_t *at, struct stack_sample *sample, bool *damaged)
{
    struct dwell_stack_sample head;
    *damaged = false;
    if (*at + sizeof head > size)
        return false;
    memcpy(&head, chunk + *at, sizeof head);
    if (!head.size)
        return false;
    *damaged = head.size < sizeof head || head.size % WORD || head.size > size - *at ||
               !sample_decode(chunk + *at, &head, sample);
    *at += *damaged ? 0 : head.size;
    return !*damaged;
}

uint64_t sample_stack_word(const struct stack_sample *sample, uint32_t word)
{
    if (word >= sample->words || !(sample->bits[word / 64] >> word % 64 & 1))
        return 0;
    const uint64_t before = sample->bits[word / 64] & ((1ull << word % 64) - 1);
    return sample->values[sample_count_bits(sample->bits, word / 64 * 64) + (uint32_t)__builtin_popcountll(before)];
}

/* ---- threads ---- */

/* Threads by tid and pid, then by their starts. */
struct samples_thread {
    uint32_t tid, pid, serial, process;
    uint64_t start;
    uint64_t end; /* the latest one of this thread and of those before it with its tid and pid */
};

static int samples_compare_ids(const struct samples_thread *x, uint32_t tid, uint32_t pid)
{
    if (x->tid != tid)
        return x->tid < tid ? -1 : 1;
    return ORDER(x->pid, pid);
}

static int samples_compare_threads(const void *a, const void *b)
{
    const struct samples_thread *x = a, *y = b;
    const int order = samples_compare_ids(x, y->tid, y->pid);
    if (order)
        return order;
    return ORDER_BY(x, y, start, serial);
}

static struct samples_thread *samples_sort_threads(const struct session_file *file)
{
    struct samples_thread *list = need_memory(file->thread_count, sizeof *list);
    for (size_t i = 0; i < file->thread_count; i++) {
        const struct trace_thread *t = &file->threads[i];
        const struct trace_process *p = session_file_process(file, t->process);
        const uint64_t end = t->end_time ? t->end_time : p ? p->end_time : 0;
        list[i] = (struct samples_thread){ t->tid,     p ? p->pid : 0, t->serial,
                                           t->process, t->start_time,  end ? end : UINT64_MAX };
    }
    qsort(list, file->thread_count, sizeof *list, samples_compare_threads);
    for (size_t i = 1; i < file->thread_count; i++)
        if (samples_compare_ids(&list[i - 1], list[i].tid, list[i].pid) == 0)
            list[i].end = larger(list[i].end, list[i - 1].end);
    return list;
}

/* The first thread with these numbers that had not ended at `time`: where the latest end passes it. */
static const struct samples_thread *samples_search(const struct samples_thread *list, size_t count, uint32_t tid,
                                                   uint32_t pid, uint64_t time)
{
    const size_t place = LOWER_BOUND(thread, list, count,
                                     thread->tid != tid   ? thread->tid < tid
                                     : thread->pid != pid ? thread->pid < pid
                                                          : thread->end < time);
    return place < count && samples_compare_ids(&list[place], tid, pid) == 0 ? &list[place] : NULL;
}

bool samples_are_spare(const struct session_file *file)
{
    return file->header.also & DWELL_ALSO_SPARE_SAMPLES && !file->levels.change_count && !file->levels.decision_count &&
           !counts_any(file);
}

void samples_find_threads(struct session_file *file)
{
    if (samples_are_spare(file))
        return;
    struct samples_thread *list = NULL;
    for (size_t i = 0; i < file->chunk_count; i++) {
        struct trace_chunk *chunk = &file->chunks[i];
        if (chunk->kind != DWELL_CHUNK_SAMPLES || chunk->thread || !file->thread_count)
            continue;
        list = list ? list : samples_sort_threads(file);
        const struct samples_thread *found =
            samples_search(list, file->thread_count, chunk->tid, chunk->pid, chunk->start_time);
        chunk->thread = found ? found->serial : 0;
        chunk->process = found ? found->process : 0;
    }
    free(list);
}

/* ---- all ---- */

uint32_t samples_period(const struct session_file *file, const struct trace_chunk *chunk)
{
    const uint32_t period = chunk->period ? chunk->period : file->header.sample_period;
    return period ? period : 1;
}

bool samples_periods(const struct session_file *file, uint32_t *shortest, uint32_t *longest)
{
    *shortest = UINT32_MAX;
    *longest = 0;
    for (size_t i = 0; i < file->chunk_count; i++) {
        const struct trace_chunk *chunk = &file->chunks[i];
        if (chunk->kind != DWELL_CHUNK_SAMPLES || !chunk->thread)
            continue;
        const uint32_t period = samples_period(file, chunk);
        *shortest = period < *shortest ? period : *shortest;
        *longest = period > *longest ? period : *longest;
    }
    return *longest != 0;
}

static uint64_t samples_count_chunk(const struct session_file *file, const struct trace_chunk *chunk)
{
    if (chunk->used)
        return chunk->samples;
    uint64_t count = 0;
    uint8_t *bytes = need_memory((size_t)chunk->size + TRACE_PADDING, 1);
    uint32_t at = sizeof(struct dwell_chunk_header);
    struct stack_sample sample;
    bool damaged;
    if (session_file_read_chunk(file, chunk, bytes))
        while (samples_next(bytes, chunk->size, &at, &sample, &damaged))
            count++;
    free(bytes);
    return count;
}

uint64_t samples_count(const struct session_file *file)
{
    uint64_t count = 0;
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_SAMPLES && file->chunks[i].thread)
            count += samples_count_chunk(file, &file->chunks[i]);
    return count;
}
