/* Counts how many calls took how long, and finds percentiles. */
#include "profile/durations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "base/units.h"
#include "dwell/format.h"
#include "profile/path_probes.h"

enum { FIRST_SLOTS = 4 };

static const uint64_t count_mask = ((uint64_t)1 << DURATION_COUNT_BITS) - 1;

/* The slot of a counter, or a free one. */
static uint64_t *durations_find(struct durations *d, uint64_t counter)
{
    uint64_t at = counter & d->mask;
    while (d->slots[at] && d->slots[at] >> DURATION_COUNT_BITS != counter + 1)
        at = (at + 1) & d->mask;
    return &d->slots[at];
}

static struct durations *durations_new(uint32_t slots)
{
    struct durations *d = need_memory(1, sizeof *d + slots * sizeof *d->slots);
    d->mask = slots - 1;
    return d;
}

/* Needs a free slot. */
static void durations_count(struct durations *d, uint64_t counter, uint64_t calls)
{
    uint64_t *slot = durations_find(d, counter);
    if (!*slot) {
        d->used++;
        *slot = (counter + 1) << DURATION_COUNT_BITS;
    }
    *slot += calls < count_mask - (*slot & count_mask) ? calls : count_mask - (*slot & count_mask);
}

/* Lets the table have a free slot after one more counter. */
static void durations_make_room(struct durations **d)
{
    struct durations *before = *d;
    if (before && before->used < before->mask - before->mask / 4)
        return;
    *d = durations_new(before ? 2 * (before->mask + 1) : FIRST_SLOTS);
    (*d)->sum = before ? before->sum : 0;
    (*d)->estimated = before && before->estimated;
    for (uint32_t i = 0; before && i <= before->mask; i++)
        if (before->slots[i])
            durations_count(*d, (before->slots[i] >> DURATION_COUNT_BITS) - 1, before->slots[i] & count_mask);
    free(before);
}

void durations_reserve(struct durations **d, uint64_t calls)
{
    enum { MOST_SLOTS = 32 };
    uint32_t slots = FIRST_SLOTS;
    while (slots < MOST_SLOTS && slots - slots / 4 < calls)
        slots *= 2;
    if (!*d)
        *d = durations_new(slots);
}

void durations_add(struct durations **d, uint64_t ticks, uint64_t calls, uint64_t sum)
{
    durations_make_room(d);
    (*d)->sum += sum;
    durations_count(*d, durations_counter(ticks), calls);
}

bool durations_add_counter(struct durations **d, uint64_t counter, uint64_t calls, uint64_t sum)
{
    if (counter >= DWELL_DURATION_COUNTERS || !calls || calls > count_mask)
        return false;
    durations_make_room(d);
    (*d)->sum += sum;
    durations_count(*d, counter, calls);
    return true;
}

void durations_set_call(struct durations **d, uint64_t ticks, uint64_t sum)
{
    free(*d);
    *d = NULL;
    durations_add(d, ticks, 1, sum);
}

void durations_merge(struct durations **into, const struct durations *from)
{
    for (uint32_t i = 0; from && i <= from->mask; i++)
        if (from->slots[i]) {
            durations_make_room(into);
            durations_count(*into, (from->slots[i] >> DURATION_COUNT_BITS) - 1, from->slots[i] & count_mask);
        }
    if (from && from->used && *into) {
        (*into)->sum += from->sum;
        (*into)->estimated |= from->estimated;
    }
}

void durations_move(struct durations **into, struct durations **from)
{
    if (*into) {
        durations_merge(into, *from);
        free(*from);
    } else {
        *into = *from;
    }
    *from = NULL;
}

uint64_t durations_middle(uint64_t counter)
{
    const uint64_t whole = (uint64_t)1 << DURATION_BITS;
    if (counter < 2 * whole)
        return counter;
    const uint64_t dropped = (counter >> DURATION_BITS) - 1, least = (whole + (counter & (whole - 1))) << dropped;
    return least + ((uint64_t)1 << dropped) / 2;
}

void durations_take_new(struct durations **now, struct durations **made)
{
    struct durations *fresh = NULL;
    for (uint32_t i = 0; *now && i <= (*now)->mask; i++) {
        const uint64_t slot = (*now)->slots[i];
        if (!slot)
            continue;
        const uint64_t counter = (slot >> DURATION_COUNT_BITS) - 1,
                       known = *made ? *durations_find(*made, counter) & count_mask : 0;
        const uint64_t calls = less(slot & count_mask, known);
        durations_add_counter(&fresh, counter, calls, durations_middle(counter) * calls * DWELL_PROBE_FRACTION);
    }
    durations_merge(made, fresh);
    free(*now);
    *now = fresh;
}

uint64_t durations_calls(const struct durations *d)
{
    uint64_t calls = 0;
    for (uint32_t i = 0; d && i <= d->mask; i++)
        calls += d->slots[i] & count_mask;
    return calls;
}

struct durations_counter *durations_counters(const struct durations *d, size_t *count)
{
    const size_t used = d ? d->used : 0;
    uint64_t *sorted = need_memory(used + 1, sizeof *sorted);
    struct durations_counter *counters = need_memory(used + 1, sizeof *counters);
    *count = 0;
    for (uint32_t i = 0; d && i <= d->mask; i++)
        if (d->slots[i])
            sorted[(*count)++] = d->slots[i];
    /* A counter's number is in the upper bits of its slot, so this is the order of durations. */
    qsort(sorted, *count, sizeof *sorted, compare_numbers);
    for (size_t i = 0; i < *count; i++)
        counters[i] = (struct durations_counter){ (sorted[i] >> DURATION_COUNT_BITS) - 1, sorted[i] & count_mask };
    free(sorted);
    return counters;
}

bool durations_are_one(const struct durations *d)
{
    return d && d->used == 1 && durations_calls(d) == 1;
}

struct durations_step *durations_list(const struct durations *d, size_t *count)
{
    struct durations_counter *counters = durations_counters(d, count);
    struct durations_step *steps = need_memory(*count + 1, sizeof *steps);
    for (size_t i = 0; i < *count; i++)
        steps[i] = (struct durations_step){ durations_middle(counters[i].counter), counters[i].calls };
    if (durations_are_one(d))
        steps[0].ticks = call_ticks(d->sum);
    free(counters);
    return steps;
}

/* Makes durations of what the middles of the counters become. */
static void durations_change(struct durations **d, uint64_t change(uint64_t ticks, const void *context),
                             const void *context)
{
    size_t count;
    struct durations *changed = NULL;
    struct durations_step *steps = durations_list(*d, &count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t ticks = change(steps[i].ticks, context);
        durations_add(&changed, ticks, steps[i].calls, ticks * steps[i].calls * DWELL_PROBE_FRACTION);
    }
    if (changed)
        changed->estimated = (*d)->estimated;
    free(steps);
    free(*d);
    *d = changed;
}

static uint64_t durations_to_ns(uint64_t ticks, const void *context)
{
    return ticks_to_ns(ticks, *(const uint64_t *)context);
}

void durations_scale(struct durations **d, uint64_t ticks_per_second)
{
    const uint64_t ns_per_second = 1000000000;
    if (*d && ticks_per_second != ns_per_second)
        durations_change(d, durations_to_ns, &ticks_per_second);
}

static uint64_t durations_kept_part(uint64_t ticks, const void *context)
{
    return (uint64_t)llround((double)ticks * (1 - *(const double *)context));
}

void durations_shorten(struct durations **d, double part)
{
    if (*d && part > 0)
        durations_change(d, durations_kept_part, &part);
}

static uint64_t durations_kept_rest(uint64_t ticks, const void *context)
{
    return (uint64_t)llround(fmax((double)ticks - *(const double *)context, 0));
}

void durations_lower(struct durations **d, double ticks)
{
    if (*d && ticks > 0)
        durations_change(d, durations_kept_rest, &ticks);
}

void durations_percentiles(const struct durations *d, const double *percents, uint64_t *ticks, size_t count)
{
    const uint64_t calls = durations_calls(d);
    memset(ticks, 0, count * sizeof *ticks);
    if (!calls)
        return;
    size_t used;
    uint64_t passed = 0;
    struct durations_step *steps = durations_list(d, &used);
    for (size_t i = 0, found = 0; i < used && found < count; i++) {
        passed += steps[i].calls;
        while (found < count && ((double)passed >= ceil((double)calls * percents[found] / 100) || i + 1 == used))
            ticks[found++] = steps[i].ticks;
    }
    free(steps);
}
