/* Numbers for byte strings: a list of the strings, and a hash table to find them. */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"

static uint32_t intern_look_up(const struct intern *all, const struct index_slot *slot, const void *bytes,
                               size_t length)
{
    for (uint64_t at = slot->value_plus_1; at; at = all->pieces[at - 1].next)
        if (all->pieces[at - 1].length == length && memcmp(all->pieces[at - 1].bytes, bytes, length) == 0)
            return (uint32_t)(at - 1);
    return INTERN_NONE;
}

uint32_t intern_find(const struct intern *all, const void *bytes, size_t length)
{
    if (!all->index)
        return INTERN_NONE;
    return intern_look_up(all, index_find(all->index, index_bytes_key(bytes, length), 0), bytes, length);
}

uint32_t intern(struct intern *all, const void *bytes, size_t length)
{
    if (!all->index)
        all->index = index_new();
    const uint64_t key = index_bytes_key(bytes, length);
    struct index_slot *slot = index_find(all->index, key, 0);
    const uint64_t first = slot->value_plus_1;
    const uint32_t found = intern_look_up(all, slot, bytes, length);
    if (found != INTERN_NONE)
        return found;
    GROW(all->pieces, all->count, all->room);
    const uint32_t number = (uint32_t)all->count++;
    all->pieces[number] = (struct interned){ need_copy(bytes, length), length, first };
    if (first)
        slot->value_plus_1 = number + 1;
    else
        index_set(all->index, slot, key, 0, number);
    return number;
}

/* The text, a zero byte and the bytes. The caller frees it. */
static char *intern_join(const char *text, const void *bytes, size_t length, size_t *joined)
{
    const size_t own = strlen(text) + 1;
    char *both = need_memory(own + length, 1);
    memcpy(both, text, own);
    if (length)
        memcpy(both + own, bytes, length);
    *joined = own + length;
    return both;
}

uint32_t intern_pair(struct intern *all, const char *text, const void *bytes, size_t length)
{
    size_t joined;
    char *both = intern_join(text, bytes, length, &joined);
    const uint32_t number = intern(all, both, joined);
    free(both);
    return number;
}

uint32_t intern_find_pair(const struct intern *all, const char *text, const void *bytes, size_t length)
{
    size_t joined;
    char *both = intern_join(text, bytes, length, &joined);
    const uint32_t number = intern_find(all, both, joined);
    free(both);
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
