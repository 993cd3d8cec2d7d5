/* Orders of a session's chunks. */
#include "trace/chunk_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"

int chunk_order_compare(const void *a, const void *b)
{
    const struct trace_chunk *x = a, *y = b;
    return ORDER_BY(x, y, process, thread, sequence, offset);
}

static int chunk_order_compare_numbers(const void *a, const void *b, void *context)
{
    const struct trace_chunk *chunks = context;
    return chunk_order_compare(&chunks[*(const uint32_t *)a], &chunks[*(const uint32_t *)b]);
}

uint32_t *chunk_order_by_thread(const struct session_file *file)
{
    uint32_t *order = need_memory(file->chunk_count, sizeof *order);
    for (uint32_t i = 0; i < file->chunk_count; i++)
        order[i] = i;
    if (file->chunk_count)
        qsort_r(order, file->chunk_count, sizeof *order, chunk_order_compare_numbers, file->chunks);
    return order;
}

uint32_t *chunk_order_by_place(const struct session_file *file)
{
    uint32_t *by_thread = chunk_order_by_thread(file);
    uint32_t *places = need_memory(file->chunk_count, sizeof *places);
    uint32_t *order = need_memory(file->chunk_count, sizeof *order);
    memcpy(places, by_thread, file->chunk_count * sizeof *places);
    for (size_t begin = 0, end; begin < file->chunk_count; begin = end) {
        const struct trace_chunk *first = &file->chunks[by_thread[begin]];
        for (end = begin; end < file->chunk_count; end++)
            if (file->chunks[by_thread[end]].process != first->process ||
                file->chunks[by_thread[end]].thread != first->thread)
                break;
        qsort(places + begin, end - begin, sizeof *places, compare_numbers_32);
        for (size_t i = begin; i < end; i++)
            order[places[i]] = by_thread[i];
    }
    free(places);
    free(by_thread);
    return order;
}
