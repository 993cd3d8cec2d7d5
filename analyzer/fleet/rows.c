/* Makes the rows of a session by a walk over its call trees. */
#include "fleet/rows.h"

#include <stdlib.h>

#include "analysis/copies.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "fleet/ids.h"

bool fleet_load_session(struct analysis *l, const char *path, struct error *error)
{
    const struct analysis_options options = { .no_merge = true, .limits = true };
    if (!analysis_load(l, path, &options, error))
        return false;
    if (l->summary.samples || l->profile->reported_count) {
        analysis_drop(l);
        return error_set(error, "%s: holds %s of another profiler, which cannot be added up with recorded times", path,
                         l->summary.samples ? "samples" : "a report");
    }
    for (size_t i = 0; i < l->profile->node_count; i++)
        amounts_scale(&l->profile->nodes[i], l->summary.ticks_per_second);
    rollup_free(l->rollup);
    l->rollup = rollup_new(l->profile);
    return true;
}

struct fleet_numbers fleet_number(const struct analysis *l)
{
    const struct profile *p = l->profile;
    struct fleet_numbers n = {
        .modules = need_memory(p->module_count, sizeof *n.modules),
        .functions = need_memory(p->function_count, sizeof *n.functions),
    };
    for (size_t i = 0; i < p->module_count; i++)
        n.modules[i] = fleet_module_id(&p->modules[i]);
    for (size_t i = 0; i < p->function_count; i++)
        n.functions[i] = fleet_function_id(n.modules[p->functions[i].module], p->functions[i].offset, &l->names[i]);
    return n;
}

void fleet_numbers_drop(struct fleet_numbers *numbers)
{
    free(numbers->modules);
    free(numbers->functions);
}

/* ---- the walk ---- */

struct rows_walk {
    const struct analysis *session;
    const struct fleet_numbers *numbers;
    uint64_t *paths;                         /* by node */
    uint32_t *functions;                     /* by function, the copy that stands for all */
    uint32_t *open_functions, *open_modules; /* by such a function and by module: how often it is on the stack */
    const struct profile_thread *thread;
    uint32_t depth; /* of the next path */
    fleet_row_taker *take;
    void *context;
};

#define SET_INCLUSIVE(a, of, t)                                                                                        \
    ((a)->of##elapsed = (t)->elapsed_inclusive, (a)->of##application = (t)->application_inclusive,                     \
     (a)->of##blocked = (t)->blocked_inclusive, (a)->of##preempted = (t)->preempted_inclusive,                         \
     (a)->of##flagged_on_cpu = (t)->flagged_on_cpu_inclusive, (a)->of##page_faults = (t)->page_faults_inclusive,       \
     (a)->of##overhead = (t)->overhead_inclusive, (a)->of##error_pooled = (t)->pooled_inclusive,                       \
     (a)->of##error_squares = (double)(t)->error_inclusive * (double)(t)->error_inclusive)

static struct fleet_amounts rows_own_amounts(const struct profile_node *node, const struct times *times)
{
    return (struct fleet_amounts){
        .calls = node->calls,
        .elapsed = node->elapsed,
        .flagged = node->flagged,
        .blocked = node->blocked,
        .preempted = node->preempted,
        .flagged_on_cpu = times->flagged_on_cpu_exclusive,
        .page_faults = node->page_faults,
        .overhead = node->overhead,
        .samples = node->samples,
        .error_pooled = node->error_pooled,
        .error_squares = (double)node->error * (double)node->error,
        .shortest = node->shortest,
        .longest = node->longest,
    };
}

static struct fleet_row rows_begin(const struct rows_walk *w, enum fleet_kind kind)
{
    return (struct fleet_row){
        .place = { .process = w->thread->process, .thread = w->thread->thread, .kind = (uint8_t)kind },
        .amounts.shortest = UINT64_MAX,
    };
}

static void rows_name_function(const struct rows_walk *w, struct fleet_row *row, uint32_t function)
{
    const struct profile_function *f = &w->session->profile->functions[function];
    row->place.module = w->numbers->modules[f->module];
    row->place.address = f->offset;
    row->place.function = w->numbers->functions[function];
}

static bool rows_take_node(const struct rows_walk *w, uint32_t node)
{
    const struct profile *p = w->session->profile;
    const struct profile_node *n = &p->nodes[node];
    const struct times *times = &w->session->rollup->nodes[node];
    const bool sampled = n->site == PROFILE_SAMPLED;
    struct fleet_row row = rows_begin(w, sampled ? FLEET_SAMPLED_PATH : FLEET_PATH);
    rows_name_function(w, &row, n->function);
    row.place.depth = w->depth;
    row.place.parent = w->paths[n->parent];
    row.place.path = w->paths[node] = fleet_path_id(row.place.parent, row.place.module, row.place.address, sampled);
    row.amounts = rows_own_amounts(n, times);
    if (!w->open_functions[w->functions[n->function]])
        SET_INCLUSIVE(&row.amounts, function_, times);
    if (!w->open_modules[p->functions[n->function].module])
        SET_INCLUSIVE(&row.amounts, module_, times);
    return w->take(w->context, &row);
}

static void rows_open(struct rows_walk *w, uint32_t node, uint32_t change)
{
    const struct profile *p = w->session->profile;
    const uint32_t function = p->nodes[node].function;
    w->depth += change;
    w->open_functions[w->functions[function]] += change;
    w->open_modules[p->functions[function].module] += change;
}

/* The amounts of the thread's root, if it has any. */
static bool rows_take_root(const struct rows_walk *w)
{
    const struct profile_node *n = &w->session->profile->nodes[w->thread->root];
    const struct times times = times_of_path(n);
    if (times_are_empty(&times))
        return true;
    struct fleet_row row = rows_begin(w, FLEET_THREAD);
    row.amounts = rows_own_amounts(n, &times);
    return w->take(w->context, &row);
}

static bool rows_walk_thread(struct rows_walk *w)
{
    const struct profile *p = w->session->profile;
    const struct rollup *r = w->session->rollup;
    const uint32_t root = w->thread->root;
    w->paths[root] = FLEET_NO_ID;
    w->depth = 1;
    if (!rows_take_root(w))
        return false;
    for (uint32_t node = r->first_child[root]; node != PROFILE_NONE;) {
        if (!rows_take_node(w, node))
            return false;
        rows_open(w, node, 1);
        uint32_t next = r->first_child[node];
        while (next == PROFILE_NONE && node != root) {
            rows_open(w, node, UINT32_MAX); /* once less */
            next = r->sibling[node];
            node = p->nodes[node].parent;
        }
        node = next;
    }
    return true;
}

static bool rows_take_counted(struct rows_walk *w)
{
    const struct profile *p = w->session->profile;
    for (size_t i = 0; i < p->counted_count; i++) {
        w->thread = &p->threads[p->counted[i].thread];
        struct fleet_row row = rows_begin(w, FLEET_COUNTED_CALLS);
        rows_name_function(w, &row, p->counted[i].function);
        row.amounts.calls = row.amounts.counted = p->counted[i].calls;
        if (!w->take(w->context, &row))
            return false;
    }
    return true;
}

static uint32_t *rows_find_copies(const struct analysis *l)
{
    uint32_t *functions = copies_find(l->profile, l->names);
    if (functions)
        return functions;
    functions = need_memory(l->profile->function_count, sizeof *functions);
    for (uint32_t i = 0; i < l->profile->function_count; i++)
        functions[i] = i;
    return functions;
}

bool fleet_follow_rows(const struct analysis *l, const struct fleet_numbers *numbers, fleet_row_taker *take,
                       void *context)
{
    const struct profile *p = l->profile;
    struct rows_walk w = {
        .session = l,
        .numbers = numbers,
        .paths = need_memory(p->node_count, sizeof *w.paths),
        .functions = rows_find_copies(l),
        .open_functions = need_memory(p->function_count, sizeof *w.open_functions),
        .open_modules = need_memory(p->module_count, sizeof *w.open_modules),
        .take = take,
        .context = context,
    };
    bool good = true;
    for (size_t i = 0; good && i < p->thread_count; i++) {
        w.thread = &p->threads[i];
        good = rows_walk_thread(&w);
    }
    good = good && rows_take_counted(&w);
    free(w.paths);
    free(w.functions);
    free(w.open_functions);
    free(w.open_modules);
    return good;
}
