/*
 * Finds until when threads that were killed had run. Nobody recorded whether they were blocked then, and those in a
 * call of the operating system alone are known to be. But samples come by a thread's CPU time: where none has come for
 * several periods, the thread was not on a CPU. Without samples, it can have run for no longer than the kernel says of
 * its process.
 */
#include "trace/thread_ends.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "symbols/os_calls.h"
#include "trace/samples.h"

/* The time of the last sample of a chunk; zero if it has none. */
static uint64_t thread_ends_last(const struct session_file *file, const struct trace_chunk *chunk)
{
    uint8_t *bytes = need_memory((size_t)chunk->size + TRACE_PADDING, 1);
    uint32_t at = sizeof(struct dwell_chunk_header);
    struct stack_sample sample;
    bool damaged;
    uint64_t last = 0;
    if (session_file_read_chunk(file, chunk, bytes))
        while (samples_next(bytes, trace_chunk_end(chunk), &at, &sample, &damaged))
            last = larger(last, sample.time);
    free(bytes);
    return last;
}

/* A thread of a process that was killed, and its last chunk of samples. */
struct thread_end {
    struct trace_thread *thread;
    uint32_t tid, pid;
    const struct trace_chunk *chunk; /* NULL if there is none */
};

static int thread_ends_compare(const void *a, const void *b)
{
    const struct thread_end *x = a, *y = b;
    return ORDER_BY(x, y, tid, pid);
}

static size_t thread_ends_list(const struct session_file *file, struct thread_end *list)
{
    size_t count = 0;
    for (size_t i = 0; i < file->thread_count; i++) {
        struct trace_thread *t = &file->threads[i];
        const struct trace_process *p = session_file_process(file, t->process);
        if (!t->end_recorded && t->end_time && p && p->end_how == DWELL_END_SIGNAL)
            list[count++] = (struct thread_end){ .thread = t, .tid = t->tid, .pid = p->pid };
    }
    if (count)
        qsort(list, count, sizeof *list, thread_ends_compare);
    return count;
}

/* Samples that are spare have no thread: the ids tell whose they are. Returns whether there are samples. */
static bool thread_ends_find_chunks(const struct session_file *file, struct thread_end *list, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < file->chunk_count; i++) {
        const struct trace_chunk *chunk = &file->chunks[i];
        if (chunk->kind != DWELL_CHUNK_SAMPLES)
            continue;
        any = true;
        const struct thread_end wanted = { .tid = chunk->tid, .pid = chunk->pid };
        const size_t place = LOWER_BOUND(end, list, count, thread_ends_compare(end, &wanted) < 0);
        struct thread_end *end = place < count ? &list[place] : NULL;
        if (end && thread_ends_compare(end, &wanted) == 0 &&
            (!end->chunk || chunk->start_time > end->chunk->start_time))
            end->chunk = chunk;
    }
    return any;
}

/* The kernel's two counts of a process differ by a few milliseconds. */
static void thread_end_set_most(const struct session_file *file, struct trace_thread *thread)
{
    const struct trace_cpu *cpu = &session_file_process(file, thread->process)->cpu;
    const double most = (double)larger(cpu->usage, cpu->clock) * (double)file->header.ticks_per_second / 1e9;
    if (cpu->known)
        thread->most_cpu = larger((uint64_t)most, 1);
}

void thread_ends_find(struct session_file *file)
{
    const struct dwell_file_header *h = &file->header;
    struct thread_end *list = need_memory(file->thread_count + 1, sizeof *list);
    const size_t count = thread_ends_list(file, list);
    const bool sampled = count && h->sample_period && !h->lost_samples && thread_ends_find_chunks(file, list, count);
    for (size_t i = 0; i < count && !sampled; i++)
        thread_end_set_most(file, list[i].thread);
    for (size_t i = 0; i < count && sampled; i++) {
        const uint32_t period = list[i].chunk ? samples_period(file, list[i].chunk) : h->sample_period;
        list[i].thread->sample_ticks = (uint64_t)((double)period * (double)h->ticks_per_second / 1e9);
        list[i].thread->last_sample = list[i].chunk ? thread_ends_last(file, list[i].chunk) : 0;
    }
    free(list);
}

/* A thread that was killed took less CPU time than up to one more sample. A few periods say nothing. */
static uint64_t thread_end_without_samples(const struct trace_thread *thread, uint64_t ticks)
{
    enum { LEAST_PERIODS = 4 };
    const uint64_t began = less(thread->end_time, ticks), ran = larger(began, thread->last_sample);
    const uint64_t idle = less(thread->end_time, ran), period = thread->sample_ticks;
    if (!period && thread->most_cpu)
        return less(ticks, thread->most_cpu);
    return period && idle > LEAST_PERIODS * period ? idle - period : 0;
}

uint64_t thread_end_blocked(const struct trace_thread *thread, const char *module, uint64_t ticks)
{
    if (!thread->end_recorded && !thread->end_blocked)
        return !trace_records_switches(thread) ? 0
               : os_calls_is_library(module)   ? ticks
                                               : thread_end_without_samples(thread, ticks);
    return smaller(thread->end_blocked, ticks);
}
