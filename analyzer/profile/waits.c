/* Collects waits and the acts that end them from the intervals of threads, and finds the open calls at given times. */
#include "profile/waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"

int wait_compare_queries(const void *a, const void *b)
{
    const struct wait_query *x = a, *y = b;
    return ORDER_BY(x, y, thread, time);
}

static void waits_add_wait(struct waits *w, const struct profile_wait *wait)
{
    if (w->acts_only || (!wait->blocked && !wait->spun))
        return;
    GROW(w->list, w->count, w->room);
    w->list[w->count++] = *wait;
}

static void waits_add_act(struct waits *w, const struct profile_wait *wait, uint64_t left, unsigned role)
{
    const struct wait_place *place = &wait->place;
    GROW(w->acts, w->act_count, w->act_room);
    w->acts[w->act_count++] = (struct profile_act){
        .begin = place->begin,
        .end = place->end,
        .left = left,
        .id = wait->id,
        .process = place->process,
        .thread = place->thread,
        .node = place->node,
        .kind = wait->kind,
        .room = wait->room,
        .all = role == DWELL_ROLE_ACTED_ON_ALL,
        .took = role == DWELL_ROLE_TOOK,
        .blocked = wait->blocked > 0,
    };
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
static struct profile_wait waits_take(const struct wait_place *place, uint64_t wanted, uint64_t *blocked)
{
    const struct profile_wait wait = { .place = *place, .blocked = smaller(wanted, *blocked) };
    *blocked -= wait.blocked;
    return wait;
}

static bool waits_is_of_wait(const struct decoded_object *object)
{
    return object->role == DWELL_ROLE_WAITED || object->role == DWELL_ROLE_WAITED_FOR_ROOM ||
           object->role == DWELL_ROLE_GAVE_UP;
}

static bool waits_is_act(const struct decoded_object *object)
{
    return object->role == DWELL_ROLE_ACTED || object->role == DWELL_ROLE_ACTED_ON_ALL ||
           object->role == DWELL_ROLE_MADE_ROOM || object->role == DWELL_ROLE_TOOK ||
           (object->kind == DWELL_OBJECT_BARRIER && object->role == DWELL_ROLE_WAITED);
}

/* A thread that did not sleep at a barrier may have waited for the others all the same: threads of OpenMP look for a
 * while before they sleep. Only paths along waits follow that. The last one to arrive needs little of its processor's
 * time, even if another thread was to run instead. */
static void waits_note_spin(const struct waits *w, struct profile_wait *wait, const struct decoded_object *object,
                            uint64_t preempted)
{
    if (!w->acts_too || object->kind != DWELL_OBJECT_BARRIER || !waits_is_of_wait(object) || wait->blocked)
        return;
    wait->spun = wait->room || less(wait->place.end - wait->place.begin, preempted) > w->spin;
    if (wait->spun)
        wait->left = wait->left_last = wait->place.begin;
}

static struct profile_wait waits_of_object(const struct wait_place *place, const struct decoded_object *object,
                                           uint64_t *blocked)
{
    const bool waited = waits_is_of_wait(object);
    struct profile_wait wait = waits_take(place, waited ? object->blocked : 0, blocked);
    wait.gave_up = object->role == DWELL_ROLE_GAVE_UP;
    wait.room = object->role == DWELL_ROLE_WAITED_FOR_ROOM || object->role == DWELL_ROLE_MADE_ROOM;
    wait.kind = (uint8_t)object->kind;
    wait.id = object->id;
    wait.holder = object->holder;
    return wait;
}

/* A call that waits for a condition variable also acts on its mutex. That object follows. */
static void waits_link_mutex(struct waits *w, size_t before, const struct decoded_object *object)
{
    if (object->kind == DWELL_OBJECT_MUTEX && waits_is_act(object) && before < w->count &&
        w->list[w->count - 1].kind == DWELL_OBJECT_CONDITION)
        w->list[w->count - 1].mutex = object->id;
}

void waits_add(struct waits *w, const struct wait_place *place, const struct decoded_extras *extras, uint64_t blocked)
{
    const size_t before = w->count;
    struct waits_off off = waits_off_of(place, extras);
    struct decoded_object object;
    for (const uint8_t *at = extras->run; extras->objects && decode_object(extras, &at, &object);) {
        struct profile_wait wait = waits_of_object(place, &object, &blocked);
        waits_take_off(&off, &wait, at);
        waits_link_mutex(w, before, &object);
        if ((w->acts_only || w->acts_too) && waits_is_act(&object))
            waits_add_act(w, &wait, waits_is_of_wait(&object) ? wait.left : off.first, object.role);
        waits_note_spin(w, &wait, &object, extras->preempted);
        waits_add_wait(w, &wait);
    }
    struct profile_wait rest = waits_take(place, blocked, &blocked);
    rest.faulted = extras->page_faults > 0;
    waits_take_off(&off, &rest, extras->run_end);
    waits_add_wait(w, &rest);
}

static size_t waits_seek_query(const struct waits *w, uint32_t thread, uint64_t time)
{
    const struct wait_query wanted = { .thread = thread, .time = time };
    return LOWER_BOUND(query, w->queries, w->query_count, wait_compare_queries(query, &wanted) < 0);
}

void waits_begin_chunk(struct waits *w, uint32_t thread, uint64_t start)
{
    w->next_query = waits_seek_query(w, thread, start);
}

bool waits_ask(const struct waits *w, uint32_t thread, uint64_t begin, uint64_t end)
{
    const size_t next = waits_seek_query(w, thread, begin);
    return next < w->query_count && w->queries[next].thread == thread && w->queries[next].time < end;
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

/* Adds `more` to the list and frees it. Lists may be large: the first one is taken as it is. */
static void *waits_join(void *list, size_t *count, void *more, size_t more_count, size_t size)
{
    if (!*count) {
        free(list);
        *count = more_count;
        return more;
    }
    char *joined = need_more(list, *count + more_count, size);
    if (more_count)
        memcpy(joined + *count * size, more, more_count * size);
    *count += more_count;
    free(more);
    return joined;
}

void waits_merge(struct waits *into, struct waits *from, const uint32_t *nodes)
{
    for (size_t i = 0; i < from->count; i++)
        from->list[i].place.node = nodes[from->list[i].place.node];
    for (size_t i = 0; i < from->act_count; i++)
        from->acts[i].node = nodes[from->acts[i].node];
    for (size_t i = 0; i < from->answer_count; i++)
        from->answers[i].node = nodes[from->answers[i].node];
    into->list = waits_join(into->list, &into->count, from->list, from->count, sizeof *into->list);
    into->acts = waits_join(into->acts, &into->act_count, from->acts, from->act_count, sizeof *into->acts);
    into->answers =
        waits_join(into->answers, &into->answer_count, from->answers, from->answer_count, sizeof *into->answers);
    into->room = into->count;
    into->act_room = into->act_count;
    into->answer_room = into->answer_count;
    from->list = NULL;
    from->acts = NULL;
    from->answers = NULL;
    from->count = from->room = from->act_count = from->act_room = from->answer_count = from->answer_room = 0;
}

void waits_drop(struct waits *w)
{
    free(w->list);
    free(w->acts);
    free(w->answers);
}
