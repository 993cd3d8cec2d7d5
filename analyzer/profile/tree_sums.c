/* Finds a thread's rows by binary search in its chunks' list. */
#include "profile/tree_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "trace/chunk_order.h"

_Static_assert(sizeof(struct profile_counts) == DWELL_SUMMED_COUNTS * sizeof(uint64_t), "the file has all counts");

static int tree_chunks_compare(const void *a, const void *b)
{
    return chunk_order_compare(*(const struct trace_chunk *const *)a, *(const struct trace_chunk *const *)b);
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
    return LOWER_BOUND(chunk, chunks->list, chunks->count,
                       (*chunk)->process < process || ((*chunk)->process == process && (*chunk)->thread < thread));
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

/* ---- rows of nodes ---- */

/* Reads the next chunk of the thread that can be read. False if there is none. */
static bool tree_rows_read_chunk(struct tree_rows *r)
{
    while (r->next_chunk < r->chunks->count) {
        const struct trace_chunk *chunk = r->chunks->list[r->next_chunk];
        if (chunk->process != r->process || chunk->thread != r->thread)
            return false;
        r->next_chunk++;
        if (session_file_fill_buffer(r->file, chunk, &r->buffer)) {
            r->at = sizeof(struct dwell_chunk_header);
            r->end = trace_chunk_end(chunk);
            return true;
        }
    }
    return false;
}

/* A row whose node is zero ends the chunk. */
static void tree_rows_next(struct tree_rows *r)
{
    r->row.node = 0;
    do {
        for (; !r->row.node && r->at + sizeof r->row <= r->end; r->at += sizeof r->row) {
            memcpy(&r->row, r->buffer.bytes + r->at, sizeof r->row);
            if (!r->row.node)
                r->end = r->at;
        }
    } while (!r->row.node && tree_rows_read_chunk(r));
}

void tree_rows_begin(struct tree_rows *rows, const struct session_file *file, const struct tree_chunks *chunks,
                     uint32_t process, uint32_t thread)
{
    *rows = (struct tree_rows){ .file = file,
                                .chunks = chunks,
                                .process = process,
                                .thread = thread,
                                .next_chunk = tree_chunks_find(chunks, process, thread),
                                .buffer = rows->buffer };
    tree_rows_next(rows);
}

void tree_rows_drop(struct tree_rows *rows)
{
    free(rows->buffer.bytes);
}

const struct dwell_sum_row *tree_rows_find(struct tree_rows *rows, uint32_t node)
{
    while (rows->row.node && rows->row.node < node)
        tree_rows_next(rows);
    return rows->row.node == node ? &rows->row : NULL;
}

/* ---- counts ---- */

struct profile_counts tree_sums_counts(const struct session_file *file)
{
    uint64_t sums[DWELL_SUMMED_COUNTS] = { 0 };
    struct profile_counts counts;
    for (size_t i = 0; i < file->sums.summed_count; i++)
        for (size_t j = 0; j < DWELL_SUMMED_COUNTS; j++)
            sums[j] += file->sums.summed[i].record.counts[j];
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
