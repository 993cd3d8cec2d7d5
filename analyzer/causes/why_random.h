/* Numbers that are as good as random, and the same in each run, and the draws of permutation tests by them. */
#ifndef DWELL_CAUSES_WHY_RANDOM_H
#define DWELL_CAUSES_WHY_RANDOM_H

#include <stddef.h>
#include <stdint.h>

enum { WHY_DRAWS = 999 }; /* of a permutation test */

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

/* Draws the call of that place: one of those that `order` has from there on. It changes places with the drawn one. */
static inline size_t why_draw_call(uint64_t *state, size_t *order, size_t place, size_t count)
{
    const size_t other = place + (size_t)(why_random(state) % (count - place)), call = order[other];
    order[other] = order[place];
    order[place] = call;
    return call;
}

#endif
