/* Puts the parts of calls in the chunks of each thread together. */
#include "profile/call_parts.h"

#include <stdlib.h>

#include "base/memory.h"

struct call_joiner {
    const struct session_file *file;
    call_part_taker *take;
    void *context;
    struct call_part *stack; /* of the current thread, outermost first */
    size_t depth, room;
    const struct trace_chunk *chunk; /* the last one of the thread that was read; NULL before the first */
    const struct chunk_parts *parts; /* of it */
};

static void call_parts_push(struct call_joiner *j, const struct call_part *call)
{
    GROW(j->stack, j->depth, j->room);
    j->stack[j->depth++] = *call;
}

/* Without a pause between them, a chunk that directly follows another one has the same open calls. */
static bool call_parts_follow(const struct call_joiner *j, const struct trace_chunk *chunk)
{
    return j->chunk && j->chunk->sequence + 1 == chunk->sequence && !j->parts->paused;
}

/* Makes the stack that of the chunk's beginning. */
static void call_parts_match(struct call_joiner *j, const struct trace_chunk *chunk, const struct chunk_parts *parts)
{
    const bool follows = call_parts_follow(j, chunk);
    if (j->chunk && j->parts->paused && j->parts->last < chunk->start_time)
        for (size_t i = 0; i < j->depth; i++)
            j->stack[i].enter_time += chunk->start_time - j->parts->last;
    size_t same = 0;
    while (same < j->depth && same < parts->inherited && parts->calls[same].function == j->stack[same].function &&
           (follows || parts->calls[same].enter_time == j->stack[same].enter_time))
        same++;
    j->depth = same;
    for (size_t i = same; i < parts->inherited; i++)
        call_parts_push(j, &(struct call_part){ .function = parts->calls[i].function,
                                                .enter_time = parts->calls[i].enter_time,
                                                .path = parts->calls[i].path });
}

static bool call_parts_end(struct call_joiner *j, const struct trace_chunk *chunk, const struct call_part *part)
{
    struct call_part *call = &j->stack[--j->depth];
    call->end = part->end;
    return !call->entered || !part->ended || j->take(j->context, chunk, call, j->depth ? call - 1 : NULL);
}

static bool call_parts_add_chunk(struct call_joiner *j, const struct trace_chunk *chunk,
                                 const struct chunk_parts *parts)
{
    bool more = true;
    call_parts_match(j, chunk, parts);
    for (size_t i = 0; i < parts->inherited; i++) {
        call_amounts_add(&j->stack[i].own, &parts->calls[i].own);
        call_amounts_add(&j->stack[i].below, &parts->calls[i].below);
        j->stack[i].enter_time += i < parts->kept ? parts->delay : 0;
    }
    while (j->depth > parts->kept && more)
        more = call_parts_end(j, chunk, &parts->calls[j->depth - 1]);
    for (size_t i = parts->inherited; i < parts->count && more; i++)
        call_parts_push(j, &parts->calls[i]);
    j->chunk = chunk;
    j->parts = parts;
    return more;
}

void call_parts_join(const struct session_file *file, const struct chunk_parts *parts, const uint32_t *order,
                     call_part_taker *take, void *context)
{
    struct call_joiner j = { .file = file, .take = take, .context = context };
    bool more = true;
    for (size_t i = 0; i < file->chunk_count && more; i++) {
        const struct trace_chunk *chunk = &file->chunks[order[i]];
        if (!parts[order[i]].read)
            continue;
        if (j.chunk && (j.chunk->process != chunk->process || j.chunk->thread != chunk->thread)) {
            j.depth = 0;
            j.chunk = NULL;
        }
        more = call_parts_add_chunk(&j, chunk, &parts[order[i]]);
    }
    free(j.stack);
}
