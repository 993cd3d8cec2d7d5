/*
 * Watched functions (keep_calls.h) that have a place, where the checks of their exits find the watch at once. All calls
 * of such a function are timed. Another function of the same place has none, and is found in the table.
 */
#ifndef DWELL_LEVELS_LEVEL_WATCHED_H
#define DWELL_LEVELS_LEVEL_WATCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct level_slot;

enum { LEVEL_WATCHED_PLACES = 512, LEVEL_WATCH_BITS = 8 };
_Static_assert(DWELL_KEEP_WATCHES < 1 << LEVEL_WATCH_BITS, "a place has room for a watch");

/* The function's address, and the watch below it: one word, so that a thread never sees parts of two. Changed under the
 * levels' lock. */
extern uint64_t level_watched[LEVEL_WATCHED_PLACES];

/* The function gets its place if it is watched and timed, or loses it. */
void level_watched_settle(const struct level_slot *slot);
void level_watched_remove(uint64_t function);

/* Zero if it has no place. Any thread, any time. */
static ALWAYS_INLINE uint32_t level_watch_at(uint64_t function)
{
    const uint64_t word = __atomic_load_n(&level_watched[function / 16 % LEVEL_WATCHED_PLACES], __ATOMIC_ACQUIRE);
    return LIKELY(word >> LEVEL_WATCH_BITS == function) ? word & ((1u << LEVEL_WATCH_BITS) - 1) : 0;
}

#pragma GCC visibility pop

#endif
