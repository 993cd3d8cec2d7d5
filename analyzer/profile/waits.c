/* Collects waits and the acts that end them from the intervals of threads, and finds the open calls at given times. */
#include "profile/waits.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"

int wait_compare_queries(const void *a, const void *b)
{
    const struct wait_query *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

static void waits_add_one(struct waits *w, const struct profile_wait *wait)
{
    if (w->acts_only ? !wait->acts : !wait->blocked)
        return;
    GROW(w->list, w->count, w->room);
    w->list[w->count++] = *wait;
}

/* Takes a wait's part of what is left of the interval's blocked time. */
static struct profile_wait waits_take(const struct wait_place *place, uint64_t wanted, uint64_t *blocked, uint64_t *own)
{
    struct profile_wait wait = { .place = *place, .blocked = smaller(wanted, *blocked) };
    wait.own = smaller(wait.blocked, *own);
    *blocked -= wait.blocked;
    *own -= wait.own;
    return wait;
}

void waits_add(struct waits *w, const struct wait_place *place, const struct decoded_extras *extras, uint64_t blocked,
               uint64_t own)
{
    struct decoded_object object;
    for (const uint8_t *at = extras->run; extras->objects && decode_object(extras, &at, &object);) {
        const bool waited = object.role == DWELL_ROLE_WAITED || object.role == DWELL_ROLE_WAITED_FOR_ROOM;
        struct profile_wait wait = waits_take(place, waited ? object.blocked : 0, &blocked, &own);
        wait.room = object.role == DWELL_ROLE_WAITED_FOR_ROOM || object.role == DWELL_ROLE_MADE_ROOM;
        wait.acts = object.role == DWELL_ROLE_ACTED || object.role == DWELL_ROLE_MADE_ROOM ||
                    object.kind == DWELL_OBJECT_BARRIER;
        wait.kind = (uint8_t)object.kind;
        wait.id = object.id;
        wait.holder = object.holder;
        waits_add_one(w, &wait);
    }
    const struct profile_wait rest = waits_take(place, blocked, &blocked, &own);
    waits_add_one(w, &rest);
}

void waits_begin_chunk(struct waits *w, uint32_t thread, uint64_t start)
{
    const struct wait_query wanted = { .thread = thread, .time = start };
    size_t low = 0, high = w->query_count;
    while (low < high) { /* the first query that is not before the chunk */
        const size_t middle = low + (high - low) / 2;
        if (wait_compare_queries(&w->queries[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    w->next_query = low;
}

void waits_answer(struct waits *w, const struct wait_place *place)
{
    while (w->next_query < w->query_count) {
        const struct wait_query *query = &w->queries[w->next_query];
        if (query->thread != place->thread || query->time >= place->end)
            return;
        GROW(w->answers, w->answer_count, w->answer_room);
        w->answers[w->answer_count++] = (struct wait_answer){ query->number, place->node };
        w->next_query++;
    }
}

void waits_merge(struct waits *into, const struct waits *from, const uint32_t *nodes)
{
    for (size_t i = 0; i < from->count; i++) {
        GROW(into->list, into->count, into->room);
        into->list[into->count] = from->list[i];
        into->list[into->count++].place.node = nodes[from->list[i].place.node];
    }
    for (size_t i = 0; i < from->answer_count; i++) {
        GROW(into->answers, into->answer_count, into->answer_room);
        into->answers[into->answer_count++] =
            (struct wait_answer){ from->answers[i].number, nodes[from->answers[i].node] };
    }
}

void waits_drop(struct waits *w)
{
    free(w->list);
    free(w->answers);
}
