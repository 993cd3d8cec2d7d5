/* Numbers that are as good as random, and the same in each run. */
#ifndef DWELL_CAUSES_WHY_RANDOM_H
#define DWELL_CAUSES_WHY_RANDOM_H

#include <stdint.h>

/* Each number has an own one, whose bits look random. */
static inline uint64_t why_mix(uint64_t number)
{
    uint64_t mixed = number + 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
    return mixed ^ mixed >> 31;
}

/* The next one of a series. *state may begin with any number. */
static inline uint64_t why_random(uint64_t *state)
{
    const uint64_t number = why_mix(*state);
    *state += 0x9e3779b97f4a7c15U;
    return number;
}

#endif
