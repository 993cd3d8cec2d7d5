/* Reads the chunks of waits of a session of mode profile. */
#include "profile/tree_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "profile/profile.h"
#include "trace/chunk_order.h"

static int tree_waits_compare_chunks(const void *a, const void *b)
{
    return chunk_order_compare(*(const struct trace_chunk *const *)a, *(const struct trace_chunk *const *)b);
}

struct tree_waits *tree_waits_new(const struct session_file *file)
{
    struct tree_waits *w = need_memory(1, sizeof *w);
    w->thread_table = index_new();
    w->chunks = need_memory(file->chunk_count + 1, sizeof *w->chunks);
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_WAITS)
            w->chunks[w->chunk_count++] = &file->chunks[i];
    if (w->chunk_count)
        qsort(w->chunks, w->chunk_count, sizeof *w->chunks, tree_waits_compare_chunks);
    return w;
}

/* In a copy of a running session, a row may be of a node that the copied tree lacks. */
static void tree_waits_add_row(struct tree_waits *w, const struct trace_chunk *chunk, const struct dwell_wait_row *row,
                               const uint32_t *nodes, size_t count)
{
    if (row->node >= count)
        return;
    GROW(w->list, w->count, w->room);
    w->list[w->count++] = (struct tree_wait){ chunk->process, chunk->thread, nodes[row->node], *row };
}

static void tree_waits_read_chunk(struct tree_waits *w, const struct session_file *file,
                                  const struct trace_chunk *chunk, const uint32_t *nodes, size_t count)
{
    uint8_t *buffer = need_memory((size_t)chunk->size + TRACE_PADDING, 1);
    const uint32_t end = trace_chunk_end(chunk);
    struct dwell_wait_row row;
    uint32_t at = sizeof(struct dwell_chunk_header);
    for (bool good = session_file_read_chunk(file, chunk, buffer); good && at + sizeof row <= end; at += sizeof row) {
        memcpy(&row, buffer + at, sizeof row);
        if (!row.waits)
            break;
        tree_waits_add_row(w, chunk, &row, nodes, count);
    }
    free(buffer);
}

static bool tree_waits_is_before(const struct trace_chunk *a, const struct trace_chunk *b)
{
    return a->process != b->process ? a->process < b->process : a->thread < b->thread;
}

void tree_waits_add_thread(struct tree_waits *w, const struct session_file *file, const struct trace_chunk *any,
                           const uint32_t *nodes, size_t count, uint32_t top)
{
    GROW(w->threads, w->thread_count, w->thread_room);
    w->threads[w->thread_count] = (struct tree_thread){ w->node_count, count, top };
    struct index_slot *slot = index_find(w->thread_table, any->thread, 0);
    index_set(w->thread_table, slot, any->thread, 0, (uint32_t)w->thread_count++);
    for (size_t i = 0; i < count; i++) {
        GROW(w->nodes, w->node_count, w->node_room);
        w->nodes[w->node_count++] = nodes[i];
    }
    while (w->next_chunk < w->chunk_count && tree_waits_is_before(w->chunks[w->next_chunk], any))
        w->next_chunk++;
    for (; w->next_chunk < w->chunk_count && w->chunks[w->next_chunk]->process == any->process &&
           w->chunks[w->next_chunk]->thread == any->thread;
         w->next_chunk++)
        tree_waits_read_chunk(w, file, w->chunks[w->next_chunk], nodes, count);
}

static const struct tree_thread *tree_waits_find_thread(const struct tree_waits *w, uint32_t thread)
{
    const struct index_slot *slot = index_find(w->thread_table, thread, 0);
    return slot->value_plus_1 ? &w->threads[slot->value_plus_1 - 1] : NULL;
}

uint32_t tree_waits_find_node(const struct tree_waits *w, uint32_t thread, uint32_t number)
{
    const struct tree_thread *t = tree_waits_find_thread(w, thread);
    return t && number && number < t->count ? w->nodes[t->first + number] : PROFILE_NONE;
}

uint32_t tree_waits_find_top(const struct tree_waits *w, uint32_t thread)
{
    const struct tree_thread *t = tree_waits_find_thread(w, thread);
    return t ? t->top : PROFILE_NONE;
}

void tree_waits_free(struct tree_waits *w)
{
    index_free(w->thread_table);
    free(w->list);
    free(w->nodes);
    free(w->threads);
    free(w->chunks);
    free(w);
}
