/* Keeps the times of functions by chunk, of as many chunks as there is room for. */
#include "profile/path_memory.h"

#include <stdlib.h>

#include "base/memory.h"

enum { MOST_FUNCTIONS = 1 << 17 /* of all chunks: 4 MB, of which only what is used takes memory */ };

struct path_memory {
    struct path_chunk *chunks;
    struct path_remembered *room;
    size_t used;
};

struct path_memory *path_memory_new(const struct session_file *file)
{
    struct path_memory *m = need_memory(1, sizeof *m);
    m->chunks = need_memory(file->chunk_count + 1, sizeof *m->chunks);
    m->room = need_memory(MOST_FUNCTIONS, sizeof *m->room);
    return m;
}

void path_memory_free(struct path_memory *m)
{
    free(m->chunks);
    free(m->room);
    free(m);
}

struct path_chunk *path_memory_add(struct path_memory *m, size_t chunk, size_t count)
{
    struct path_chunk *c = &m->chunks[chunk];
    if (count > MOST_FUNCTIONS)
        return NULL;
    const size_t before = __atomic_fetch_add(&m->used, count, __ATOMIC_RELAXED);
    if (before > MOST_FUNCTIONS - count)
        return NULL;
    c->list = m->room + before;
    c->count = count;
    return c;
}

const struct path_chunk *path_memory_find(const struct path_memory *m, size_t chunk)
{
    return m->chunks[chunk].list ? &m->chunks[chunk] : NULL;
}
