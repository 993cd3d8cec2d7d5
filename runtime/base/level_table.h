/* The table of functions whose level is not timed, or was not. Probes read it at any time. */
#ifndef DWELL_LEVELS_LEVEL_TABLE_H
#define DWELL_LEVELS_LEVEL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "common.h"
#include "level.h"

#pragma GCC visibility push(hidden)

/* The state of a function is its level, and one of these bits while that changes. */
enum level_state {
    LEVEL_MASK = 0xff,
    LEVEL_LEAVING = 0x100,   /* calls that were timed may still be open; calls below them are timed, too */
    LEVEL_RETURNING = 0x200, /* its exits are called again, its enters are not yet */
    LEVEL_FRESH = 0x400,     /* LEAVING since this round of changes */
    LEVEL_NESTED = 0x800,    /* timed calls may be open; calls below them have the level (level_nested.h) */
};

struct level_slot {
    uint64_t function; /* zero while the slot is free; stored last */
    uint32_t state;
    uint32_t wanted;     /* enum level */
    uint32_t module;     /* number of the module that lists the function */
    uint32_t generation; /* LEAVING: threads that have seen this one begin no more timed calls */
    uint32_t open;       /* number of the last look at the threads' stacks that found a call open */
    uint32_t number;     /* of its counter, if it is or was counted */
    uint32_t seen;       /* enum level of the last change that was recorded */
    bool hidden;         /* by a filter: its levels are no matter of the session */
    bool unsure;         /* its exits do not tell which call has ended: see level_nested_find */
    uint32_t code;       /* that has an enter of it: a number while level_nested_find runs */
    uint32_t watch;      /* the exits are watched (keep_calls.h); zero if they are not */
    uint8_t values;      /* a bit for each enum hook whose calls read values (value_probe.h) */
    uint32_t identity;   /* of the module that they are about: the same whenever it is loaded */
};

struct level_table {
    uint64_t mask, used;
    struct level_slot slots[];
};

extern struct level_table *levels_table; /* NULL if all functions were always timed */

/* The function's slot, or NULL. Any thread, any time. */
struct level_slot *level_table_find(const struct level_table *table, uint64_t function);

/* The same, made if there is none. NULL without memory. Under the levels' lock. */
struct level_slot *level_table_need(uint64_t function);

/* The slot of a function that is or was not timed, or NULL. Any thread, any time. */
static inline const struct level_slot *levels_slot(uint64_t function)
{
    const struct level_table *table = __atomic_load_n(&levels_table, __ATOMIC_ACQUIRE);
    return UNLIKELY(table != NULL) ? level_table_find(table, function) : NULL;
}

static inline uint32_t level_state_of(const struct level_slot *slot)
{
    return slot ? __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) : LEVEL_TIMED;
}

static inline uint32_t levels_state(uint64_t function)
{
    return level_state_of(levels_slot(function));
}

#pragma GCC visibility pop

#endif
