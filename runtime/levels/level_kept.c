/* The levels of functions in libraries that were unloaded. Addresses are kept as offsets, as the library may come to
 * another place. */
#include "levels/level_kept.h"

#include "sys.h"

struct level_kept {
    struct level_kept *next;
    struct text build_id, path; /* kept permanently */
    uint64_t patterns;          /* see struct level_module */
    uint32_t count;
    struct leveled_function functions[]; /* by offsets */
};

static struct level_kept *level_kept_list;

static size_t level_kept_size(uint32_t count)
{
    return sizeof(struct level_kept) + count * sizeof(struct leveled_function);
}

/* Takes the module's levels out of the list. NULL if there are none. */
static struct level_kept *level_kept_remove(const struct level_module *m)
{
    struct level_kept **place = &level_kept_list;
    while (*place && !(text_is_same((*place)->build_id, m->build_id) && text_is_same((*place)->path, m->path)))
        place = &(*place)->next;
    struct level_kept *found = *place;
    if (found)
        *place = found->next;
    return found;
}

void level_kept_put(const struct level_module *m)
{
    struct level_kept *old = level_kept_remove(m),
                      *made = m->count || m->patterns ? sys_memory(level_kept_size(m->count)) : NULL;
    if (old)
        sys_unmap(old, level_kept_size(old->count));
    if (!made)
        return;
    *made = (struct level_kept){ level_kept_list, m->build_id, m->path, m->patterns, m->count };
    for (uint32_t i = 0; i < m->count; i++) {
        const struct level_slot *slot = level_table_find(levels_table, m->functions[i]);
        made->functions[i] = (struct leveled_function){
            .function = m->functions[i] - m->info.dlpi_addr,
            .level = slot->hidden ? LEVEL_TIMED : (enum level)slot->wanted,
        };
    }
    level_kept_list = made;
}

bool level_kept_take(struct level_module *m)
{
    struct level_kept *kept = level_kept_remove(m);
    if (!kept)
        return false;
    for (uint32_t i = 0; i < kept->count; i++)
        level_module_want(m, m->info.dlpi_addr + kept->functions[i].function, kept->functions[i].level);
    m->patterns = kept->patterns;
    sys_unmap(kept, level_kept_size(kept->count));
    return true;
}
