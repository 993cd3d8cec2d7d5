/* Direct calls in a module's code that are to lead to stubs (call_stubs.h), which are too far away for them. So each
 * leads to code near the module (near_code.h), and that to the stub. */
#ifndef DWELL_LEVELS_NEAR_CALLS_H
#define DWELL_LEVELS_NEAR_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "levels/hook_places.h"
#include "levels/probe_calls.h"

#pragma GCC visibility push(hidden)

/* What calls lead to. */
struct direct_target {
    uint64_t target, stub; /* no stub: zero */
    uint64_t jump;         /* the code near the module that calls lead to */
};

struct direct_call {
    uint64_t address;
    uint32_t target; /* its index */
};

struct near_ways;

/* The jumps of a module. */
struct direct_jumps {
    char *near; /* for all calls that one store can change */
    size_t size;
    struct near_ways *ways; /* not NULL: the code is in the program's own room (near_room.h) */
    struct direct_twin {    /* for the others, while several threads run: a jump to the same code */
        uint64_t target, jump;
    } * twins; /* each with pages of its own */
    uint32_t twin_count, twin_room;
};

/* Direct calls of a module, by address, and jumps that are last calls. */
struct direct_calls {
    const struct hook_places *places;
    struct direct_target *targets;
    const struct direct_call *list;
    uint32_t target_count, count;
};

/* Lets the calls lead to their stubs. Those that have other bytes than expected stay as they are. Returns how many
 * could not be changed. One thread at a time, with signals held back, under the code's lock. */
uint32_t direct_calls_change(struct direct_jumps *jumps, const struct direct_calls *calls);

/* Whether any of the calls leads to one of the jumps. */
bool direct_calls_are_changed(const struct direct_jumps *jumps, const struct direct_calls *calls);

/* Frees the jumps. No call leads there any more. */
void direct_jumps_drop(struct direct_jumps *jumps);

#pragma GCC visibility pop

#endif
