/* How long the calls of a function took: each duration once, with its calls. */
#include "causes/why_durations.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/sorted.h"

void why_durations_add(struct why_durations *d, uint64_t ticks, uint64_t calls)
{
    if (!d->places)
        d->places = index_new();
    struct index_slot *slot = index_find(d->places, ticks, 0);
    d->calls += calls;
    if (slot->value_plus_1) {
        d->list[slot->value_plus_1 - 1].calls += calls;
        return;
    }
    GROW(d->list, d->count, d->room);
    d->list[d->count] = (struct why_calls_of){ ticks, calls };
    index_set(d->places, slot, ticks, 0, (uint32_t)d->count++);
}

static int why_compare_durations(const void *a, const void *b)
{
    const struct why_calls_of *x = a, *y = b;
    return ORDER(x->ticks, y->ticks);
}

void why_durations_sort(struct why_durations *d)
{
    if (d->places)
        index_free(d->places);
    d->places = NULL;
    if (d->count)
        qsort(d->list, d->count, sizeof *d->list, why_compare_durations);
}

uint64_t why_durations_at(const struct why_durations *d, uint64_t rank)
{
    const struct why_calls_of *of = d->list;
    while (rank >= of->calls)
        rank -= of++->calls;
    return of->ticks;
}

void why_durations_drop(struct why_durations *d)
{
    if (d->places)
        index_free(d->places);
    free(d->list);
    *d = (struct why_durations){ .count = 0 };
}
