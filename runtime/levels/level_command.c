/* Levels that another process sets: it writes a chunk with the functions, and sends its offset as a command. */
#include "levels/level_command.h"

#include <errno.h>
#include <stdlib.h>

#include "filter.h"
#include "levels/levels.h"
#include "sys.h"

static bool level_module_fits(const struct dwell_filter_module *m, uint64_t room)
{
    if (room < sizeof *m || m->size < sizeof *m || m->size > room)
        return false;
    const uint64_t rest = m->size - sizeof *m;
    return m->functions <= rest / sizeof(struct dwell_filter) &&
           (uint64_t)m->build_id_length + m->path_length <= rest - m->functions * sizeof(struct dwell_filter);
}

static uint32_t level_set_module(const struct dwell_filter_module *m)
{
    const char *id = (const char *)(m + 1);
    const struct text build_id = { id, m->build_id_length }, path = { id + m->build_id_length, m->path_length };
    const struct dwell_filter *f = (const struct dwell_filter *)((const char *)m + m->size) - m->functions;
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->functions; i++)
        if (f[i].action <= LEVEL_OUT)
            count += levels_set_in_module(build_id, path, f[i].offset, (enum level)f[i].action);
    return count;
}

static uint32_t level_set_modules(const struct dwell_filters *chunk)
{
    const char *at = (const char *)(chunk + 1), *end = (const char *)chunk + chunk->chunk.size;
    uint32_t count = 0;
    for (uint32_t i = 0; i < chunk->modules; i++) {
        const struct dwell_filter_module *m = (const struct dwell_filter_module *)at;
        if (!level_module_fits(m, (uint64_t)(end - at)))
            break;
        count += level_set_module(m);
        at += m->size;
    }
    return count;
}

int level_command(const char *text, int fd)
{
    const uint64_t offset = strtoull(text, NULL, 10);
    struct dwell_chunk_header head;
    if (SYS4(pread64, fd, &head, sizeof head, offset) != (long)sizeof head || head.magic != DWELL_CHUNK_MAGIC ||
        head.kind != DWELL_CHUNK_LEVELS || head.size > DWELL_CHUNK_LARGEST)
        return -EINVAL;
    const struct dwell_filters *chunk = filter_read_chunk(fd, offset, head.size);
    if (!chunk)
        return -ENOMEM;
    const uint32_t count = level_set_modules(chunk);
    levels_try_to_settle();
    sys_unmap((void *)chunk, head.size);
    return (int)count;
}
