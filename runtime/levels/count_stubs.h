/* Stubs that count a call: one for each counted function of a module, in memory near its code. */
#ifndef DWELL_LEVELS_COUNT_STUBS_H
#define DWELL_LEVELS_COUNT_STUBS_H

#include <stdbool.h>
#include <stdint.h>

#include "levels/hook_places.h"
#include "levels/level.h"

#pragma GCC visibility push(hidden)

struct count_stubs {
    char *at; /* NULL if there are none */
    uint32_t size;
    uint32_t first; /* the function with the lowest number */
};

/* Makes the stubs of those of the module's functions that are counted. Where a thread has no page for its counter, a
 * stub jumps to `slow` with the probe's arguments. Makes none if the machine has no such stubs, or there is no memory
 * for code near the module. The caller drops them when no call leads there. */
void count_stubs_make(struct count_stubs *stubs, const struct hook_places *places,
                      const struct leveled_function *functions, uint32_t count, void (*slow)(void *, void *));

void count_stubs_drop(struct count_stubs *stubs);

/* The address of a function's stub; zero if there is none. */
uint64_t count_stubs_find(const struct count_stubs *stubs, uint32_t number);

#pragma GCC visibility pop

#endif
