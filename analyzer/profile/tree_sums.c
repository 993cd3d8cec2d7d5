/* Finds a thread's rows by binary search in its chunks' list. */
#include "profile/tree_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

_Static_assert(sizeof(struct profile_counts) == DWELL_SUMMED_COUNTS * sizeof(uint64_t), "the file has all counts");

static int tree_chunks_compare(const void *a, const void *b)
{
    return session_file_compare_chunks(*(const struct trace_chunk *const *)a, *(const struct trace_chunk *const *)b);
}

struct tree_chunks tree_chunks_of(const struct session_file *file, enum dwell_chunk_kind kind)
{
    struct tree_chunks chunks = { need_memory(file->chunk_count + 1, sizeof *chunks.list), 0 };
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == kind)
            chunks.list[chunks.count++] = &file->chunks[i];
    if (chunks.count)
        qsort(chunks.list, chunks.count, sizeof *chunks.list, tree_chunks_compare);
    return chunks;
}

void tree_chunks_drop(struct tree_chunks *chunks)
{
    free(chunks->list);
}

static size_t tree_chunks_find(const struct tree_chunks *chunks, uint32_t process, uint32_t thread)
{
    size_t low = 0, high = chunks->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct trace_chunk *chunk = chunks->list[middle];
        if (chunk->process < process || (chunk->process == process && chunk->thread < thread))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void tree_chunks_read(const struct tree_chunks *chunks, const struct session_file *file, uint32_t process,
                      uint32_t thread, size_t size, tree_row_taker *take, void *context)
{
    for (size_t i = tree_chunks_find(chunks, process, thread);
         i < chunks->count && chunks->list[i]->process == process && chunks->list[i]->thread == thread; i++) {
        const struct trace_chunk *chunk = chunks->list[i];
        uint8_t *buffer = need_memory((size_t)chunk->size + TRACE_PADDING, 1);
        const uint32_t end = chunk->used && chunk->used < chunk->size ? chunk->used : chunk->size;
        bool more = session_file_read_chunk(file, chunk, buffer);
        for (size_t at = sizeof(struct dwell_chunk_header); more && at + size <= end; at += size)
            more = take(context, buffer + at);
        free(buffer);
    }
}

struct tree_sums {
    struct dwell_sum_row *rows;
    size_t count;
};

static bool tree_sums_take(void *context, const void *bytes)
{
    struct tree_sums *sums = context;
    struct dwell_sum_row row;
    memcpy(&row, bytes, sizeof row);
    if (row.node && row.node < sums->count)
        sums->rows[row.node] = row;
    return row.node != 0;
}

struct dwell_sum_row *tree_sums_read(const struct tree_chunks *chunks, const struct session_file *file,
                                     uint32_t process, uint32_t thread, size_t count)
{
    struct tree_sums sums = { need_memory(count + 1, sizeof *sums.rows), count };
    tree_chunks_read(chunks, file, process, thread, sizeof *sums.rows, tree_sums_take, &sums);
    return sums.rows;
}

struct profile_counts tree_sums_counts(const struct session_file *file)
{
    uint64_t sums[DWELL_SUMMED_COUNTS] = { 0 };
    struct profile_counts counts;
    for (size_t i = 0; i < file->summed_count; i++)
        for (size_t j = 0; j < DWELL_SUMMED_COUNTS; j++)
            sums[j] += file->summed[i].record.counts[j];
    memcpy(&counts, sums, sizeof counts);
    return counts;
}

struct profile_counts tree_sums_count_part(const struct profile *p)
{
    struct profile_counts counts = { .enters = p->counts.enters, .exits = p->counts.exits };
    for (size_t i = 0; i < p->node_count; i++) {
        counts.samples += p->nodes[i].samples + p->nodes[i].samples_in_stubs;
        counts.page_faults += p->nodes[i].page_faults;
        counts.blocked += p->nodes[i].blocked;
        counts.preempted += p->nodes[i].preempted;
    }
    return counts;
}
