#include "levels/level_seen.h"

#include "clock.h"
#include "level_table.h"
#include "levels/level_records.h"
#include "runtime.h"

void level_see_changes(struct level_module *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        struct level_slot *slot = level_table_find(levels_table, m->functions[i]);
        const uint32_t level = slot->state & LEVEL_MASK;
        if (level == slot->seen || slot->hidden)
            continue;
        slot->seen = level;
        level_records_add(slot->function, (enum level)level, clock_now(runtime.clock));
    }
}
