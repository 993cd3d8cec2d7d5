/* Makes the rows of a session by a walk over its call trees. It holds the times of the open paths alone. */
#include "fleet/sum_rows.h"

#include <stdlib.h>

#include "analysis/copies.h"
#include "analysis/recorded_sessions.h"
#include "analysis/single_calls.h"
#include "base/index.h"
#include "base/memory.h"
#include "fleet/ids.h"
#include "fleet/thread_tree.h"
#include "profile/durations.h"
#include "profile/identify.h"
#include "profile/threads.h"
#include "profile/trees.h"

struct rows_walk;

/* How the nodes of a thread are found. PROFILE_NONE is no node. */
struct rows_tree {
    uint32_t (*first_child)(const struct rows_walk *w, uint32_t node);
    uint32_t (*sibling)(const struct rows_walk *w, uint32_t node);
    struct profile_node (*read)(struct rows_walk *w, uint32_t node); /* with amounts in nanoseconds */
    bool (*read_durations)(struct rows_walk *w, uint32_t node, struct durations **d);
};

/* A path that is open, with the inclusive times of what it called so far. */
struct rows_frame {
    uint32_t node, next_child, function;
    bool sampled;
    bool of_function, of_module; /* it is the outermost one of them */
    uint64_t path;
    struct times times;
};

struct rows_walk {
    struct fleet_session *session;
    uint32_t *functions;                     /* by function, the copy that stands for all */
    uint32_t *open_functions, *open_modules; /* by such a function and by module: how often it is on the stack */
    struct rows_frame *frames;               /* the first is the thread's root */
    size_t depth, room;
    uint32_t process, thread;
    fleet_row_taker *take;
    void *context;
    struct error *error;
    const struct rows_tree *tree;
    uint32_t *first_child, *sibling; /* of a session that is loaded as a whole */
    struct thread_trees trees;       /* those of a session that is not loaded as a whole */
    struct thread_tree links;        /* the tree of the present thread of such a session */
    struct probe_cost *costs;
    struct number_index *cost_places;
    const struct probe_cost *cost; /* of the thread's process, or NULL */
    uint64_t rate;
    bool blind;
};

/* ---- a session that is loaded as a whole ---- */

static uint32_t rows_loaded_child(const struct rows_walk *w, uint32_t node)
{
    return w->first_child[node];
}

static uint32_t rows_loaded_sibling(const struct rows_walk *w, uint32_t node)
{
    return w->sibling[node];
}

static struct profile_node rows_loaded_node(struct rows_walk *w, uint32_t node)
{
    return w->session->analysis.profile->nodes[node];
}

static bool rows_loaded_durations(struct rows_walk *w, uint32_t node, struct durations **d)
{
    durations_merge(d, w->session->analysis.profile->nodes[node].durations);
    return true;
}

static const struct rows_tree rows_loaded = { rows_loaded_child, rows_loaded_sibling, rows_loaded_node,
                                              rows_loaded_durations };

static void rows_link_loaded(struct rows_walk *w)
{
    const struct profile *p = w->session->analysis.profile;
    w->first_child = need_memory(p->node_count + 1, sizeof *w->first_child);
    w->sibling = need_memory(p->node_count + 1, sizeof *w->sibling);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const uint32_t parent = p->nodes[i].parent;
        w->first_child[i] = w->sibling[i] = PROFILE_NONE;
        if (parent == PROFILE_NONE)
            continue;
        w->sibling[i] = w->first_child[parent];
        w->first_child[parent] = i;
    }
}

/* ---- a session whose nodes are read one by one ---- */

static uint32_t rows_streamed_child(const struct rows_walk *w, uint32_t node)
{
    const uint32_t child = w->links.nodes[node].first_child;
    return child ? child : PROFILE_NONE;
}

static uint32_t rows_streamed_sibling(const struct rows_walk *w, uint32_t node)
{
    const uint32_t sibling = w->links.nodes[node].sibling;
    return sibling ? sibling : PROFILE_NONE;
}

/* The same steps as when a session is loaded. The function is PROFILE_NONE if the file has changed meanwhile. */
static struct profile_node rows_streamed_node(struct rows_walk *w, uint32_t number)
{
    struct analysis *analysis = &w->session->analysis;
    struct dwell_tree_node from;
    struct dwell_sum_row row;
    const bool has_row = thread_trees_read(&w->trees, &w->links, number, &from, &row);
    const struct trace_process *process = session_file_process(analysis->file, w->process);
    struct profile_node node = {
        .function = find_function(analysis->profile, process, from.function, from.first_time),
        .site = from.site == DWELL_SITE_SAMPLED ? PROFILE_SAMPLED : PROFILE_NONE,
    };
    amounts_clear(&node);
    trees_take_node(&node, &from, has_row ? &row : NULL);
    node.flagged = w->blind ? node.elapsed : node.flagged;
    if (w->cost) {
        overhead_subtract_node(&node, w->cost, w->links.nodes[number].callees, &analysis->overhead);
        single_calls_forget_limits_of(&node);
    }
    single_calls_take_limits_of(&node);
    amounts_scale(&node, w->rate);
    return node;
}

static bool rows_streamed_durations(struct rows_walk *w, uint32_t number, struct durations **d)
{
    const bool good = !w->links.damaged && thread_trees_read_durations(&w->trees, &w->links, number, d);
    durations_scale(d, w->rate);
    return good;
}

static const struct rows_tree rows_streamed = { rows_streamed_child, rows_streamed_sibling, rows_streamed_node,
                                                rows_streamed_durations };

static void rows_begin_streamed(struct rows_walk *w)
{
    const struct session_file *file = w->session->analysis.file;
    const struct index_slot *slot = index_find(w->cost_places, w->links.process, 0);
    const uint64_t rate = recorded_sessions_rate(file, w->links.process);
    w->process = w->links.process;
    w->thread = w->links.thread;
    w->cost = slot->value_plus_1 ? &w->costs[slot->value_plus_1 - 1] : NULL;
    w->rate = rate ? rate : file->header.ticks_per_second;
    w->blind = threads_is_blind(session_file_thread(file, w->thread));
}

/* ---- rows ---- */

#define SET_INCLUSIVE(a, of, t)                                                                                        \
    ((a)->of##elapsed = (t)->elapsed_inclusive, (a)->of##application = (t)->application_inclusive,                     \
     (a)->of##blocked = (t)->blocked_inclusive, (a)->of##preempted = (t)->preempted_inclusive,                         \
     (a)->of##flagged_on_cpu = (t)->flagged_on_cpu_inclusive, (a)->of##page_faults = (t)->page_faults_inclusive,       \
     (a)->of##overhead = (t)->overhead_inclusive, (a)->of##error_pooled = (t)->pooled_inclusive,                       \
     (a)->of##error_squares = (t)->error_squares_inclusive)

static struct fleet_amounts rows_own_amounts(const struct times *t)
{
    return (struct fleet_amounts){
        .calls = t->calls,
        .elapsed = t->elapsed_exclusive,
        .flagged = t->elapsed_exclusive - t->application_exclusive,
        .blocked = t->blocked_exclusive,
        .preempted = t->preempted_exclusive,
        .flagged_on_cpu = t->flagged_on_cpu_exclusive,
        .page_faults = t->page_faults_exclusive,
        .overhead = t->overhead_exclusive,
        .samples = t->samples,
        .error_pooled = t->pooled_exclusive,
        .error_squares = t->error_squares_exclusive,
        .shortest = t->shortest,
        .longest = t->longest,
    };
}

static struct fleet_row rows_begin(const struct rows_walk *w, enum fleet_kind kind)
{
    return (struct fleet_row){
        .place = { .process = w->process, .thread = w->thread, .kind = (uint8_t)kind },
        .amounts.shortest = UINT64_MAX,
    };
}

static void rows_name_function(const struct rows_walk *w, struct fleet_row *row, uint32_t function)
{
    const struct profile_function *f = &w->session->analysis.profile->functions[function];
    row->place.module = w->session->numbers.modules[f->module];
    row->place.address = f->offset;
    row->place.function = w->session->numbers.functions[function];
}

static bool rows_take_path(struct rows_walk *w, const struct rows_frame *f, uint64_t parent)
{
    struct durations *durations = NULL;
    struct fleet_row row = rows_begin(w, f->sampled ? FLEET_SAMPLED_PATH : FLEET_PATH);
    rows_name_function(w, &row, f->function);
    row.place.depth = (uint32_t)w->depth;
    row.place.parent = parent;
    row.place.path = f->path;
    row.amounts = rows_own_amounts(&f->times);
    if (f->of_function)
        SET_INCLUSIVE(&row.amounts, function_, &f->times);
    if (f->of_module)
        SET_INCLUSIVE(&row.amounts, module_, &f->times);
    const bool good =
        w->tree->read_durations(w, f->node, &durations) || fleet_durations_are_damaged(w->session, w->error);
    row.durations = durations;
    const bool taken = good && w->take(w->context, &row);
    free(durations);
    return taken;
}

/* The amounts of the thread's root, if it has any. */
static bool rows_take_root(const struct rows_walk *w, const struct profile_node *root)
{
    const struct times times = times_of_path(root);
    if (times_are_empty(&times))
        return true;
    struct fleet_row row = rows_begin(w, FLEET_THREAD);
    row.amounts = rows_own_amounts(&times);
    return w->take(w->context, &row);
}

/* ---- the walk ---- */

static struct rows_frame *rows_push(struct rows_walk *w, uint32_t node)
{
    GROW(w->frames, w->depth, w->room);
    struct rows_frame *f = &w->frames[w->depth++];
    *f = (struct rows_frame){ .node = node, .next_child = w->tree->first_child(w, node), .path = FLEET_NO_ID };
    return f;
}

static bool rows_enter(struct rows_walk *w, uint32_t node)
{
    const struct profile *p = w->session->analysis.profile;
    const struct profile_node n = w->tree->read(w, node);
    if (n.function == PROFILE_NONE)
        return error_set(w->error, "%s: has changed while it was read", w->session->analysis.file->path);
    const struct profile_function *function = &p->functions[n.function];
    const uint64_t parent = w->frames[w->depth - 1].path;
    struct rows_frame *f = rows_push(w, node);
    f->function = n.function;
    f->sampled = n.site == PROFILE_SAMPLED;
    f->path = fleet_path_id(parent, w->session->numbers.modules[function->module], function->offset, f->sampled);
    f->of_function = w->open_functions[w->functions[n.function]]++ == 0;
    f->of_module = w->open_modules[function->module]++ == 0;
    f->times = times_of_path(&n);
    return true;
}

/* What is estimated below a path adds up to a measured time, as in a rollup. */
static bool rows_leave(struct rows_walk *w)
{
    const struct profile *p = w->session->analysis.profile;
    struct rows_frame *f = &w->frames[--w->depth];
    if (!f->sampled)
        times_set_measured(&f->times);
    w->open_functions[w->functions[f->function]]--;
    w->open_modules[p->functions[f->function].module]--;
    times_add_inclusive(&f[-1].times, &f->times);
    return rows_take_path(w, f, f[-1].path);
}

static bool rows_walk_thread(struct rows_walk *w, uint32_t root)
{
    bool good = true;
    w->depth = 0;
    rows_push(w, root)->times = times_of_nothing();
    while (good && (w->depth > 1 || w->frames[0].next_child != PROFILE_NONE)) {
        struct rows_frame *f = &w->frames[w->depth - 1];
        const uint32_t child = f->next_child;
        if (child == PROFILE_NONE) {
            good = rows_leave(w);
        } else {
            f->next_child = w->tree->sibling(w, child);
            good = rows_enter(w, child);
        }
    }
    return good;
}

static bool rows_take_counted(struct rows_walk *w)
{
    const struct profile *p = w->session->analysis.profile;
    for (size_t i = 0; i < p->counted_count; i++) {
        const struct profile_thread *t = &p->threads[p->counted[i].thread];
        w->process = t->process;
        w->thread = t->thread;
        struct fleet_row row = rows_begin(w, FLEET_COUNTED_CALLS);
        rows_name_function(w, &row, p->counted[i].function);
        row.amounts.calls = row.amounts.counted = p->counted[i].calls;
        if (!w->take(w->context, &row))
            return false;
    }
    return true;
}

static bool rows_take_loaded(struct rows_walk *w)
{
    const struct profile *p = w->session->analysis.profile;
    bool good = true;
    w->tree = &rows_loaded;
    rows_link_loaded(w);
    for (size_t i = 0; good && i < p->thread_count; i++) {
        w->process = p->threads[i].process;
        w->thread = p->threads[i].thread;
        good = rows_take_root(w, &p->nodes[p->threads[i].root]) && rows_walk_thread(w, p->threads[i].root);
    }
    free(w->first_child);
    free(w->sibling);
    return good && rows_take_counted(w);
}

/* The summary has the probes' time, which is known at the end. */
static bool rows_take_streamed(struct rows_walk *w)
{
    struct analysis *analysis = &w->session->analysis;
    size_t count;
    bool good = true;
    w->tree = &rows_streamed;
    w->costs = single_calls_list_costs(analysis->file, &count);
    w->cost_places = overhead_index_costs(w->costs, count);
    w->trees = thread_trees_begin(analysis->file);
    analysis->overhead = (struct overhead){ 0 };
    while (good && thread_trees_next(&w->trees, &w->links)) {
        rows_begin_streamed(w);
        good = rows_walk_thread(w, 0);
    }
    thread_tree_drop(&w->links);
    thread_trees_drop(&w->trees);
    index_free(w->cost_places);
    free(w->costs);
    analysis_summarize(analysis);
    return good;
}

static uint32_t *rows_find_copies(const struct analysis *analysis)
{
    uint32_t *functions = copies_find(analysis->profile, analysis->names);
    if (functions)
        return functions;
    functions = need_memory(analysis->profile->function_count + 1, sizeof *functions);
    for (uint32_t i = 0; i < analysis->profile->function_count; i++)
        functions[i] = i;
    return functions;
}

bool fleet_follow_rows(struct fleet_session *session, fleet_row_taker *take, void *context, struct error *error)
{
    const struct profile *p = session->analysis.profile;
    struct rows_walk w = {
        .session = session,
        .functions = rows_find_copies(&session->analysis),
        .open_functions = need_memory(p->function_count + 1, sizeof *w.open_functions),
        .open_modules = need_memory(p->module_count + 1, sizeof *w.open_modules),
        .take = take,
        .context = context,
        .error = error,
    };
    const bool good = session->whole ? rows_take_loaded(&w) : rows_take_streamed(&w);
    free(w.frames);
    free(w.functions);
    free(w.open_functions);
    free(w.open_modules);
    return good;
}
