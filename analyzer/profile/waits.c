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
    const bool wanted = (w->acts_only || w->acts_too) && wait->acts;
    if (!wanted && (w->acts_only || !wait->blocked))
        return;
    GROW(w->list, w->count, w->room);
    w->list[w->count++] = *wait;
}

/* An interval's times off the CPU, one after the other. */
struct waits_off {
    const struct decoded_extras *extras;
    const uint8_t *at; /* after the last one that was taken */
    uint64_t begin, end, first;
};

static struct waits_off waits_off_of(const struct wait_place *place, const struct decoded_extras *extras)
{
    struct waits_off o = { extras, extras->run, place->begin, place->end, place->end };
    const uint8_t *at = extras->run;
    struct decoded_off_cpu off;
    if (decode_off_cpu(extras, place->end, &at, &off))
        o.first = larger(off.begin, place->begin);
    return o;
}

/* Takes those that are recorded before `until`. */
static void waits_take_off(struct waits_off *o, struct profile_wait *wait, const uint8_t *until)
{
    struct decoded_off_cpu off;
    wait->left = wait->left_last = wait->back = o->end;
    for (const uint8_t *at = o->at; decode_off_cpu(o->extras, o->end, &at, &off) && at <= until; o->at = at) {
        if (off.preempted)
            continue;
        wait->left_last = larger(off.begin, o->begin);
        wait->left = smaller(wait->left, wait->left_last);
        wait->back = smaller(off.begin + off.length, o->end);
    }
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

static bool waits_is_of_wait(const struct decoded_object *object)
{
    return object->role == DWELL_ROLE_WAITED || object->role == DWELL_ROLE_WAITED_FOR_ROOM ||
           object->role == DWELL_ROLE_GAVE_UP;
}

static struct profile_wait waits_of_object(const struct wait_place *place, const struct decoded_object *object,
                                           uint64_t *blocked, uint64_t *own)
{
    const bool waited = waits_is_of_wait(object);
    struct profile_wait wait = waits_take(place, waited ? object->blocked : 0, blocked, own);
    wait.gave_up = object->role == DWELL_ROLE_GAVE_UP;
    wait.room = object->role == DWELL_ROLE_WAITED_FOR_ROOM || object->role == DWELL_ROLE_MADE_ROOM;
    wait.acts = object->role == DWELL_ROLE_ACTED || object->role == DWELL_ROLE_MADE_ROOM ||
                object->kind == DWELL_OBJECT_BARRIER;
    wait.kind = (uint8_t)object->kind;
    wait.id = object->id;
    wait.holder = object->holder;
    return wait;
}

/* A call that waits for a condition variable also acts on its mutex. That object follows. */
static void waits_link_mutex(struct waits *w, size_t before, const struct profile_wait *wait)
{
    if (wait->kind == DWELL_OBJECT_MUTEX && wait->acts && before < w->count &&
        w->list[w->count - 1].kind == DWELL_OBJECT_CONDITION)
        w->list[w->count - 1].mutex = wait->id;
}

void waits_add(struct waits *w, const struct wait_place *place, const struct decoded_extras *extras, uint64_t blocked,
               uint64_t own)
{
    const size_t before = w->count;
    struct waits_off off = waits_off_of(place, extras);
    struct decoded_object object;
    for (const uint8_t *at = extras->run; extras->objects && decode_object(extras, &at, &object);) {
        struct profile_wait wait = waits_of_object(place, &object, &blocked, &own);
        waits_take_off(&off, &wait, at);
        if (!waits_is_of_wait(&object))
            wait.left = off.first;
        waits_link_mutex(w, before, &wait);
        waits_add_one(w, &wait);
    }
    struct profile_wait rest = waits_take(place, blocked, &blocked, &own);
    waits_take_off(&off, &rest, extras->run_end);
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
