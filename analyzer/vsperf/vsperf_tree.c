/*
 * Makes call trees. If the files have only callers and callees, the tree is scaled: a call path with a share of a
 * function's time gets the same share of its calls. This is an approximation, because a function may do different work
 * for different callers. Sums are exact: the values of a row are divided among call paths in whole numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "vsperf/vsperf_import.h"

/* Call paths with a smaller share of all time are not continued. The values below them are added to larger paths. */
static const double SMALLEST = 1.0 / 20000;

/* In a tree with more nodes, only the largest path of each function is continued. Without this, reports with
 * contradictory numbers would double the tree with each function. */
enum { MANY_NODES = 1 << 21 };

struct context { /* a call path that ends in the function */
    uint32_t node;
    double share; /* of the function's time */
};

struct contexts {
    struct context *list;
    size_t count, room;
};

struct amounts { /* values that are divided */
    uint64_t application, flagged, calls;
};

struct scaling {
    struct vsperf *v;
    struct vsperf_trees *trees;
    size_t *out_begin; /* by row: where its edges begin in `out`; one more at the end */
    uint32_t *out;     /* edges, by caller */
    size_t *in_begin;
    uint32_t *in;    /* edges, by callee */
    bool *back;      /* by edge: it closes a cycle, and is followed by one node only */
    uint32_t *order; /* rows, callers before callees except at those edges */
    size_t ordered;
    uint8_t *state;            /* by row, while ordering: 0 not seen, 1 open, 2 done */
    struct contexts *contexts; /* by row */
    double whole;              /* all time */
};

/* ---- division ---- */

struct vsperf_part {
    double rest;
    uint32_t index;
};

static int vsperf_tree_compare_parts(const void *a, const void *b)
{
    const struct vsperf_part *x = a, *y = b;
    if (x->rest != y->rest)
        return x->rest < y->rest ? 1 : -1;
    return ORDER_BY(x, y, index);
}

/* By largest remainders, so that the parts add up to the whole. The weights add up to `weight`. */
static void vsperf_tree_split_among(uint64_t whole, const double *weights, double weight, size_t count, uint64_t *parts)
{
    struct vsperf_part *rests = need_memory(count, sizeof *rests);
    uint64_t left = whole;
    for (size_t i = 0; i < count; i++) {
        const double exact = weight > 0 ? (double)whole * (weights[i] / weight) : (double)whole / (double)count;
        uint64_t floored = exact > 0 ? (uint64_t)exact : 0;
        if (floored > left)
            floored = left;
        parts[i] = floored;
        left -= floored;
        rests[i] = (struct vsperf_part){ exact - (double)floored, (uint32_t)i };
    }
    qsort(rests, count, sizeof *rests, vsperf_tree_compare_parts);
    for (size_t i = 0; i < count && left; i++, left--)
        parts[rests[i].index]++;
    parts[rests[0].index] += left; /* if the whole is too large for a double */
    free(rests);
}

/* ---- the graph ---- */

static void vsperf_tree_sort_edges(struct scaling *scaling)
{
    const struct vsperf *v = scaling->v;
    scaling->out_begin = need_memory(v->row_count + 1, sizeof *scaling->out_begin);
    scaling->in_begin = need_memory(v->row_count + 1, sizeof *scaling->in_begin);
    scaling->out = need_memory(v->edge_count, sizeof *scaling->out);
    scaling->in = need_memory(v->edge_count, sizeof *scaling->in);
    for (size_t i = 0; i < v->edge_count; i++) {
        scaling->out_begin[v->edges[i].caller + 1]++;
        scaling->in_begin[v->edges[i].callee + 1]++;
    }
    for (size_t i = 0; i < v->row_count; i++) {
        scaling->out_begin[i + 1] += scaling->out_begin[i];
        scaling->in_begin[i + 1] += scaling->in_begin[i];
    }
    size_t *out_at = need_memory(v->row_count, sizeof *out_at), *in_at = need_memory(v->row_count, sizeof *in_at);
    memcpy(out_at, scaling->out_begin, v->row_count * sizeof *out_at);
    memcpy(in_at, scaling->in_begin, v->row_count * sizeof *in_at);
    for (uint32_t i = 0; i < v->edge_count; i++) {
        scaling->out[out_at[v->edges[i].caller]++] = i;
        scaling->in[in_at[v->edges[i].callee]++] = i;
    }
    free(out_at);
    free(in_at);
}

struct vsperf_step {
    uint32_t row;
    size_t next; /* of the row's edges */
};

/* Searches depth first. An edge to an open row closes a cycle. Fills `order` from its end. */
static void vsperf_tree_order_from(struct scaling *scaling, uint32_t first)
{
    struct vsperf_step *stack = NULL;
    size_t count = 0, room = 0;
    GROW(stack, count, room);
    stack[count++] = (struct vsperf_step){ first, scaling->out_begin[first] };
    scaling->state[first] = 1;
    while (count) {
        struct vsperf_step *top = &stack[count - 1];
        if (top->next == scaling->out_begin[top->row + 1]) {
            scaling->state[top->row] = 2;
            scaling->order[--scaling->ordered] = top->row;
            count--;
            continue;
        }
        const uint32_t edge = scaling->out[top->next++], callee = scaling->v->edges[edge].callee;
        scaling->back[edge] = scaling->state[callee] == 1;
        if (scaling->state[callee])
            continue;
        scaling->state[callee] = 1;
        GROW(stack, count, room);
        stack[count++] = (struct vsperf_step){ callee, scaling->out_begin[callee] };
    }
    free(stack);
}

/* The part of a row that its callers do not account for. */
static uint64_t vsperf_tree_unaccounted_time(const struct scaling *scaling, uint32_t row)
{
    uint64_t known = 0;
    for (size_t i = scaling->in_begin[row]; i < scaling->in_begin[row + 1]; i++)
        known += scaling->v->edges[scaling->in[i]].as_caller.elapsed_inclusive;
    const uint64_t all = scaling->v->rows[row].times.elapsed_inclusive;
    return all > known ? all - known : 0;
}

static bool vsperf_tree_has_callers(const struct scaling *scaling, uint32_t row)
{
    for (size_t i = scaling->in_begin[row]; i < scaling->in_begin[row + 1]; i++)
        if (scaling->v->edges[scaling->in[i]].caller != row)
            return true;
    return false;
}

struct ranked {
    uint32_t row;
    int rank; /* 0 without callers, 1 with unknown callers, too, 2 others */
    uint64_t time;
};

static int vsperf_tree_compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank - y->rank;
    if (x->time != y->time)
        return x->time < y->time ? 1 : -1;
    return ORDER_BY(x, y, row);
}

static void vsperf_tree_order_rows(struct scaling *scaling)
{
    const size_t count = scaling->v->row_count;
    struct ranked *ranked = need_memory(count, sizeof *ranked);
    scaling->back = need_memory(scaling->v->edge_count, sizeof *scaling->back);
    scaling->order = need_memory(count, sizeof *scaling->order);
    scaling->state = need_memory(count, sizeof *scaling->state);
    scaling->ordered = count;
    for (uint32_t i = 0; i < count; i++) {
        const int rank = !vsperf_tree_has_callers(scaling, i) ? 0 : vsperf_tree_unaccounted_time(scaling, i) ? 1 : 2;
        ranked[i] = (struct ranked){ i, rank, scaling->v->rows[i].times.elapsed_inclusive };
    }
    if (count)
        qsort(ranked, count, sizeof *ranked, vsperf_tree_compare_ranked);
    for (size_t i = 0; i < count; i++)
        if (scaling->state[ranked[i].row] == 0)
            vsperf_tree_order_from(scaling, ranked[i].row);
    free(ranked);
}

/* ---- nodes ---- */

static uint32_t vsperf_tree_add_node(struct scaling *scaling, uint32_t row, uint32_t parent, const struct times *limits)
{
    struct vsperf_trees *trees = scaling->trees;
    GROW(trees->nodes, trees->node_count, trees->node_room);
    trees->nodes[trees->node_count] = (struct vsperf_node){
        .row = row,
        .parent = parent,
        .depth = parent ? trees->nodes[parent - 1].depth + 1 : 1,
        .shortest = limits->shortest,
        .longest = limits->longest,
    };
    return (uint32_t)++trees->node_count;
}

static void vsperf_tree_add_amounts(struct vsperf_node *node, const struct amounts *a)
{
    node->application += a->application;
    node->flagged += a->flagged;
    node->calls += a->calls;
}

static struct amounts vsperf_tree_exclusive_amounts(const struct times *t)
{
    return (struct amounts){ t->application_exclusive, t->elapsed_exclusive - t->application_exclusive, t->calls };
}

/* Returns the values of an edge, limited to those of the callee that no edge has used yet, and subtracts them. */
static struct amounts vsperf_tree_edge_amounts(const struct vsperf_edge *e, struct amounts *left)
{
    const struct amounts all = vsperf_tree_exclusive_amounts(&e->as_caller);
    const struct amounts part = {
        all.application < left->application ? all.application : left->application,
        all.flagged < left->flagged ? all.flagged : left->flagged,
        all.calls < left->calls ? all.calls : left->calls,
    };
    *left = (struct amounts){ left->application - part.application, left->flagged - part.flagged,
                              left->calls - part.calls };
    return part;
}

static double vsperf_tree_edge_weight(const struct scaling *scaling, uint32_t edge, bool by_calls)
{
    const struct times *t = &scaling->v->edges[edge].as_caller;
    return (double)(by_calls ? t->calls : t->elapsed_inclusive);
}

/* An edge's share of the callee's values, among the edges that are followed and unknown callers. */
struct inflow {
    double whole, unknown;
    bool by_calls, evenly;
    size_t followed;
};

static struct inflow vsperf_tree_inflow_of(const struct scaling *scaling, uint32_t row)
{
    struct inflow f = { .unknown = (double)vsperf_tree_unaccounted_time(scaling, row) };
    for (int round = 0; round < 2 && f.whole <= 0; round++) {
        f.by_calls = round == 1;
        f.followed = 0;
        f.whole = f.by_calls ? 0 : f.unknown;
        for (size_t i = scaling->in_begin[row]; i < scaling->in_begin[row + 1]; i++) {
            if (scaling->back[scaling->in[i]])
                continue;
            f.whole += vsperf_tree_edge_weight(scaling, scaling->in[i], f.by_calls);
            f.followed++;
        }
    }
    f.evenly = f.whole <= 0;
    return f;
}

static double vsperf_tree_edge_share(const struct scaling *scaling, const struct inflow *f, uint32_t edge)
{
    if (f->evenly)
        return 1 / (double)f->followed;
    return vsperf_tree_edge_weight(scaling, edge, f->by_calls) / f->whole;
}

/* Puts the indices of the paths that are continued into `kept`: the large ones, at least the largest. */
static size_t vsperf_tree_keep_large(const struct scaling *scaling, const struct contexts *c, double time,
                                     uint32_t *kept)
{
    size_t count = 0, largest = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (c->list[i].share > c->list[largest].share)
            largest = i;
        if (c->list[i].share * time >= SMALLEST * scaling->whole && c->list[i].share > 0 &&
            scaling->trees->node_count < MANY_NODES)
            kept[count++] = (uint32_t)i;
    }
    if (count == 0)
        kept[count++] = (uint32_t)largest;
    return count;
}

/* Divides what goes from a row to another among the paths of the first, and adds a node below each. */
static void vsperf_tree_split_below(struct scaling *scaling, uint32_t from, uint32_t to, const struct amounts *a,
                                    double time, double share, bool follow, const struct times *limits)
{
    const struct contexts *c = &scaling->contexts[from];
    uint32_t *kept = need_memory(c->count, sizeof *kept);
    const size_t count = vsperf_tree_keep_large(scaling, c, time, kept);
    double *weights = need_memory(count, sizeof *weights), weight = 0;
    uint64_t *parts = need_memory(3 * count, sizeof *parts);
    for (size_t i = 0; i < count; i++)
        weight += weights[i] = c->list[kept[i]].share;
    vsperf_tree_split_among(a->application, weights, weight, count, parts);
    vsperf_tree_split_among(a->flagged, weights, weight, count, parts + count);
    vsperf_tree_split_among(a->calls, weights, weight, count, parts + 2 * count);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct amounts part = { parts[i], parts[count + i], parts[2 * count + i] };
        const double own_share = share * (weight > 0 ? weights[i] / weight : 1 / (double)count);
        const bool nothing = !part.application && !part.flagged && !part.calls && own_share <= 0;
        if (nothing && (any || i + 1 < count))
            continue;
        any = true;
        const uint32_t node = vsperf_tree_add_node(scaling, to, scaling->contexts[from].list[kept[i]].node, limits);
        vsperf_tree_add_amounts(&scaling->trees->nodes[node - 1], &part);
        if (!follow)
            continue;
        struct contexts *below = &scaling->contexts[to];
        GROW(below->list, below->count, below->room);
        below->list[below->count++] = (struct context){ node, own_share };
    }
    free(kept);
    free(weights);
    free(parts);
}

/* Uses the times of the callee's row for that caller, or the function's times without one. */
static const struct times *vsperf_tree_edge_limits(const struct vsperf *v, const struct vsperf_edge *e)
{
    const bool known = e->as_caller.shortest <= e->as_caller.longest && e->as_caller.shortest > 0;
    return known ? &e->as_caller : &v->rows[e->callee].times;
}

/* The inclusive time of a row that is in neither its exclusive time nor its listed callees. Reports omit small ones. */
static struct amounts vsperf_tree_missing_below(const struct scaling *scaling, uint32_t row)
{
    const struct times *t = &scaling->v->rows[row].times;
    if (!scaling->v->file_of[VSPERF_CALLER_CALLEE])
        return (struct amounts){ 0 }; /* no callees are known */
    uint64_t elapsed = t->elapsed_exclusive, application = t->application_exclusive;
    for (size_t i = scaling->out_begin[row]; i < scaling->out_begin[row + 1]; i++) {
        const struct times *callee = &scaling->v->edges[scaling->out[i]].as_callee;
        elapsed += callee->elapsed_inclusive;
        application += callee->application_inclusive;
    }
    const uint64_t all = less(t->elapsed_inclusive, elapsed),
                   of_application = less(t->application_inclusive, application);
    return (struct amounts){ of_application < all ? of_application : all, less(all, of_application), 0 };
}

/* The part that a row's callers do not account for has an unknown caller, so it becomes a root. */
static void vsperf_tree_add_root(struct scaling *scaling, uint32_t row, const struct inflow *f,
                                 const struct amounts *left)
{
    const bool alone = f->followed == 0;
    if (!alone && f->unknown <= 0 && !left->application && !left->flagged && !left->calls)
        return;
    const uint32_t node = vsperf_tree_add_node(scaling, row, 0, &scaling->v->rows[row].times);
    vsperf_tree_add_amounts(&scaling->trees->nodes[node - 1], left);
    struct contexts *c = &scaling->contexts[row];
    GROW(c->list, c->count, c->room);
    c->list[c->count++] = (struct context){ node, alone ? 1 : f->by_calls || f->evenly ? 0 : f->unknown / f->whole };
}

/* Divides a row's edges when all its paths are known. `flows` has the values of each edge. */
static void vsperf_tree_expand_row(struct scaling *scaling, uint32_t row, const struct amounts *flows,
                                   const struct inflow *inflows)
{
    const struct vsperf *v = scaling->v;
    for (size_t i = scaling->out_begin[row]; i < scaling->out_begin[row + 1]; i++) {
        const uint32_t edge = scaling->out[i], callee = v->edges[edge].callee;
        const double share = scaling->back[edge] ? 0 : vsperf_tree_edge_share(scaling, &inflows[callee], edge);
        const double time = (double)v->edges[edge].as_callee.elapsed_inclusive;
        vsperf_tree_split_below(scaling, row, callee, &flows[edge], time, share, !scaling->back[edge],
                                vsperf_tree_edge_limits(v, &v->edges[edge]));
    }
    const struct amounts missing = vsperf_tree_missing_below(scaling, row);
    if (missing.application || missing.flagged) {
        const struct times unknown = { .shortest = UINT64_MAX };
        const uint32_t elsewhere = vsperf_elsewhere(scaling->v, v->rows[row].process);
        vsperf_tree_split_below(scaling, row, elsewhere, &missing, (double)(missing.application + missing.flagged), 0,
                                false, &unknown);
    }
}

static void vsperf_tree_scale_rows(struct vsperf *v, struct vsperf_trees *trees)
{
    struct scaling s = { .v = v, .trees = trees };
    const size_t rows = v->row_count;
    vsperf_tree_sort_edges(&s);
    vsperf_tree_order_rows(&s);
    s.contexts = need_memory(rows, sizeof *s.contexts);
    struct amounts *flows = need_memory(v->edge_count, sizeof *flows), *left = need_memory(rows, sizeof *left);
    struct inflow *inflows = need_memory(rows, sizeof *inflows);
    for (uint32_t i = 0; i < rows; i++) {
        left[i] = vsperf_tree_exclusive_amounts(&v->rows[i].times);
        inflows[i] = vsperf_tree_inflow_of(&s, i);
        s.whole += (double)v->rows[i].times.elapsed_exclusive;
        for (size_t j = s.in_begin[i]; j < s.in_begin[i + 1]; j++)
            flows[s.in[j]] = vsperf_tree_edge_amounts(&v->edges[s.in[j]], &left[i]);
        const struct amounts missing = vsperf_tree_missing_below(&s, i);
        s.whole += (double)(missing.application + missing.flagged);
    }
    for (size_t i = 0; i < rows; i++) {
        const uint32_t row = s.order[i];
        const struct vsperf_row *r = &v->rows[row];
        const bool pseudo = row == vsperf_elsewhere(v, r->process) && !r->has_root && !r->has_summed;
        if (pseudo)
            continue;
        vsperf_tree_add_root(&s, row, &inflows[row], &left[row]);
        vsperf_tree_expand_row(&s, row, flows, inflows);
    }
    for (size_t i = 0; i < rows; i++)
        free(s.contexts[i].list);
    free(s.contexts);
    free(flows);
    free(left);
    free(inflows);
    free(s.out_begin);
    free(s.in_begin);
    free(s.out);
    free(s.in);
    free(s.back);
    free(s.order);
    free(s.state);
}

/* ---- the files' own tree ---- */

/* The time of a path that its row does not show: small callees. */
static void vsperf_tree_add_missing(struct scaling *scaling, const struct vsperf_path *p, uint32_t node,
                                    const struct times *below)
{
    const struct times unknown = { .shortest = UINT64_MAX };
    const struct times *own = &p->times;
    const uint64_t elapsed = less(own->elapsed_inclusive, own->elapsed_exclusive + below->elapsed_inclusive);
    const uint64_t application =
        less(own->application_inclusive, own->application_exclusive + below->application_inclusive);
    if (!elapsed)
        return;
    const struct amounts missing = { application < elapsed ? application : elapsed, less(elapsed, application), 0 };
    const uint32_t elsewhere = vsperf_elsewhere(scaling->v, scaling->v->rows[p->row].process);
    const uint32_t added = vsperf_tree_add_node(scaling, elsewhere, node, &unknown);
    vsperf_tree_add_amounts(&scaling->trees->nodes[added - 1], &missing);
}

static void vsperf_tree_copy_paths(struct vsperf *v, struct vsperf_trees *trees)
{
    struct scaling s = { .v = v, .trees = trees };
    uint32_t depths = 1;
    for (size_t i = 0; i < v->path_count; i++)
        depths = v->paths[i].depth + 1 > depths ? v->paths[i].depth + 1 : depths;
    size_t *open = need_memory(depths, sizeof *open);            /* by depth: 1 + the open path */
    uint32_t *nodes = need_memory(v->path_count, sizeof *nodes); /* by path; zero for a process */
    struct times *below = need_memory(v->path_count, sizeof *below);
    for (size_t i = 0; i < v->path_count; i++) {
        const struct vsperf_path *p = &v->paths[i];
        size_t caller = p->depth ? open[p->depth - 1] : 0;
        open[p->depth] = i + 1;
        if (p->row == PROFILE_NONE)
            continue;
        if (caller && (!nodes[caller - 1] || v->rows[v->paths[caller - 1].row].process != v->rows[p->row].process))
            caller = 0;
        if (caller) {
            below[caller - 1].elapsed_inclusive += p->times.elapsed_inclusive;
            below[caller - 1].application_inclusive += p->times.application_inclusive;
        }
        const struct amounts own = vsperf_tree_exclusive_amounts(&p->times);
        nodes[i] = vsperf_tree_add_node(&s, p->row, caller ? nodes[caller - 1] : 0, &p->times);
        vsperf_tree_add_amounts(&trees->nodes[nodes[i] - 1], &own);
    }
    for (size_t i = 0; i < v->path_count; i++)
        if (nodes[i])
            vsperf_tree_add_missing(&s, &v->paths[i], nodes[i], &below[i]);
    free(open);
    free(nodes);
    free(below);
}

/* ---- by process ---- */

static void vsperf_tree_sort_by_process(const struct vsperf *v, struct vsperf_trees *trees)
{
    struct vsperf_node *sorted = need_memory(trees->node_count, sizeof *sorted);
    uint32_t *place = need_memory(trees->node_count, sizeof *place); /* 1 + index among those of its process */
    trees->first = need_memory(v->process_count + 1, sizeof *trees->first);
    for (size_t i = 0; i < trees->node_count; i++)
        place[i] = (uint32_t)++trees->first[v->rows[trees->nodes[i].row].process + 1];
    for (size_t i = 0; i < v->process_count; i++)
        trees->first[i + 1] += trees->first[i];
    for (size_t i = 0; i < trees->node_count; i++) {
        struct vsperf_node node = trees->nodes[i];
        if (node.parent)
            node.parent = place[node.parent - 1];
        sorted[trees->first[v->rows[node.row].process] + place[i] - 1] = node;
    }
    free(trees->nodes);
    free(place);
    trees->nodes = sorted;
}

struct vsperf_trees vsperf_make_trees(struct vsperf *v)
{
    struct vsperf_trees t = { .scaled = v->path_count == 0, .node_room = v->row_count + 1 };
    t.nodes = need_memory(t.node_room, sizeof *t.nodes);
    if (t.scaled)
        vsperf_tree_scale_rows(v, &t);
    else
        vsperf_tree_copy_paths(v, &t);
    vsperf_tree_sort_by_process(v, &t);
    return t;
}

void vsperf_drop_trees(struct vsperf_trees *trees)
{
    free(trees->nodes);
    free(trees->first);
}
