/* Changes of functions that a command names by their module and offset. */
#include "levels/level_begin.h"
#include "levels/level_module.h"
#include "levels/levels.h"

struct level_named {
    struct text build_id, path;
    uint64_t offset;
    uint32_t to; /* a level, or a watch */
};

static uint32_t level_change_level(struct level_module *m, const void *context)
{
    const struct level_named *n = context;
    return level_module_is(m, n->build_id, n->path) &&
           level_module_want(m, m->info.dlpi_addr + n->offset, (enum level)n->to);
}

static uint32_t level_change_watch(struct level_module *m, const void *context)
{
    const struct level_named *n = context;
    return level_module_is(m, n->build_id, n->path) && level_module_watch(m, m->info.dlpi_addr + n->offset, n->to);
}

static uint32_t level_change_ask(struct level_module *m, const void *context)
{
    const struct level_named *n = context;
    const struct level_slot *slot = levels_slot(m->info.dlpi_addr + n->offset);
    return level_module_is(m, n->build_id, n->path) && slot && slot->module == m->number &&
           (slot->watch || slot->values);
}

static uint32_t level_change_values(struct level_module *m, const void *context)
{
    (void)context;
    level_begin_values(m);
    return 0;
}

uint32_t levels_set_in_module(struct text build_id, struct text path, uint64_t offset, enum level level)
{
    return levels_change(level_change_level, &(struct level_named){ build_id, path, offset, level });
}

uint32_t levels_that_stay_timed(struct text build_id, struct text path, uint64_t offset)
{
    return levels_change(level_change_ask, &(struct level_named){ build_id, path, offset, 0 });
}

uint32_t levels_watch_in_module(struct text build_id, struct text path, uint64_t offset, uint32_t watch)
{
    return levels_change(level_change_watch, &(struct level_named){ build_id, path, offset, watch });
}

void levels_read_values(void)
{
    levels_change(level_change_values, NULL);
}
