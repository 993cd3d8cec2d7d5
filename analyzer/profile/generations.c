/* The generations of a module map: the times at which an address can begin to mean another function. */
#include "profile/generations.h"

static const uint64_t SPREAD = 0x9e3779b97f4a7c15; /* odd, with bits everywhere */

void generations_begin(struct generations *g, const struct trace_process *process)
{
    g->changes = process ? process->changes : NULL;
    g->count = process ? process->change_count : 0;
    g->begin_at = UINT64_MAX; /* none is current */
    g->next_at = 0;
}

void generations_find(struct generations *g, uint64_t time)
{
    size_t low = 0, high = g->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (g->changes[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    g->current = (uint32_t)low;
    g->key = (uint64_t)low << 48 ^ ((uint64_t)low >> 16) * SPREAD;
    g->begin_at = low > 0 ? g->changes[low - 1] : 0;
    g->next_at = low < g->count ? g->changes[low] : UINT64_MAX;
}
