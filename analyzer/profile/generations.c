/* The generations of a module map: the times at which an address can begin to mean another function. */
#include "profile/generations.h"

#include "base/sorted.h"

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
    const size_t place = LOWER_BOUND(change, g->changes, g->count, *change <= time);
    g->current = (uint32_t)place;
    g->key = (uint64_t)place << 48 ^ ((uint64_t)place >> 16) * SPREAD;
    g->begin_at = place > 0 ? g->changes[place - 1] : 0;
    g->next_at = place < g->count ? g->changes[place] : UINT64_MAX;
}
