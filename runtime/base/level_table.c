/* The table of functions whose level is not timed, or was not: open addressing, without removals. A probe may be
 * reading an older table, so these stay mapped. All together are smaller than the newest one. */
#include "level_table.h"

#include <stddef.h>
#include <string.h>

#include "sys.h"

enum { FIRST_SLOTS = 64 };

struct level_table *levels_table;

static uint64_t level_table_first(const struct level_table *in, uint64_t function)
{
    return (function * 0x9e3779b97f4a7c15u >> 40) & in->mask;
}

struct level_slot *level_table_find(const struct level_table *table, uint64_t function)
{
    for (uint64_t i = level_table_first(table, function);; i = (i + 1) & table->mask) {
        const uint64_t at = __atomic_load_n(&table->slots[i].function, __ATOMIC_ACQUIRE);
        if (at == function)
            return (struct level_slot *)&table->slots[i];
        if (!at)
            return NULL;
    }
}

static struct level_slot *level_table_put(struct level_table *table, const struct level_slot *slot)
{
    uint64_t i = level_table_first(table, slot->function);
    while (table->slots[i].function)
        i = (i + 1) & table->mask;
    struct level_slot *made = &table->slots[i];
    const size_t rest = offsetof(struct level_slot, state); /* what comes before it is stored last */
    memcpy((char *)made + rest, (const char *)slot + rest, sizeof *slot - rest);
    __atomic_store_n(&made->function, slot->function, __ATOMIC_RELEASE);
    table->used++;
    return made;
}

/* Readers of the old table miss only functions that were added since they began. */
static struct level_table *level_table_grow(const struct level_table *old)
{
    const uint64_t slots = old ? 2 * (old->mask + 1) : FIRST_SLOTS;
    struct level_table *made = sys_memory(sizeof *made + slots * sizeof *made->slots);
    if (!made)
        return NULL;
    made->mask = slots - 1;
    for (uint64_t i = 0; old && i <= old->mask; i++)
        if (old->slots[i].function)
            level_table_put(made, &old->slots[i]);
    __atomic_store_n(&levels_table, made, __ATOMIC_RELEASE);
    return made;
}

struct level_slot *level_table_need(uint64_t function)
{
    struct level_table *table = levels_table;
    struct level_slot *slot = table ? level_table_find(table, function) : NULL;
    if (slot)
        return slot;
    if (!table || 2 * table->used > table->mask)
        table = level_table_grow(table);
    return table ? level_table_put(table, &(struct level_slot){ .function = function }) : NULL;
}
