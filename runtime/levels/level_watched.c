/* Watched functions whose exits are checked at once. */
#include "levels/level_watched.h"

#include "level_table.h"

uint64_t level_watched[LEVEL_WATCHED_PLACES];

void level_watched_remove(uint64_t function)
{
    if (level_watch_at(function))
        __atomic_store_n(&level_watched[function / 16 % LEVEL_WATCHED_PLACES], 0, __ATOMIC_RELEASE);
}

void level_watched_settle(const struct level_slot *slot)
{
    if (!slot->watch || slot->state != LEVEL_TIMED)
        level_watched_remove(slot->function);
    else if (slot->function >> (64 - LEVEL_WATCH_BITS) == 0)
        __atomic_store_n(&level_watched[slot->function / 16 % LEVEL_WATCHED_PLACES],
                         slot->function << LEVEL_WATCH_BITS | slot->watch, __ATOMIC_RELEASE);
}
