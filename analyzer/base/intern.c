/* Numbers for byte strings: a list of the strings, and a hash table to find them. */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"

uint32_t intern(struct intern *all, const void *bytes, size_t length)
{
    if (!all->index)
        all->index = index_new();
    const uint64_t key = index_bytes_key(bytes, length);
    struct index_slot *slot = index_find(all->index, key, 0);
    const uint64_t first = slot->value_plus_1;
    for (uint64_t at = first; at; at = all->pieces[at - 1].next)
        if (all->pieces[at - 1].length == length && memcmp(all->pieces[at - 1].bytes, bytes, length) == 0)
            return (uint32_t)(at - 1);
    GROW(all->pieces, all->count, all->room);
    const uint32_t number = (uint32_t)all->count++;
    all->pieces[number] = (struct interned){ need_copy(bytes, length), length, first };
    if (first)
        slot->value_plus_1 = number + 1;
    else
        index_set(all->index, slot, key, 0, number);
    return number;
}

void intern_drop(struct intern *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->pieces[i].bytes);
    free(all->pieces);
    if (all->index)
        index_free(all->index);
    *all = (struct intern){ 0 };
}
