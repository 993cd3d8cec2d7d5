/* Keeps how long the calls of some functions took, by run, host, build or day, and fills columns from that. */
#include "fleet/part_percentiles.h"

#include <stdlib.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/numbers.h"

bool part_percentiles_are_wanted(const struct fleet_settings *settings)
{
    return shared_options_of_load(&settings->shared).durations;
}

struct part_percentiles part_percentiles_begin(const struct fleet_settings *settings, const struct fleet_runs *runs)
{
    struct part_percentiles p = { .places = index_new(), .limited = shared_options_of_load(&settings->shared).limits };
    for (size_t i = 0; i < runs->count; i++)
        p.estimated |= (runs->list[i].knows & FLEET_KNOWS_CHOSEN_DURATIONS) != 0;
    return p;
}

void part_percentiles_drop(struct part_percentiles *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->list[i].durations);
    free(p->list);
    index_free(p->places);
}

void part_percentiles_say(const struct fleet_runs *runs)
{
    size_t known = 0;
    for (size_t i = 0; i < runs->count; i++)
        known += (runs->list[i].knows & FLEET_KNOWS_DURATIONS) != 0;
    if (known < runs->count)
        say("fleet: percentiles are those of %zu of the %s: the others were pushed without durations of calls", known,
            COUNTED(runs->count, "run"));
}

struct part_calls *part_percentiles_find(const struct part_percentiles *p, uint64_t key, uint32_t function)
{
    const struct index_slot *slot = index_find(p->places, key, function);
    return slot->value_plus_1 ? &p->list[slot->value_plus_1 - 1] : NULL;
}

struct part_calls *part_percentiles_add(struct part_percentiles *p, uint64_t key, uint32_t function)
{
    struct index_slot *slot = index_find(p->places, key, function);
    if (slot->value_plus_1)
        return &p->list[slot->value_plus_1 - 1];
    index_set(p->places, slot, key, function, (uint32_t)p->count);
    GROW(p->list, p->count, p->room);
    p->list[p->count] = (struct part_calls){ .least = UINT64_MAX };
    return &p->list[p->count++];
}

void part_calls_limit(struct part_calls *calls, const struct fleet_part *part)
{
    calls->least = smaller(calls->least, part->least);
    calls->most = larger(calls->most, part->most);
}

void part_calls_join(struct part_calls *calls, const struct durations *d)
{
    durations_merge(&calls->durations, d);
}

/* The middle of a counter can be beyond the shortest and the longest call. */
uint64_t part_calls_percentile(const struct part_percentiles *p, const struct part_calls *calls, double percent)
{
    uint64_t ns;
    durations_percentiles(calls->durations, &percent, &ns, 1);
    return p->limited && calls->least <= calls->most ? larger(smaller(ns, calls->most), calls->least) : ns;
}

void part_percentiles_fill(const struct part_percentiles *p, const struct part_calls *calls, struct cell *cells)
{
    static const double percents[] = { 50, 90, 99 };
    enum { PERCENTS = sizeof percents / sizeof *percents };
    for (size_t i = 0; calls && calls->durations && i < PERCENTS; i++) {
        cell_number(&cells[i], part_calls_percentile(p, calls, percents[i]));
        cells[i].estimated = p->estimated || calls->durations->estimated;
    }
    if (calls && calls->least <= calls->most)
        cell_number(&cells[PERCENTS], calls->most);
}
