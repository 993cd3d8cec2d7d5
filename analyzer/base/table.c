#include "base/table.h"

#include <stdlib.h>

#include "base/memory.h"

enum { FIRST_SLOTS = 256 };

struct table_index *table_new(void)
{
    struct table_index *table = need_memory(1, sizeof *table);
    table->slots = need_memory(FIRST_SLOTS, sizeof *table->slots);
    table->mask = FIRST_SLOTS - 1;
    return table;
}

void table_free(struct table_index *table)
{
    free(table->slots);
    free(table);
}

static void table_grow(struct table_index *table)
{
    struct table_slot *old = table->slots;
    size_t count = table->mask + 1;
    table->slots = need_memory(count * 2, sizeof *table->slots);
    table->mask = count * 2 - 1;
    for (size_t i = 0; i < count; i++)
        if (old[i].value_plus_1)
            *table_find(table, old[i].key, old[i].second) = old[i];
    free(old);
}

void table_set(struct table_index *table, struct table_slot *slot, uint64_t key, uint32_t second, uint32_t value)
{
    *slot = (struct table_slot){ key, second, value + 1 };
    if (++table->used * 2 > table->mask)
        table_grow(table);
}
