/* The calls of a profile that were only counted: reading and copying them. */
#include "profile/counted.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "profile/identify.h"
#include "trace/counted_calls.h"

void counted_add(struct profile *p, uint32_t thread, uint32_t function, uint64_t calls)
{
    GROW(p->counted, p->counted_count, p->counted_room);
    p->counted[p->counted_count++] = (struct profile_counted){ thread, function, calls };
}

void counted_add_on(struct profile *p, uint32_t process, uint32_t thread, uint32_t function, uint64_t calls)
{
    profile_root(p, process, thread);
    counted_add(p, index_find(p->thread_table, process, thread)->value_plus_1 - 1, function, calls);
}

static void counted_read_chunk(struct profile *p, const struct session_file *file, const struct trace_chunk *chunk)
{
    struct dwell_count *list;
    const size_t count = counts_read(file, chunk, &list);
    const struct trace_process *process = session_file_process(file, chunk->process);
    p->counts.chunks++;
    p->counts.damaged_chunks += !list;
    for (size_t i = 0; list && i < count; i++)
        if (list[i].calls)
            counted_add_on(p, chunk->process, chunk->thread,
                           identify_function(p, process, list[i].function, chunk->start_time), list[i].calls);
    free(list);
}

void counted_collect(struct profile *p, const struct session_file *file, const struct selection *selection)
{
    for (size_t i = 0; i < file->chunk_count && !selection_has_ranges(selection); i++) {
        const struct trace_chunk *chunk = &file->chunks[i];
        if (chunk->kind == DWELL_CHUNK_COUNTS && selection_takes_chunk(selection, file, chunk) &&
            selection_takes(selection, file, chunk->process, chunk->thread))
            counted_read_chunk(p, file, chunk);
    }
}

void counted_copy(struct profile *into, const struct profile *from, const bool *functions)
{
    for (size_t i = 0; i < from->counted_count; i++) {
        const struct profile_counted *c = &from->counted[i];
        const struct profile_thread *t = &from->threads[c->thread];
        if (!functions || functions[c->function])
            counted_add_on(into, t->process, t->thread, c->function, c->calls);
    }
}

void counted_add_difference(struct profile *into, const struct profile *now, const struct profile *before)
{
    struct number_index *places = index_new();
    const size_t first = into->counted_count;
    for (size_t i = 0; i < now->counted_count; i++) {
        const struct profile_counted *c = &now->counted[i];
        struct index_slot *slot = index_find(places, c->function, c->thread);
        if (slot->value_plus_1) {
            into->counted[first + slot->value_plus_1 - 1].calls += c->calls;
            continue;
        }
        index_set(places, slot, c->function, c->thread, (uint32_t)(into->counted_count - first));
        counted_add(into, c->thread, c->function, c->calls);
    }
    for (size_t i = 0; i < before->counted_count; i++) {
        const struct profile_counted *c = &before->counted[i];
        const struct index_slot *slot = index_find(places, c->function, c->thread);
        if (slot->value_plus_1) {
            uint64_t *calls = &into->counted[first + slot->value_plus_1 - 1].calls;
            *calls = less(*calls, c->calls);
        }
    }
    index_free(places);
}

void counted_add_to(struct times *sums, uint64_t calls)
{
    sums->calls += calls;
    sums->counted += calls;
}

size_t counted_functions(const struct profile *p)
{
    bool *seen = need_memory(p->function_count + 1, sizeof *seen);
    size_t count = 0;
    for (size_t i = 0; i < p->counted_count; i++) {
        count += !seen[p->counted[i].function];
        seen[p->counted[i].function] = true;
    }
    free(seen);
    for (size_t i = 0; i < p->reported_count; i++)
        count += p->reported[i].times.counted > 0;
    return count;
}

struct counted_calls counted_calls_of(const struct profile *p, uint32_t function)
{
    struct counted_calls calls = { .timed = 0 };
    for (size_t i = 0; i < p->counted_count; i++)
        calls.counted += p->counted[i].function == function ? p->counted[i].calls : 0;
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->function != function)
            continue;
        calls.timed += node->calls;
        calls.sampled |= node->site == PROFILE_SAMPLED;
        calls.recorded |= node->site != PROFILE_SAMPLED;
    }
    return calls;
}
