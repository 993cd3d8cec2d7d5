/* When calls are counted in place, and when there are too many threads for that. */
#include "levels/level_places.h"

#include "helper.h"
#include "levels/counts.h"

bool level_places_open(struct level_module *m)
{
    bool any = false, all = true;
    if (!m->tries || !counts_may_open()) {
        m->tries -= m->tries && helper_is_here();
        return false;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        const struct level_slot *slot = level_table_find(levels_table, m->functions[i]);
        if (slot->wanted != LEVEL_COUNTED || counts_is_open(slot->number))
            continue;
        const bool opened = counts_open(slot->number);
        any |= opened;
        all &= opened || counts_is_closed(slot->number);
    }
    m->tries = all ? 0 : m->tries - 1;
    return any;
}

static bool level_has_places(const struct level_module *m)
{
    for (uint32_t i = 0; i < m->sites.count; i++)
        if (m->sites.list[i].form == CALL_IN_PLACE && !m->sites.list[i].strange)
            return true;
    return false;
}

static bool level_places_left;

bool level_places_are_crowded(void)
{
    return counts_are_closing() && !level_places_left;
}

bool level_places_leave(struct level_module *first)
{
    bool any = false;
    counts_leave();
    for (struct level_module *m = first; m; m = m->next) {
        if (level_has_places(m))
            level_module_leave_places(m);
        any |= level_has_places(m);
    }
    if (any || level_places_left)
        return !any;
    level_places_left = true;
    counts_close();
    return true;
}
