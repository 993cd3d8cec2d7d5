/*
 * Finds what ended each wait. The first pass over the session collects the waits of the selected part. The second one
 * covers the whole session: it collects the acts that may have ended waits, and what holders and joined threads had
 * open. wait_acts.c finds which act ended which wait.
 */
#include "causes/wait_causes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/single_calls.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "causes/cause_threads.h"
#include "causes/sum_causes.h"
#include "causes/tree_causes.h"
#include "causes/wait_acts.h"
#include "profile/collect.h"
#include "profile/subtree.h"

/* ---- causes that the object itself names ---- */

static struct wait_query *causes_ask(struct wait_causes *c, const struct tid_list *tids, size_t *count)
{
    struct wait_query *queries = need_memory(c->count + 1, sizeof *queries);
    *count = 0;
    for (size_t i = 0; i < c->all_count; i++) {
        uint64_t time;
        if (causes_name_thread(&c->list[i], tids, &time) && i < c->count)
            queries[(*count)++] = (struct wait_query){ c->list[i].thread, time, (uint32_t)i };
    }
    qsort(queries, *count, sizeof *queries, wait_compare_queries);
    return queries;
}

/* ---- causes by acts ---- */

static void causes_take_act(struct caused_wait *w, const struct wait_acts *acts, size_t number)
{
    const struct profile_act *act = wait_acts_find(acts, &w->wait, number);
    const struct profile_act *unlock = wait_acts_find_unlock(acts, &w->wait);
    const struct profile_act *waker = unlock ? unlock : act;
    const struct lock_end end = wait_acts_find_end(acts, &w->wait, act);
    if (end.thread && !end.unsure) {
        causes_set_waker(w, end.thread, end.time);
        w->cause = CAUSE_WAKER;
        w->thread = end.thread;
    }
    if (end.thread)
        return;
    if (waker && waker->begin < w->wait.back) {
        causes_set_waker(w, waker->thread, waker->left);
        w->act = waker->node;
        w->act_begin = waker->begin;
        w->act_end = waker->end;
    }
    if (!act || w->cause != CAUSE_NONE)
        return;
    w->cause = CAUSE_WAKER;
    w->thread = act->thread;
    w->node = act->node;
}

/* Where no act on the lock is recorded, its holder kept it until the wait ended. If events are missing during the wait,
 * another thread may have held it since. */
static void causes_take_holder(struct caused_wait *w, const struct wait_acts *acts)
{
    const struct profile_wait *wait = &w->wait;
    if (w->cause == CAUSE_HOLDER && !wait->gave_up && !wait_acts_may_lack(acts, wait))
        causes_set_waker(w, w->thread, wait->back);
}

/* ---- makers of threads ---- */

static int causes_compare_origins(const void *a, const void *b)
{
    const struct thread_origin *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

/* A call that makes a thread or a child acts on it. */
static void causes_find_origins(struct wait_causes *c, const struct tid_list *tids, const struct waits *acts)
{
    size_t room = 0;
    for (size_t i = 0; i < acts->act_count; i++) {
        const struct profile_act *act = &acts->acts[i];
        if (act->kind != DWELL_OBJECT_THREAD && act->kind != DWELL_OBJECT_CHILD)
            continue;
        const struct trace_thread *t = tid_list_find_next(tids, (uint32_t)act->id, act->begin);
        if (!t || t->serial == act->thread)
            continue;
        GROW(c->origins, c->origin_count, room);
        c->origins[c->origin_count++] =
            (struct thread_origin){ t->serial, act->thread, smaller(act->left, t->start_time) };
    }
    if (c->origin_count)
        qsort(c->origins, c->origin_count, sizeof *c->origins, causes_compare_origins);
}

/* ---- causes of all waits ---- */

/* Finds what ended each wait by the acts, which have been read. */
static void causes_take_acts(struct wait_causes *c, struct wait_acts *acts, const struct tid_list *tids,
                             const struct session_file *file)
{
    struct waits *waits = &acts->waits;
    causes_find_origins(c, tids, waits);
    wait_acts_match(acts, file, c->list, c->all_count);
    for (size_t i = 0; i < c->all_count; i++) {
        causes_take_holder(&c->list[i], acts);
        causes_take_act(&c->list[i], acts, i);
    }
}

static void causes_find_all(struct wait_causes *c, const struct analysis *analysis, unsigned jobs)
{
    struct wait_acts acts = wait_acts_begin(analysis->file);
    acts.waits.acts_only = true;
    struct waits *waits = &acts.waits;
    struct tid_list tids = tid_list_of(analysis->file);
    struct wait_query *queries = causes_ask(c, &tids, &waits->query_count);
    waits->queries = queries;
    c->acting = c->own_acting = collect_waits(analysis->file, jobs, NULL, waits);
    c->acting_names = c->own_acting_names = names_find(analysis->file, c->acting);
    for (size_t i = 0; i < waits->answer_count; i++)
        c->list[waits->answers[i].number].node = waits->answers[i].node;
    causes_take_acts(c, &acts, &tids, analysis->file);
    wait_acts_drop(&acts);
    tid_list_drop(&tids);
    free(queries);
}

/* ---- waits ---- */

static struct caused_wait causes_new_wait(const struct profile_wait *wait)
{
    return (struct caused_wait){ .wait = *wait,
                                 .ticks = wait->blocked,
                                 .count = 1,
                                 .longest = wait->blocked,
                                 .node = PROFILE_NONE,
                                 .act = PROFILE_NONE };
}

bool causes_is_below_root(const struct analysis *analysis, const struct profile *p, uint32_t node)
{
    if (!analysis->selection || !analysis->selection->roots)
        return true;
    for (; p->nodes[node].parent != PROFILE_NONE; node = p->nodes[node].parent)
        if (selection_is_root(analysis->selection,
                              profile_find_same_function(analysis->profile, p, p->nodes[node].function)))
            return true;
    return false;
}

/* Reports leave out time outside of all functions. Critical paths of the whole session have it. */
static void causes_keep_waits(struct wait_causes *c, const struct analysis *analysis, const struct waits *waits)
{
    size_t hidden = waits->count;
    c->list = need_memory(waits->count + 1, sizeof *c->list);
    for (size_t i = 0; i < waits->count; i++) {
        const struct profile_wait *w = &waits->list[i];
        if (w->blocked && c->waiting->nodes[w->place.node].parent != PROFILE_NONE &&
            causes_is_below_root(analysis, c->waiting, w->place.node))
            c->list[c->count++] = causes_new_wait(w);
        else
            c->list[--hidden] = causes_new_wait(w);
    }
    c->all_count = analysis->selection ? c->count : waits->count;
}

struct wait_causes wait_causes_find(const struct analysis *analysis)
{
    struct wait_causes c = { .counted = analysis->file->header.mode != DWELL_MODE_PROFILE };
    const unsigned jobs = analysis_jobs(analysis);
    if (analysis->file->sums.summed_count) {
        sum_causes_find(&c, analysis);
        c.all_count = c.count;
        return c;
    }
    if (!c.counted) {
        tree_causes_find(&c, analysis);
        c.all_count = c.count;
        return c;
    }
    struct waits waits = { .acts_only = false };
    c.waiting = c.own_waiting = collect_waits(analysis->file, jobs, analysis->selection, &waits);
    c.waiting_names = c.own_waiting_names = names_find(analysis->file, c.waiting);
    causes_keep_waits(&c, analysis, &waits);
    waits_drop(&waits);
    if (analysis->file->header.also & DWELL_ALSO_CAUSES)
        causes_find_all(&c, analysis, jobs);
    return c;
}

/* ---- only who ended waits ---- */

struct wait_causes wait_causes_find_wakers(const struct analysis *analysis)
{
    struct wait_causes c = { .counted = true };
    const bool known = analysis->file->header.also & DWELL_ALSO_CAUSES;
    struct wait_acts acts = wait_acts_begin(analysis->file);
    acts.waits.acts_too = true;
    acts.waits.spin = acts.close;
    struct waits *waits = &acts.waits;
    struct tid_list tids = tid_list_of(analysis->file);
    uint64_t time;
    c.waiting = c.own_waiting = collect_waits(analysis->file, analysis_jobs(analysis), NULL, waits);
    c.list = need_memory(waits->count + 1, sizeof *c.list);
    for (; c.count < waits->count; c.count++) {
        c.list[c.count] = causes_new_wait(&waits->list[c.count]);
        if (known)
            causes_name_thread(&c.list[c.count], &tids, &time);
    }
    c.all_count = c.count;
    free(waits->list);
    waits->list = NULL;
    waits->count = 0;
    if (known)
        causes_take_acts(&c, &acts, &tids, analysis->file);
    wait_acts_drop(&acts);
    tid_list_drop(&tids);
    return c;
}

/* ---- few call paths ---- */

static void causes_drop_paths(struct wait_causes *c)
{
    if (c->own_waiting_names)
        names_free(c->own_waiting_names, c->own_waiting->function_count);
    if (c->own_acting_names)
        names_free(c->own_acting_names, c->own_acting->function_count);
    if (c->own_waiting)
        profile_free(c->own_waiting);
    if (c->own_acting)
        profile_free(c->own_acting);
    c->waiting = c->acting = c->own_waiting = c->own_acting = NULL;
    c->waiting_names = c->acting_names = c->own_waiting_names = c->own_acting_names = NULL;
}

/* The paths that are set in `kept`, and those above them. *nodes gets their new numbers. */
static struct profile *causes_keep_paths(const struct profile *p, bool *kept, uint32_t **nodes)
{
    struct profile *few = profile_new();
    subtree_keep_callers(p, kept);
    *nodes = profile_add_kept_nodes(few, p, kept);
    return few;
}

void wait_causes_shrink(struct wait_causes *c)
{
    const bool known = c->acting, apart = known && c->acting != c->waiting;
    bool *waiting = need_memory(c->waiting->node_count + 1, 1);
    bool *acting = apart ? need_memory(c->acting->node_count + 1, 1) : waiting;
    for (size_t i = 0; i < c->count; i++) {
        waiting[c->list[i].wait.place.node] = true;
        if (c->list[i].node != PROFILE_NONE)
            acting[c->list[i].node] = true;
    }
    uint32_t *places, *acting_places;
    struct profile *paths = causes_keep_paths(c->waiting, waiting, &places), *others = NULL;
    acting_places = places;
    if (apart)
        others = causes_keep_paths(c->acting, acting, &acting_places);
    for (size_t i = 0; i < c->count; i++) {
        struct caused_wait *w = &c->list[i];
        w->wait.place.node = places[w->wait.place.node];
        w->node = w->node == PROFILE_NONE ? PROFILE_NONE : acting_places[w->node];
        w->act = PROFILE_NONE;
    }
    causes_drop_paths(c);
    c->waiting = c->own_waiting = paths;
    c->own_acting = others;
    c->acting = apart ? others : known ? paths : NULL;
    c->all_count = c->count;
    free(places);
    free(waiting);
    if (apart) {
        free(acting_places);
        free(acting);
    }
}

void wait_causes_drop(struct wait_causes *c)
{
    causes_drop_paths(c);
    free(c->list);
    free(c->origins);
}
