/*
 * Divides time by samples. A path with many samples is divided by its own. The others are divided together with all
 * such paths of the same function, as each has too few: otherwise the paths that happen to have no sample would keep
 * all their time. Parts are whole ticks, so all sums stay as they are.
 */
#include "profile/sampling.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/wide.h"
#include "profile/identify.h"
#include "profile/node_index.h"
#include "profile/node_order.h"
#include "profile/sample_sums.h"

enum {
    ENOUGH = 30,      /* samples of a path that is divided by its own */
    MAX_PARTS = 1000, /* of a group: samples of further routes count for the paths themselves */
};

#define ROUTE_TO_STUBS (UINT32_MAX - 1) /* no route: code that counts calls */

/* A function below a timed path: the functions that lead to it. */
struct sampling_route {
    uint32_t parent; /* PROFILE_NONE if it is directly below */
    uint32_t function;
};

/* Samples on a route, or of the path itself. */
struct sampling_part {
    uint32_t route; /* PROFILE_NONE: the path itself */
    struct sample_sum sum;
    uint64_t weight;   /* what is divided is in proportion to it */
    int128 carried[2]; /* what it lacks so far, in 1/all ticks: of the application time, and of the rest */
};

/* Paths that are divided together. */
struct sampling_group {
    struct sampling_part *parts;
    size_t count, room;
    struct sample_sum all;
    uint64_t weight; /* of all parts */
    uint64_t cpu;    /* ticks of its paths */
    size_t paths;
    uint64_t quantum; /* ticks */
};

struct sampling {
    struct profile *profile;
    bool raw;
    bool by_function;  /* samples are not known by path */
    size_t node_count; /* before nodes are added */
    uint32_t *order;   /* of these nodes: ticks that cannot be divided go to the first of equal parts */
    bool *timed;       /* by function: all its calls are in the session */
    uint32_t *anchors; /* by node: the timed path, itself or above it */
    uint32_t *route_of;
    struct sampling_route *routes;
    size_t route_count, route_room;
    struct number_index *route_table; /* (function, parent) */
    struct sampling_group *groups;
    size_t group_count, group_room;
    struct number_index *group_table; /* (path or function, which) */
    struct number_index *part_table;  /* (route + 1, group) */
};

static bool sampling_is_sampled(const struct profile_node *node)
{
    return node->site == PROFILE_SAMPLED;
}

/* ---- paths ---- */

bool *sampling_find_timed(const struct profile *p, const struct session_file *file)
{
    bool *timed = need_memory(p->function_count + 1, sizeof *timed);
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].function != PROFILE_NONE && !sampling_is_sampled(&p->nodes[i]))
            timed[p->nodes[i].function] = true;
    for (size_t i = 0; i < file->levels.change_count; i++) {
        const struct trace_level *level = &file->levels.changes[i];
        const struct trace_process *process = session_file_process(file, level->process);
        const uint32_t function = find_function(p, process, level->function, level->time);
        if (level->level != DWELL_PROBES_TIMED && function != PROFILE_NONE)
            timed[function] = false;
    }
    return timed;
}

/* A function whose calls are all recorded is sampled on the path of its caller only before its enter and after its
 * exit. That is the caller's time, as intervals end at the probes. */
static void sampling_leave_out_timed(struct sampling *sampling)
{
    struct profile *p = sampling->profile;
    uint32_t *places = need_memory(sampling->node_count, sizeof *places);
    for (uint32_t i = 0; i < sampling->node_count; i++) {
        places[i] = i;
        if (!sampling_is_sampled(&p->nodes[i]))
            continue;
        const uint32_t parent = places[p->nodes[i].parent], function = p->nodes[i].function;
        places[i] = sampling->timed[function] ? parent : profile_child_from(p, parent, function, PROFILE_SAMPLED);
        if (places[i] == i)
            continue;
        p->nodes[places[i]].samples += p->nodes[i].samples;
        p->nodes[places[i]].sample_time += p->nodes[i].sample_time;
        p->nodes[i].samples = p->nodes[i].sample_time = 0;
    }
    free(places);
    sampling->node_count = p->node_count;
}

static uint32_t sampling_route(struct sampling *sampling, uint32_t parent, uint32_t function)
{
    struct index_slot *slot = index_find(sampling->route_table, function, parent);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    GROW(sampling->routes, sampling->route_count, sampling->route_room);
    sampling->routes[sampling->route_count] = (struct sampling_route){ parent, function };
    index_set(sampling->route_table, slot, function, parent, (uint32_t)sampling->route_count);
    return (uint32_t)sampling->route_count++;
}

static void sampling_find_anchors(struct sampling *sampling)
{
    const struct profile *p = sampling->profile;
    sampling->anchors = need_memory(sampling->node_count, sizeof *sampling->anchors);
    sampling->route_of = need_memory(sampling->node_count, sizeof *sampling->route_of);
    for (size_t place = 0; place < sampling->node_count; place++) {
        const uint32_t i = sampling->order[place];
        const struct profile_node *node = &p->nodes[i];
        const bool sampled = sampling_is_sampled(node);
        sampling->anchors[i] = sampled ? sampling->anchors[node->parent] : i;
        sampling->route_of[i] =
            sampled ? sampling_route(sampling, sampling->route_of[node->parent], node->function) : PROFILE_NONE;
    }
}

/* ---- groups ---- */

enum group_kind { GROUP_OF_PATH, GROUP_OF_FUNCTION };

static uint32_t sampling_find_group(struct sampling *sampling, uint32_t key, enum group_kind kind)
{
    struct index_slot *slot = index_find(sampling->group_table, key, kind);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    GROW(sampling->groups, sampling->group_count, sampling->group_room);
    sampling->groups[sampling->group_count] = (struct sampling_group){ .parts = NULL };
    index_set(sampling->group_table, slot, key, kind, (uint32_t)sampling->group_count);
    return (uint32_t)sampling->group_count++;
}

/* Older sums do not say for which time samples stand: each for the same. */
static void sampling_add_to_group(struct sampling *sampling, uint32_t group, uint32_t route, uint64_t samples,
                                  uint64_t time)
{
    assert(sampling->groups); /* the group is in the list */
    struct sampling_group *g = &sampling->groups[group];
    struct index_slot *slot = index_find(sampling->part_table, (uint64_t)route + 1, group);
    const bool is_new = !slot->value_plus_1;
    if (is_new && g->count >= MAX_PARTS && route < ROUTE_TO_STUBS) {
        sampling_add_to_group(sampling, group, PROFILE_NONE, samples, time);
        return;
    }
    const size_t place = is_new ? g->count : slot->value_plus_1 - 1;
    if (is_new) {
        GROW(g->parts, g->count, g->room);
        g->parts[g->count++] = (struct sampling_part){ .route = route };
        index_set(sampling->part_table, slot, (uint64_t)route + 1, group, (uint32_t)place);
    }
    assert(g->parts);
    sample_sum_add(&g->parts[place].sum, samples, time ? time : samples);
    sample_sum_add(&g->all, samples, time ? time : samples);
}

/* Samples of one period count alike. Other weights are times. The sum of all is below 2^48, so that products with ticks
 * are no overflow: that is 78 hours in nanoseconds. */
static void sampling_set_weights(struct sampling_group *g)
{
    unsigned shift = 0;
    while (g->all.is_uneven && g->all.time >> shift >> 48)
        shift++;
    for (size_t i = 0; i < g->count; i++) {
        struct sampling_part *part = &g->parts[i];
        part->weight = g->all.is_uneven ? larger(part->sum.time >> shift, 1) : part->sum.samples;
        g->weight += part->weight;
    }
}

static uint64_t sampling_cpu(const struct profile_node *node)
{
    return less(less(node->elapsed, node->blocked), node->preempted);
}

static void sampling_add_path(struct sampling_group *g, uint64_t cpu)
{
    g->cpu += cpu;
    g->paths++;
}

/* A quantum is the time of a sample, or a tick if there is one path. So the parts of all paths are no more than the
 * paths and the samples. */
static void sampling_set_quanta(struct sampling *sampling, const uint32_t *group_of)
{
    for (size_t i = 0; i < sampling->node_count; i++)
        if (sampling->anchors[i] == i && sampling->profile->nodes[i].parent != PROFILE_NONE && sampling->groups)
            sampling_add_path(&sampling->groups[group_of[i]], sampling_cpu(&sampling->profile->nodes[i]));
    for (size_t i = 0; i < sampling->group_count; i++) {
        struct sampling_group *g = &sampling->groups[i];
        g->quantum = g->all.samples && g->paths > 1 ? larger(g->cpu / g->all.samples, 1) : 1;
    }
}

/* Returns the group of each timed path. The caller frees the list. */
static uint32_t *sampling_make_groups(struct sampling *sampling)
{
    const struct profile *p = sampling->profile;
    uint64_t *samples = need_memory(sampling->node_count, sizeof *samples);
    uint32_t *group_of = need_memory(sampling->node_count, sizeof *group_of);
    for (size_t i = 0; i < sampling->node_count; i++)
        samples[sampling->anchors[i]] += p->nodes[i].samples + p->nodes[i].samples_in_stubs;
    for (uint32_t i = 0; i < sampling->node_count; i++)
        if (sampling->anchors[i] == i && p->nodes[i].parent != PROFILE_NONE)
            group_of[i] = samples[i] >= ENOUGH && !sampling->by_function
                              ? sampling_find_group(sampling, i, GROUP_OF_PATH)
                              : sampling_find_group(sampling, p->nodes[i].function, GROUP_OF_FUNCTION);
    for (size_t place = 0; place < sampling->node_count; place++) {
        const uint32_t i = sampling->order[place];
        if (p->nodes[i].samples)
            sampling_add_to_group(sampling, group_of[sampling->anchors[i]], sampling->route_of[i], p->nodes[i].samples,
                                  p->nodes[i].sample_time);
        if (p->nodes[i].samples_in_stubs)
            sampling_add_to_group(sampling, group_of[sampling->anchors[i]],
                                  sampling->raw ? PROFILE_NONE : ROUTE_TO_STUBS, p->nodes[i].samples_in_stubs,
                                  p->nodes[i].stub_time);
    }
    free(samples);
    for (size_t i = 0; i < sampling->group_count; i++)
        sampling_set_weights(&sampling->groups[i]);
    sampling_set_quanta(sampling, group_of);
    return group_of;
}

/* ---- dividing ---- */

/* Divides `ticks` among the parts: the part that lacks most gets what it lacks, but at least the group's quantum. What
 * is too little or too much is carried to the group's next path. So the sums are right, and a short path has few parts:
 * all parts on all paths would be too many. */
static void sampling_share(struct sampling_group *g, uint64_t ticks, int which, uint64_t *shares)
{
    for (size_t i = 0; i < g->count; i++)
        g->parts[i].carried[which] += (int128)ticks * g->parts[i].weight;
    for (uint64_t left = ticks; left;) {
        struct sampling_part *most = &g->parts[0];
        for (size_t i = 1; i < g->count; i++)
            if (g->parts[i].carried[which] > most->carried[which])
                most = &g->parts[i];
        const int128 lacking = most->carried[which] / (int128)g->weight;
        const uint64_t share = smaller(left, lacking > (int128)g->quantum ? (uint64_t)lacking : g->quantum);
        shares[most - g->parts] += share;
        most->carried[which] -= (int128)share * g->weight;
        left -= share;
    }
}

static uint32_t sampling_node(struct sampling *sampling, uint32_t path, uint32_t route)
{
    if (route == PROFILE_NONE)
        return path;
    assert(sampling->routes); /* the route is in the list */
    const struct sampling_route *r = &sampling->routes[route];
    return profile_child_from(sampling->profile, sampling_node(sampling, path, r->parent), r->function,
                              PROFILE_SAMPLED);
}

/* Gives time to a node, or to the overhead if that is PROFILE_NONE. */
static void sampling_give(struct profile *p, uint32_t path, uint32_t node, uint64_t application, uint64_t rest)
{
    struct profile_node *from = &p->nodes[path];
    if (node == PROFILE_NONE) {
        from->overhead += application + rest;
    } else {
        p->nodes[node].elapsed += application + rest;
        p->nodes[node].flagged += rest;
    }
    from->elapsed -= application + rest;
    from->flagged -= rest;
    from->given += application + rest;
    from->given_flagged += rest;
}

static void sampling_divide_path(struct sampling *sampling, uint32_t path, struct sampling_group *g, bool pooled)
{
    const struct profile_node *node = &sampling->profile->nodes[path];
    const uint64_t cpu = sampling_cpu(node);
    const uint64_t application = smaller(less(node->elapsed, node->flagged), cpu);
    if (!cpu || (g->count == 1 && g->parts[0].route == PROFILE_NONE))
        return;
    uint64_t *shares = need_memory(2 * g->count, sizeof *shares);
    sampling_share(g, application, 0, shares);
    sampling_share(g, cpu - application, 1, shares + g->count);
    for (size_t i = 0; i < g->count; i++) {
        const struct sampling_part *part = &g->parts[i];
        const double error = sample_sum_half_width(&part->sum, &g->all) * (double)g->weight / (double)part->weight *
                             (double)(shares[i] + shares[g->count + i]); /* these add up to all of the part's time */
        if (part->route != PROFILE_NONE && !shares[i] && !shares[g->count + i])
            continue;
        const bool stubs = part->route == ROUTE_TO_STUBS;
        const uint32_t to = stubs ? PROFILE_NONE : sampling_node(sampling, path, part->route);
        if (to != path)
            sampling_give(sampling->profile, path, to, shares[i], shares[g->count + i]);
        if (stubs)
            continue;
        *(pooled ? &sampling->profile->nodes[to].error_pooled : &sampling->profile->nodes[to].error) +=
            (uint64_t)ceil(error);
    }
    free(shares);
}

/* ---- paths without time ---- */

/* Returns the new numbers of the nodes that stay: timed paths, and sampled ones with time. */
static uint32_t *sampling_number_nodes(const struct profile *p)
{
    uint32_t *places = need_memory(p->node_count, sizeof *places), count = 0;
    bool *wanted = need_memory(p->node_count, sizeof *wanted);
    for (size_t i = p->node_count; i-- > 0;) { /* children come after their parents */
        const struct profile_node *node = &p->nodes[i];
        wanted[i] |= !sampling_is_sampled(node) || node->elapsed;
        if (wanted[i] && node->parent != PROFILE_NONE)
            wanted[node->parent] = true;
    }
    for (size_t i = 0; i < p->node_count; i++)
        places[i] = wanted[i] ? count++ : PROFILE_NONE;
    free(wanted);
    return places;
}

static void sampling_drop_empty(struct profile *p)
{
    uint32_t *places = sampling_number_nodes(p);
    size_t count = 0;
    node_index_free(p->node_table);
    p->node_table = node_index_new();
    for (size_t i = 0; i < p->node_count; i++) {
        struct profile_node *node = &p->nodes[i];
        if (places[i] == PROFILE_NONE) {
            p->nodes[places[node->parent]].samples += node->samples;
            p->nodes[places[node->parent]].sample_time += node->sample_time;
            places[i] = places[node->parent];
            continue;
        }
        node->parent = node->parent == PROFILE_NONE ? PROFILE_NONE : places[node->parent];
        p->nodes[count++] = *node;
    }
    p->node_count = count;
    for (uint32_t i = 0; i < count; i++)
        profile_index_node(p, i);
    for (size_t i = 0; i < p->thread_count; i++)
        p->threads[i].root = places[p->threads[i].root];
    for (size_t i = 0; i < p->mark_count; i++)
        p->marks[i].node = places[p->marks[i].node];
    free(places);
}

static void sampling_free(struct sampling *sampling)
{
    for (size_t i = 0; i < sampling->group_count; i++)
        free(sampling->groups[i].parts);
    free(sampling->groups);
    free(sampling->order);
    free(sampling->routes);
    free(sampling->anchors);
    free(sampling->route_of);
    free(sampling->timed);
    index_free(sampling->route_table);
    index_free(sampling->group_table);
    index_free(sampling->part_table);
}

/* ---- the cost of samples ---- */

/* Samples and the time for which they stand. */
struct sampled_time {
    uint64_t samples, time;
};

static void sampled_time_add(struct sampled_time *to, const struct sampled_time *from)
{
    to->samples += from->samples;
    to->time += from->time;
}

/* By node, the samples of a timed path and what was sampled below it; of a thread's root, those of the thread. Sets the
 * roots of the nodes. The caller frees the lists. */
static struct sampled_time *sampled_times_list(const struct profile *p, uint32_t *roots)
{
    struct sampled_time *times = need_memory(p->node_count + 1, sizeof *times);
    for (uint32_t i = 0; i < p->node_count; i++)
        roots[i] = p->nodes[i].parent == PROFILE_NONE ? i : roots[p->nodes[i].parent];
    for (size_t i = p->node_count; i-- > 0;) { /* children come after their parents */
        const struct profile_node *node = &p->nodes[i];
        const struct sampled_time own = { node->samples + node->samples_in_stubs, node->sample_time + node->stub_time };
        if (own.time)
            sampled_time_add(&times[i], &own);
        if (node->parent != PROFILE_NONE)
            sampled_time_add(&times[sampling_is_sampled(node) ? node->parent : roots[i]], &times[i]);
    }
    return times;
}

void sampling_subtract_cost(struct profile *p, const struct dwell_file_header *recorded)
{
    if (!recorded->sample_cost || recorded->sample_cost > recorded->sample_period)
        return;
    uint32_t *roots = need_memory(p->node_count + 1, sizeof *roots);
    struct sampled_time *times = sampled_times_list(p, roots);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        const uint64_t cpu = sampling_cpu(node), application = smaller(less(node->elapsed, node->flagged), cpu);
        const struct sampled_time one = { 1, recorded->sample_period },
                                  *of = times[i].samples >= ENOUGH ? &times[i] : &times[roots[i]],
                                  *known = of->samples && of->time ? of : &one;
        const uint64_t cost = smaller(known->samples * recorded->sample_cost, known->time);
        sampling_give(p, i, PROFILE_NONE, multiply_divide(application, cost, known->time),
                      multiply_divide(cpu - application, cost, known->time));
    }
    free(times);
    free(roots);
}

/* ---- the cost of counting ---- */

/* A function on a thread: ticks that its calls took to be counted, and its estimated time. */
struct counting {
    uint64_t cost, time;
};

struct countings {
    struct number_index *table; /* (function, thread) */
    struct counting *list;
    size_t count, room;
};

static struct counting *countings_find(const struct countings *all, uint32_t function, uint32_t thread)
{
    const struct index_slot *slot = index_find(all->table, function, thread);
    return slot->value_plus_1 ? &all->list[slot->value_plus_1 - 1] : NULL;
}

static void countings_add(struct countings *all, uint32_t function, uint32_t thread, uint64_t cost)
{
    struct counting *known = countings_find(all, function, thread);
    if (!known) {
        GROW(all->list, all->count, all->room);
        known = &all->list[all->count];
        *known = (struct counting){ .cost = 0 };
        index_set(all->table, index_find(all->table, function, thread), function, thread, (uint32_t)all->count++);
    }
    known->cost = add_saturated(known->cost, cost);
}

/* A damaged file may have any number of calls. */
static uint64_t counting_ticks(uint64_t calls, const struct dwell_file_header *recorded)
{
    const uint64_t ps_per_second = UINT64_C(1000000000000);
    const uint128 ticks = (uint128)calls * recorded->count_cost * recorded->ticks_per_second / ps_per_second;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static struct countings countings_read(const struct profile *p, const struct profile *counted,
                                       const struct dwell_file_header *recorded)
{
    struct countings all = { .table = index_new() };
    for (size_t i = 0; i < counted->counted_count; i++) {
        const struct profile_counted *c = &counted->counted[i];
        const struct profile_thread *t = &counted->threads[c->thread];
        const uint32_t thread = index_find(p->thread_table, t->process, t->thread)->value_plus_1;
        if (thread)
            countings_add(&all, c->function, thread - 1, counting_ticks(c->calls, recorded));
    }
    return all;
}

/* By node: what is known of its function on its thread, or NULL if it is not sampled. The caller frees the list. */
static struct counting **countings_of_nodes(const struct countings *all, const struct profile *p)
{
    uint32_t *threads = need_memory(p->node_count + 1, sizeof *threads);
    struct counting **of_nodes = need_memory(p->node_count + 1, sizeof *of_nodes);
    for (size_t i = 0; i < p->thread_count; i++)
        threads[p->threads[i].root] = (uint32_t)i;
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->parent != PROFILE_NONE)
            threads[i] = threads[node->parent];
        if (sampling_is_sampled(node))
            of_nodes[i] = countings_find(all, node->function, threads[i]);
    }
    free(threads);
    return of_nodes;
}

void sampling_subtract_counting(struct profile *p, const struct profile *counted,
                                const struct dwell_file_header *recorded)
{
    if (!recorded->count_cost || !counted->counted_count)
        return;
    struct countings all = countings_read(p, counted, recorded);
    struct counting **of_nodes = countings_of_nodes(&all, p);
    for (uint32_t i = 0; i < p->node_count; i++)
        if (of_nodes[i])
            of_nodes[i]->time += p->nodes[i].elapsed;
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct counting *c = of_nodes[i];
        const struct profile_node *node = &p->nodes[i];
        if (!c || !c->time)
            continue;
        const uint64_t cost = smaller(c->cost, c->time);
        sampling_give(p, i, PROFILE_NONE, multiply_divide(less(node->elapsed, node->flagged), cost, c->time),
                      multiply_divide(smaller(node->flagged, node->elapsed), cost, c->time));
    }
    free(of_nodes);
    free(all.list);
    index_free(all.table);
}

/* ---- all paths ---- */

void sampling_divide(struct profile *p, const struct session_file *file, bool raw, bool by_function)
{
    struct sampling s = {
        .profile = p,
        .raw = raw,
        .by_function = by_function,
        .node_count = p->node_count,
        .route_table = index_new(),
        .group_table = index_new(),
        .part_table = index_new(),
    };
    s.timed = sampling_find_timed(p, file);
    sampling_leave_out_timed(&s);
    s.order = node_order_list(p);
    sampling_find_anchors(&s);
    uint32_t *group_of = sampling_make_groups(&s);
    for (size_t place = 0; place < s.node_count; place++) {
        const uint32_t i = s.order[place];
        if (s.anchors[i] != i || p->nodes[i].parent == PROFILE_NONE || !s.groups || !s.groups[group_of[i]].weight)
            continue;
        const struct index_slot *own = index_find(s.group_table, i, GROUP_OF_PATH);
        sampling_divide_path(&s, i, &s.groups[group_of[i]], !own->value_plus_1);
    }
    free(group_of);
    sampling_drop_empty(p);
    sampling_free(&s);
}
