/* Stubs that count a call: one for each number of a counter, in memory near a module's code. */
#ifndef DWELL_LEVELS_COUNT_STUBS_H
#define DWELL_LEVELS_COUNT_STUBS_H

#include <stdbool.h>
#include <stdint.h>

#include "levels/hook_places.h"

#pragma GCC visibility push(hidden)

struct count_stubs {
    char *at; /* NULL if there are none */
    uint32_t size;
    uint32_t first, count; /* numbers */
};

/* Makes the stubs of `count` counters from the number `first` on. Where a thread has no page for its counter, a stub
 * jumps to `slow` with the probe's arguments. Makes none if the machine has no such stubs, or there is no memory for
 * code near the module. The caller drops them when no call leads there. */
void count_stubs_make(struct count_stubs *stubs, const struct hook_places *places, uint32_t first, uint32_t count,
                      void (*slow)(void *, void *));

void count_stubs_drop(struct count_stubs *stubs);

/* Writes one such stub in MACHINE_STUB_BYTES. The caller makes them executable. */
void count_stubs_write_one(void *at, uint32_t number, void (*slow)(void *, void *));

/* The address of a counter's stub; zero if there is none. */
uint64_t count_stubs_find(const struct count_stubs *stubs, uint32_t number);

#pragma GCC visibility pop

#endif
