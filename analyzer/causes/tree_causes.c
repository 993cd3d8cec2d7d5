/*
 * Reads the call trees and the sums of waits of a session of mode profile again. Each row becomes an entry of the list,
 * on the call path where filters leave it. The blocked time of a path is that of the report: rows get no more of it,
 * and what they leave becomes an entry of its own.
 */
#include "causes/tree_causes.h"

#include <stdlib.h>

#include "analysis/single_calls.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "causes/cause_threads.h"
#include "profile/trees.h"

struct tree_causes {
    struct wait_causes *causes;
    const struct analysis *loaded;
    struct tree_waits *waits, *others; /* of the selected threads, and of all: the same without a selection */
    struct profile *paths;             /* as recorded, without the probes' time as in reports; without filters, also
                                        * the waiting profile */
    uint32_t *places;                  /* by node of `paths`: the node of the waiting profile, or PROFILE_NONE */
    uint32_t *other_places;            /* the same for all threads and the acting profile */
    uint32_t *threads;                 /* by node of `paths`: place in its list of threads */
    uint64_t *left;                    /* by node of `paths`: blocked ticks that belong to no entry yet */
    size_t room;                       /* for entries */
};

static uint32_t *tree_causes_threads(const struct profile *p)
{
    uint32_t *threads = need_memory(p->node_count + 1, sizeof *threads);
    for (size_t i = 0; i < p->thread_count; i++)
        threads[p->threads[i].root] = (uint32_t)i;
    for (uint32_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE)
            threads[i] = threads[p->nodes[i].parent];
    return threads;
}

/* ---- sessions without rows ---- */

static struct caused_wait tree_causes_path(const struct profile *p, const uint32_t *threads, uint32_t node)
{
    const struct profile_thread *t = &p->threads[threads[node]];
    const uint64_t blocked = p->nodes[node].blocked;
    return (struct caused_wait){
        .wait.place = { .process = t->process, .thread = t->thread, .node = node },
        .ticks = blocked,
        .count = 1,
        .longest = blocked,
        .node = PROFILE_NONE,
        .act = PROFILE_NONE,
    };
}

static void tree_causes_take_paths(struct wait_causes *c, const struct analysis *analysis)
{
    const struct profile *p = c->waiting = analysis->profile;
    uint32_t *threads = tree_causes_threads(p);
    c->waiting_names = analysis->names;
    c->list = need_memory(p->node_count + 1, sizeof *c->list);
    for (uint32_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE && p->nodes[i].blocked)
            c->list[c->count++] = tree_causes_path(p, threads, i);
    free(threads);
}

/* ---- profiles ---- */

/* Leaves calls out as the options say. Returns `p` itself if they say nothing. */
static struct profile *tree_causes_filter(const struct analysis *analysis, struct profile *p, uint32_t *places)
{
    if (!call_filters_any(&analysis->request.filters)) {
        for (uint32_t i = 0; i < p->node_count; i++)
            places[i] = i;
        return p;
    }
    struct function_name *names = names_find(analysis->file, p);
    struct profile *shown = call_filters_apply_tree(&analysis->request.filters, p, names, places);
    names_free(names, p->function_count);
    return shown;
}

/* The acting calls of the whole session, which is read again if a part is selected. */
static void tree_causes_read_all(struct tree_causes *t)
{
    const struct analysis *analysis = t->loaded;
    struct wait_causes *c = t->causes;
    t->others = t->waits;
    t->other_places = t->places;
    c->acting = c->waiting;
    c->acting_names = c->waiting_names;
    if (!analysis->selection)
        return;
    t->others = tree_waits_new(analysis->file);
    struct profile *all = trees_profile_with_waits(analysis->file, NULL, t->others);
    t->other_places = need_memory(all->node_count + 1, sizeof *t->other_places);
    c->acting = c->own_acting = tree_causes_filter(analysis, all, t->other_places);
    c->acting_names = c->own_acting_names = names_find(analysis->file, c->acting);
    if (c->acting != all)
        profile_free(all);
}

static void tree_causes_read(struct tree_causes *t)
{
    const struct analysis *analysis = t->loaded;
    struct wait_causes *c = t->causes;
    t->waits = tree_waits_new(analysis->file);
    t->paths = trees_profile_with_waits(analysis->file, analysis->selection, t->waits);
    if (!analysis->raw) {
        size_t count;
        struct probe_cost *costs = single_calls_list_costs(analysis->file, &count);
        overhead_subtract(t->paths, costs, count, false);
        free(costs);
    }
    t->places = need_memory(t->paths->node_count + 1, sizeof *t->places);
    c->waiting = c->own_waiting = tree_causes_filter(analysis, t->paths, t->places);
    c->waiting_names = c->own_waiting_names = names_find(analysis->file, c->waiting);
    tree_causes_read_all(t);
    t->threads = tree_causes_threads(t->paths);
    t->left = need_memory(t->paths->node_count + 1, sizeof *t->left);
    for (size_t i = 0; i < t->paths->node_count; i++)
        t->left[i] = t->paths->nodes[i].blocked;
}

/* ---- entries ---- */

/* Adds an entry on the path that filters leave, unless they discard it. NULL if it is not shown. */
static struct caused_wait *tree_causes_add(struct tree_causes *t, uint32_t node, const struct caused_wait *w)
{
    struct wait_causes *c = t->causes;
    const uint32_t place = t->places[node];
    const bool root = place == PROFILE_NONE || c->waiting->nodes[place].parent == PROFILE_NONE;
    if (!w->ticks || place == PROFILE_NONE || root != w->rest || !causes_is_below_root(t->loaded, c->waiting, place))
        return NULL;
    GROW(c->list, c->count, t->room);
    struct caused_wait *added = &c->list[c->count++];
    *added = *w;
    added->node = added->act = PROFILE_NONE;
    added->wait.place.node = place;
    return added;
}

static uint32_t tree_causes_acting(const struct tree_causes *t, uint32_t node)
{
    return node == PROFILE_NONE ? PROFILE_NONE : t->other_places[node];
}

static void tree_causes_find_cause(const struct tree_causes *t, struct caused_wait *w, const struct tid_list *tids,
                                   uint32_t holder_node)
{
    uint64_t time;
    if (!causes_name_thread(w, tids, &time))
        return;
    w->node = tree_causes_acting(t, w->cause == CAUSE_HOLDER ? tree_waits_find_node(t->others, w->thread, holder_node)
                                                             : tree_waits_find_top(t->others, w->thread));
}

static void tree_causes_add_row(struct tree_causes *t, const struct tree_wait *from, const struct tid_list *tids)
{
    const struct dwell_wait_row *row = &from->row;
    const uint64_t ticks = smaller(row->blocked, t->left[from->node]);
    struct caused_wait w = {
        .wait = {
            .place = { row->first_time, row->last_time, from->process, from->thread, from->node },
            .blocked = ticks,
            .id = row->id,
            .holder = row->holder,
            .kind = row->kind,
            .gave_up = row->role == DWELL_ROLE_GAVE_UP,
            .room = row->role == DWELL_ROLE_WAITED_FOR_ROOM,
            .left = row->first_time,
            .back = row->last_time,
        },
        .ticks = ticks,
        .count = row->waits,
        .longest = smaller(row->longest, ticks),
    };
    t->left[from->node] -= ticks;
    struct caused_wait *added = tree_causes_add(t, from->node, &w);
    if (added)
        tree_causes_find_cause(t, added, tids, row->holder_node);
}

/* By thread of `paths`: the row of the waits without rows of their own; NULL if there is none. */
static const struct tree_wait **tree_causes_rests(const struct tree_causes *t)
{
    const struct tree_wait **rests = need_memory(t->paths->thread_count + 1, sizeof *rests);
    for (size_t i = 0; i < t->waits->count; i++)
        if (!t->waits->list[i].row.node)
            rests[t->threads[t->waits->list[i].node]] = &t->waits->list[i];
    return rests;
}

/* The time that rows leave is that of the waits without rows. Without those, it is one wait: the last one, which the
 * thread's end has cut, or during which it was killed. */
static void tree_causes_add_rests(struct tree_causes *t)
{
    const struct profile *p = t->paths;
    const struct tree_wait **rests = tree_causes_rests(t);
    uint64_t *ticks = need_memory(p->thread_count + 1, sizeof *ticks);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct tree_wait *rest = rests[t->threads[i]];
        struct caused_wait w = tree_causes_path(p, t->threads, i);
        w.ticks = w.longest = w.wait.blocked = t->left[i];
        if (rest)
            ticks[t->threads[i]] += t->left[i];
        else
            tree_causes_add(t, i, &w);
    }
    for (size_t i = 0; i < p->thread_count; i++) {
        if (!rests[i])
            continue;
        struct caused_wait w = tree_causes_path(p, t->threads, p->threads[i].root);
        w.ticks = w.wait.blocked = ticks[i];
        w.count = rests[i]->row.waits;
        w.longest = smaller(rests[i]->row.longest, ticks[i]);
        w.rest = true;
        t->causes->rest += w.count;
        tree_causes_add(t, p->threads[i].root, &w);
    }
    free(ticks);
    free(rests);
}

void tree_causes_find(struct wait_causes *c, const struct analysis *analysis)
{
    struct tree_causes t = { .causes = c, .loaded = analysis };
    if (!(analysis->file->header.also & DWELL_ALSO_CAUSES)) {
        tree_causes_take_paths(c, analysis);
        return;
    }
    tree_causes_read(&t);
    c->counted = true;
    struct tid_list tids = tid_list_of(analysis->file);
    for (size_t i = 0; i < t.waits->count; i++)
        if (t.waits->list[i].row.node)
            tree_causes_add_row(&t, &t.waits->list[i], &tids);
    tree_causes_add_rests(&t);
    tid_list_drop(&tids);
    if (t.others != t.waits) {
        tree_waits_free(t.others);
        free(t.other_places);
    }
    tree_waits_free(t.waits);
    if (c->waiting != t.paths)
        profile_free(t.paths);
    free(t.places);
    free(t.threads);
    free(t.left);
}
