/* Counts how often each time of a call occurs. */
#include "profile/call_spread.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"

enum { MIN_SLOTS = 16 };

static struct histogram_step *call_spread_find(const struct call_spread *s, uint64_t value)
{
    size_t at = (size_t)(value * 0x9e3779b97f4a7c15u >> 32) & s->mask;
    while (s->slots[at].count && s->slots[at].value != value)
        at = (at + 1) & s->mask;
    return &s->slots[at];
}

static void call_spread_count(struct call_spread *s, uint64_t value, uint64_t times);

/* Counts all values anew in a table of so many slots. */
static void call_spread_rebuild(struct call_spread *s, size_t room)
{
    struct histogram_step *before = s->slots;
    const size_t count = before ? s->mask + 1 : 0;
    s->slots = need_memory(room, sizeof *s->slots);
    s->mask = room - 1;
    s->used = 0;
    for (size_t i = 0; i < count; i++)
        if (before[i].count)
            call_spread_count(s, before[i].value, before[i].count);
    free(before);
}

/* Needs a free slot. */
static void call_spread_count(struct call_spread *s, uint64_t value, uint64_t times)
{
    struct histogram_step *slot = call_spread_find(s, s->rounded ? histogram_round(value) : value);
    s->used += slot->count == 0;
    slot->value = s->rounded ? histogram_round(value) : value;
    slot->count += times;
}

static void call_spread_make_room(struct call_spread *s)
{
    if (!s->rounded && s->used > HISTOGRAM_EXACT) {
        s->rounded = true;
        call_spread_rebuild(s, s->mask + 1);
    }
    if (!s->slots || s->used > s->mask / 2)
        call_spread_rebuild(s, s->slots ? 2 * (s->mask + 1) : MIN_SLOTS);
}

static void call_spread_count_all(struct call_spread *s, uint64_t ticks, uint64_t times)
{
    if (s->count == 0 || ticks < s->least)
        s->least = ticks;
    if (ticks > s->greatest)
        s->greatest = ticks;
    s->count += times;
    if (!s->slots)
        call_spread_make_room(s);
    const size_t used = s->used;
    call_spread_count(s, ticks, times);
    if (s->used != used)
        call_spread_make_room(s);
}

/* So the array takes at most a few bytes for each byte of the session. */
void call_spread_add_times(struct call_spread *s, uint64_t ticks, uint64_t times, int128 sum)
{
    call_spread_count_all(s, ticks, times);
    s->sum += sum;
    if (!s->small && s->count >= CALL_SPREAD_SMALL)
        s->small = need_memory(CALL_SPREAD_SMALL, sizeof *s->small);
}

void call_spread_finish(struct call_spread *s)
{
    for (size_t i = 0; s->small && i < CALL_SPREAD_SMALL; i++)
        if (s->small[i])
            call_spread_count_all(s, i, s->small[i]);
    free(s->small);
    s->small = NULL;
}

/* Whether values are rounded depends on their number only, not on their order. */
void call_spread_merge(struct call_spread *into, struct call_spread *from)
{
    call_spread_finish(into);
    call_spread_finish(from);
    if (from->count == 0)
        return;
    const uint64_t least = into->count && into->least < from->least ? into->least : from->least;
    const uint64_t greatest = into->greatest > from->greatest ? into->greatest : from->greatest;
    if (from->rounded && !into->rounded && into->slots) {
        into->rounded = true;
        call_spread_rebuild(into, into->mask + 1);
    }
    into->rounded |= from->rounded;
    for (size_t i = 0; i <= from->mask; i++)
        if (from->slots[i].count)
            call_spread_count_all(into, from->slots[i].value, from->slots[i].count);
    into->least = least;
    into->greatest = greatest;
    into->sum += from->sum;
}

double call_spread_mean(const struct call_spread *s)
{
    const double sum = (double)s->sum / DWELL_PROBE_FRACTION;
    return s->count && sum > 0 ? sum / (double)s->count : 0;
}

static int call_spread_compare(const void *a, const void *b)
{
    const struct histogram_step *x = a, *y = b;
    return ORDER_BY(x, y, value);
}

struct histogram call_spread_histogram(const struct call_spread *s)
{
    struct histogram h = { 0 };
    h.steps = need_memory(s->used + 1, sizeof *h.steps);
    for (size_t i = 0; s->slots && i <= s->mask; i++)
        if (s->slots[i].count)
            h.steps[h.step_count++] = s->slots[i];
    if (h.step_count)
        qsort(h.steps, h.step_count, sizeof *h.steps, call_spread_compare);
    h.step_room = s->used + 1;
    h.count = s->count;
    h.least = s->least;
    h.greatest = s->greatest;
    h.rounded = s->rounded;
    return h;
}

void call_spread_drop(struct call_spread *s)
{
    free(s->slots);
    free(s->small);
    *s = (struct call_spread){ 0 };
}
