/* The session gets each change, as for other functions. */
#include "levels/level_library.h"

#include "clock.h"
#include "filter.h"
#include "levels/call_stubs.h"
#include "levels/level_records.h"
#include "process.h"
#include "runtime.h"

bool level_library_use(struct level_slot *slot)
{
    const uint32_t level = slot->wanted;
    if (runtime.process->levels.ended || !call_stubs_set_level(slot->function, (enum level)level, slot->number))
        return false;
    __atomic_store_n(&slot->state, level, __ATOMIC_RELEASE);
    if (level == slot->seen || slot->hidden)
        return true;
    slot->seen = level;
    level_records_add(slot->function, (enum level)level, clock_now(runtime.clock));
    return true;
}

void level_library_watch(const struct level_slot *slot)
{
    call_stubs_watch(slot->function, slot->watch != 0);
}

/* Another library may have been at that address before. Functions that filters hide are out, as in level_module.c. */
void level_library_begin(uint64_t function, uint32_t identity)
{
    const struct level_table *table = levels_table;
    struct level_slot *slot = table ? level_table_find(table, function) : NULL;
    if (slot && slot->identity == identity) {
        level_library_use(slot);
        level_library_watch(slot);
    } else if (filter_settings.hidden_out && filter_hides(function) && !runtime.process->levels.ended) {
        call_stubs_set_level(function, LEVEL_OUT, 0);
    }
}
