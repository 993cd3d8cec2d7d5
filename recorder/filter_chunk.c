/* Writes chunks that list functions by module (docs/format.md). */
#include "recorder/filter_chunk.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

enum { LONGEST_PATTERN = 1 << 20 /* bytes */ };

static size_t filter_chunk_module_size(const struct filter_chunk_module *m)
{
    const size_t texts = (sizeof(struct dwell_filter_module) + m->build_id_length + strlen(m->path) + 7) & ~(size_t)7;
    return texts + m->count * sizeof(struct dwell_filter);
}

static void filter_chunk_put_module(char *at, const struct filter_chunk_module *m)
{
    const struct dwell_filter_module head = {
        .size = (uint32_t)filter_chunk_module_size(m),
        .functions = (uint32_t)m->count,
        .build_id_length = (uint32_t)m->build_id_length,
        .path_length = (uint32_t)strlen(m->path),
    };
    memcpy(at, &head, sizeof head);
    if (m->build_id_length)
        memcpy(at + sizeof head, m->build_id, m->build_id_length);
    memcpy(at + sizeof head + m->build_id_length, m->path, strlen(m->path));
    if (m->count)
        memcpy(at + head.size - m->count * sizeof *m->functions, m->functions, m->count * sizeof *m->functions);
}

uint64_t filter_chunk_size(const struct filter_chunk_module *modules, size_t count, const char *pattern)
{
    size_t size = sizeof(struct dwell_filters) + (pattern ? strlen(pattern) : 0);
    for (size_t i = 0; i < count; i++)
        size += filter_chunk_module_size(&modules[i]);
    return (size + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
}

bool filter_chunk_put(struct dwell_filters *head, const struct filter_chunk_module *modules, size_t count,
                      const char *pattern, const struct session *session, int fd, uint64_t offset)
{
    const uint32_t size = head->chunk.size;
    char *chunk = session_map(session, fd, offset, size);
    if (!chunk)
        return false;
    head->chunk.magic = DWELL_CHUNK_MAGIC;
    head->modules = (uint32_t)count;
    head->pattern_length = pattern ? (uint32_t)strlen(pattern) : 0;
    char *at = chunk + sizeof *head;
    for (size_t i = 0; i < count; i++) {
        filter_chunk_put_module(at, &modules[i]);
        at += filter_chunk_module_size(&modules[i]);
    }
    if (pattern)
        memcpy(at, pattern, head->pattern_length);
    memcpy(chunk, head, sizeof *head);
    munmap(chunk, size);
    return true;
}

uint64_t filter_chunk_write(struct dwell_filters *head, const struct filter_chunk_module *modules, size_t count,
                            const char *pattern, const struct session *session, int fd)
{
    const uint64_t size = filter_chunk_size(modules, count, pattern);
    const uint64_t offset = size <= DWELL_CHUNK_LARGEST ? session_claim(session, fd, (uint32_t)size) : 0;
    head->chunk.size = (uint32_t)size;
    return offset && filter_chunk_put(head, modules, count, pattern, session, fd, offset) ? offset : 0;
}

char *filter_chunk_read_pattern(int fd, uint64_t offset, uint32_t *level, uint64_t *before)
{
    struct dwell_filters head;
    if (pread(fd, &head, sizeof head, (off_t)offset) != sizeof head || head.chunk.magic != DWELL_CHUNK_MAGIC ||
        head.chunk.kind != DWELL_CHUNK_LEVELS || !head.pattern_length || head.pattern_length > LONGEST_PATTERN)
        return NULL;
    uint64_t at = offset + sizeof head;
    for (uint32_t i = 0; i < head.modules; i++) {
        struct dwell_filter_module m;
        if (pread(fd, &m, sizeof m, (off_t)at) != sizeof m || m.size < sizeof m)
            return NULL;
        at += m.size;
    }
    char *pattern = need_memory(head.pattern_length + 1, 1);
    if (pread(fd, pattern, head.pattern_length, (off_t)at) == (ssize_t)head.pattern_length) {
        *level = head.actions;
        *before = head.chunk.link;
        return pattern;
    }
    free(pattern);
    return NULL;
}
