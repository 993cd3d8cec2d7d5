/* Levels that another process sets: it writes a chunk with the functions, and sends its offset as a command. */
#include "levels/level_command.h"

#include <errno.h>
#include <stdlib.h>

#include "filter.h"
#include "filter_ask.h"
#include "keep_calls.h"
#include "levels/levels.h"
#include "process.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"
#include "value_plan.h"

enum { MAX_ANSWERS = 1024 };

/* What is to be done for each module of a levels chunk. */
typedef void level_take(void *context, const struct dwell_filter_module *m, struct text build_id, struct text path);

static void level_each_module(const struct dwell_filters *chunk, level_take *take, void *context)
{
    const char *at = (const char *)(chunk + 1);
    for (uint32_t i = 0; i < chunk->modules; i++) {
        const struct dwell_filter_module *m = (const struct dwell_filter_module *)at;
        const char *id = (const char *)(m + 1);
        take(context, m, (struct text){ id, m->build_id_length },
             (struct text){ id + m->build_id_length, m->path_length });
        at += m->size;
    }
}

/* ---- commands ---- */

struct level_command {
    uint32_t count, stay_timed; /* functions */
    uint64_t patterns;
};

static void level_set_function(struct level_command *c, struct text build_id, struct text path,
                               const struct dwell_filter *f)
{
    c->count += levels_set_in_module(build_id, path, f->offset, (enum level)f->action);
    if (f->action != LEVEL_TIMED)
        c->stay_timed += levels_that_stay_timed(build_id, path, f->offset);
}

static void level_set_module(void *context, const struct dwell_filter_module *m, struct text build_id, struct text path)
{
    struct level_command *c = context;
    const struct dwell_filter *f = filter_functions_of_module(m);
    for (uint32_t i = 0; i < m->functions; i++)
        if (f[i].action <= LEVEL_OUT)
            level_set_function(c, build_id, path, &f[i]);
    if (c->patterns)
        levels_have_patterns(build_id, path, c->patterns);
}

int level_command(const char *text, int fd, uint32_t *stay_timed)
{
    const uint64_t offset = strtoull(text, NULL, 10);
    const struct dwell_filters *chunk = filter_read_chunk(fd, offset, DWELL_CHUNK_LEVELS);
    __atomic_store_n(stay_timed, 0, __ATOMIC_RELAXED);
    if (!chunk)
        return -EINVAL;
    struct level_command c = { .patterns = chunk->pattern_length ? offset : 0 };
    level_each_module(chunk, level_set_module, &c);
    sys_unmap((void *)chunk, chunk->chunk.size);
    if (c.patterns)
        levels_ask_for_patterns();
    levels_try_to_settle();
    __atomic_store_n(stay_timed, c.stay_timed, __ATOMIC_RELAXED);
    return (int)c.count;
}

static void level_watch_module(void *context, const struct dwell_filter_module *m, struct text build_id,
                               struct text path)
{
    uint32_t *count = context;
    const struct dwell_filter *f = filter_functions_of_module(m);
    for (uint32_t i = 0; i < m->functions; i++) {
        const uint32_t watch = (f[i].action & DWELL_FILTER_KEEP) >> DWELL_FILTER_KEEP_SHIFT;
        if (watch <= keep_settings.watches)
            *count += levels_watch_in_module(build_id, path, f[i].offset, watch);
    }
}

int level_command_watch(const char *text, int fd)
{
    const struct dwell_filters *chunk =
        keep_settings.on ? filter_read_chunk(fd, strtoull(text, NULL, 10), DWELL_CHUNK_LEVELS) : NULL;
    uint32_t count = 0;
    if (!chunk)
        return -EINVAL;
    keep_read_more(fd);
    level_each_module(chunk, level_watch_module, &count);
    sys_unmap((void *)chunk, chunk->chunk.size);
    levels_try_to_settle();
    return (int)count;
}

int level_command_values(const char *text, int fd)
{
    if (!value_plan_add(fd, strtoull(text, NULL, 10)))
        return -EINVAL;
    levels_read_values();
    levels_try_to_settle();
    return 0;
}

/* ---- libraries that are loaded later ---- */

static uint64_t level_patterns; /* forked children have their parent's */

uint64_t level_command_patterns(void)
{
    const struct dwell_control *c = runtime.process->control.chunk;
    if (c)
        level_patterns = __atomic_load_n(&c->levels, __ATOMIC_ACQUIRE);
    return level_patterns;
}

void level_command_begin_process(void)
{
    struct dwell_control *c = runtime.process->control.chunk;
    if (c && level_patterns)
        __atomic_store_n(&c->levels, level_patterns, __ATOMIC_RELEASE);
}

struct level_answer {
    void (*set)(void *context, uint64_t offset, enum level level);
    void *context;
};

static void level_take_answer(void *context, const struct dwell_filter_module *m, struct text build_id,
                              struct text path)
{
    const struct level_answer *a = context;
    const struct dwell_filter *f = filter_functions_of_module(m);
    (void)build_id, (void)path;
    for (uint32_t i = 0; i < m->functions; i++)
        if (f[i].action <= LEVEL_OUT)
            a->set(a->context, f[i].offset, (enum level)f[i].action);
}

void level_command_ask(struct text build_id, struct text path,
                       void (*set)(void *context, uint64_t offset, enum level level), void *context)
{
    struct level_answer a = { set, context };
    uint64_t offset = filter_ask_levels(build_id, path);
    const int fd = offset ? session_reopen(&runtime.session, runtime.path) : -1;
    for (int i = 0; fd >= 0 && offset && i < MAX_ANSWERS; i++) {
        const struct dwell_filters *chunk = filter_read_chunk(fd, offset, DWELL_CHUNK_LEVELS);
        offset = chunk ? chunk->chunk.link : 0;
        if (!chunk)
            break;
        level_each_module(chunk, level_take_answer, &a);
        sys_unmap((void *)chunk, chunk->chunk.size);
    }
    if (fd >= 0)
        sys_close(fd);
}
