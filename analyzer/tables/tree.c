/* The view of call paths: a tree with the largest branch first, folded small branches, and a mark on the hot path. */
#include <stdlib.h>
#include <string.h>

#include "analysis/lines.h"
#include "analysis/waiting_names.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "profile/recursion.h"
#include "tables/percentiles.h"
#include "tables/views.h"

static const struct column path_columns[] = {
    { "depth", "DEPTH", CELL_COUNT, USE_DATA, false },
    { "hot", "HOT", CELL_TEXT, USE_ALWAYS, false },
    { "function", "CALL PATH", CELL_NAME, USE_ALWAYS, true },
    { "module", "MODULE", CELL_TEXT, USE_DATA, false },
};
static const struct column line_columns[] = {
    { "source", "FROM LINE", CELL_SOURCE, USE_ALWAYS, false },
    { "of", "OF FUNCTION", CELL_TEXT, USE_DATA, false },
};
static const struct column recursion_column = { "recursion", "DEEP", CELL_COUNT, USE_ALWAYS, false };
enum {
    PATH_COLUMN_COUNT = sizeof path_columns / sizeof *path_columns,
    LINE_COLUMN_COUNT = sizeof line_columns / sizeof *line_columns,
    HOT = 1,
    SOURCE = PATH_COLUMN_COUNT,
    MAX_SUBJECTS = PATH_COLUMN_COUNT + LINE_COLUMN_COUNT + 1,
};

/* A path is hot while one child has at least half of its parent's time. */
enum { HOT_SHARE = 2, NAME_ROOM = 40 };

struct tree_threshold { /* ticks */
    uint64_t elapsed, cpu;
};

struct tree_drawing {
    const struct analysis *loaded;
    const struct rollup *rollup;
    const struct tree_options *options;
    struct table *table;
    enum value_id measure;          /* the value of the order and of the hot path */
    uint64_t *work;                 /* by node: that value without waits below it; NULL if no function is a wait */
    struct tree_threshold smallest; /* branches that are below both are folded */
    struct tree_threshold own;      /* a function whose own times are above neither can share its callee's row */
    const uint32_t *deepest;        /* by node, if recursion is folded: the highest number of open calls */
};

struct tree_folded { /* a row for several branches */
    struct times times;
    char name[64];
};

struct tree_pending { /* a row that is not made yet */
    uint32_t node;
    struct tree_folded *folded; /* NULL if it is the row of the node */
    size_t parent;              /* 1 + row of the parent, or zero */
    unsigned depth;
    bool hot;
    bool waiting; /* it is a function that only waits, or below one */
};

struct tree_pending_list {
    struct tree_pending *list;
    size_t count, room;
};

static size_t tree_add_row(struct tree_drawing *d, size_t parent, unsigned depth, const char *mark, const char *name,
                           const struct function_name *function, const struct times *times)
{
    struct cell *cells = table_row(d->table);
    cell_number(&cells[0], depth);
    cell_text(&cells[1], mark);
    cell_text(&cells[2], name);
    if (function) {
        cell_text(&cells[3], function->module);
        fill_place(d->table, function);
    }
    fill_times(d->table, times);
    d->table->parents = need_more(d->table->parents, d->table->row_room, sizeof *d->table->parents);
    d->table->parents[d->table->row_count - 1] = parent;
    return d->table->row_count;
}

struct tree_ranked_node {
    const struct tree_drawing *drawing;
    uint32_t node;
};

static int tree_compare_nodes(const void *a, const void *b)
{
    const struct tree_ranked_node *x = a, *y = b;
    const struct rollup *r = x->drawing->rollup;
    const struct times *s = &r->nodes[x->node], *t = &r->nodes[y->node];
    const uint64_t a_measure = times_value(s, x->drawing->measure, INCLUSIVE);
    const uint64_t b_measure = times_value(t, x->drawing->measure, INCLUSIVE);
    if (a_measure != b_measure)
        return a_measure < b_measure ? 1 : -1;
    if (s->elapsed_inclusive != t->elapsed_inclusive)
        return s->elapsed_inclusive < t->elapsed_inclusive ? 1 : -1;
    if (s->calls != t->calls)
        return s->calls < t->calls ? 1 : -1;
    const struct profile_function *functions = r->profile->functions;
    uint32_t f = r->profile->nodes[x->node].function, g = r->profile->nodes[y->node].function;
    int order = strcmp(x->drawing->loaded->names[f].name, x->drawing->loaded->names[g].name);
    if (order == 0)
        order = strcmp(r->profile->modules[functions[f].module].path, r->profile->modules[functions[g].module].path);
    if (order == 0)
        order = functions[f].offset < functions[g].offset ? -1 : functions[f].offset > functions[g].offset;
    const uint32_t v = r->profile->nodes[x->node].site, w = r->profile->nodes[y->node].site;
    if (order == 0 && (x->drawing->options->by_line || v == PROFILE_SAMPLED || w == PROFILE_SAMPLED))
        order = lines_compare(x->drawing->loaded, v, w);
    return order;
}

static size_t tree_sorted_children(const struct tree_drawing *d, uint32_t node, struct tree_ranked_node **children)
{
    size_t count = 0, room = 0;
    *children = NULL;
    for (uint32_t child = d->rollup->first_child[node]; child != PROFILE_NONE; child = d->rollup->sibling[child]) {
        GROW(*children, count, room);
        (*children)[count++] = (struct tree_ranked_node){ d, child };
    }
    if (count)
        qsort(*children, count, sizeof **children, tree_compare_nodes);
    return count;
}

/* Makes one row for all children that are too small or too deep, so that the shown children still add up. */
static struct tree_folded *tree_fold(const struct tree_drawing *d, const struct tree_ranked_node *children,
                                     size_t count, const char *why)
{
    struct tree_folded *folded = need_memory(1, sizeof *folded);
    folded->times = times_of_nothing();
    for (size_t i = 0; i < count; i++) {
        const struct times *t = &d->rollup->nodes[children[i].node];
        times_add_inclusive(&folded->times, t);
        folded->times.calls += t->calls;
    }
    times_own_all(&folded->times); /* no rows are below this one */
    snprintf(folded->name, sizeof folded->name, "(%zu %s)", count, why);
    return folded;
}

static void tree_push(struct tree_pending_list *pending, struct tree_pending row)
{
    GROW(pending->list, pending->count, pending->room);
    pending->list[pending->count++] = row;
}

/* Samples do not distinguish waiting from work, so the name has to tell. */
static bool tree_has_waiting_name(const struct tree_drawing *d, uint32_t node)
{
    return has_waiting_name(d->loaded, d->rollup->profile->nodes[node].function);
}

/* Whether the node mostly waits: it is never hot. With CPU times, most of its CPU time must be its own, since a path
 * through it may lead to work. */
static bool tree_is_waiting(const struct tree_drawing *d, uint32_t node)
{
    const struct times *t = &d->rollup->nodes[node];
    if (d->measure != VALUE_CPU)
        return tree_has_waiting_name(d, node);
    return times_percent(t, VALUE_WAITING) > 50 &&
           times_value(t, VALUE_CPU, EXCLUSIVE) >= times_value(t, VALUE_CPU, INCLUSIVE) / 2;
}

/* Sums up the value of all nodes but those that are waits, and what is below them. Nodes follow their parents. */
static uint64_t *tree_find_work(const struct tree_drawing *d)
{
    const struct profile *p = d->rollup->profile;
    uint64_t *work = need_memory(p->node_count + 1, sizeof *work);
    bool any = false;
    for (uint32_t i = 0; i < p->node_count; i++)
        work[i] = times_value(&d->rollup->nodes[i], d->measure, INCLUSIVE);
    for (uint32_t i = (uint32_t)p->node_count; i-- > 0;) {
        const uint64_t all = times_value(&d->rollup->nodes[i], d->measure, INCLUSIVE);
        if (tree_has_waiting_name(d, i)) {
            work[i] = 0;
            any = true;
        }
        const uint32_t parent = p->nodes[i].parent;
        if (parent != PROFILE_NONE)
            work[parent] = less(work[parent], all - work[i]);
    }
    if (any)
        return work;
    free(work);
    return NULL;
}

static uint64_t tree_work(const struct tree_drawing *d, uint32_t node)
{
    return d->work ? d->work[node] : times_value(&d->rollup->nodes[node], d->measure, INCLUSIVE);
}

static bool tree_is_large(const struct tree_drawing *d, uint32_t node)
{
    const struct times *t = &d->rollup->nodes[node];
    return t->elapsed_inclusive >= d->smallest.elapsed || times_value(t, VALUE_CPU, INCLUSIVE) >= d->smallest.cpu;
}

/* Moves the children that are shown to the front, in their order, and returns their number. */
static size_t tree_pick_shown(const struct tree_drawing *d, unsigned depth, struct tree_ranked_node *children,
                              size_t count)
{
    size_t shown = 0;
    for (size_t i = 0; i < count && depth < d->options->depth; i++) {
        if (!tree_is_large(d, children[i].node))
            continue;
        const struct tree_ranked_node large = children[i];
        children[i] = children[shown];
        children[shown++] = large;
    }
    return shown;
}

static void tree_draw_children(struct tree_drawing *d, struct tree_pending_list *pending, const struct tree_pending *p,
                               size_t row)
{
    struct tree_ranked_node *children;
    const size_t count = tree_sorted_children(d, p->node, &children);
    const size_t shown = tree_pick_shown(d, p->depth, children, count);
    if (shown < count && !d->options->unfolded) /* the last to be drawn */
        tree_push(pending, (struct tree_pending){
                               .folded = tree_fold(d, children + shown, count - shown,
                                                   p->depth < d->options->depth ? "smaller" : "deeper; see --depth"),
                               .parent = row,
                               .depth = p->depth + 1,
                           });
    uint64_t whole = tree_work(d, p->node);
    size_t most = shown; /* the child with the most work */
    for (size_t i = 0; i < shown; i++) {
        const uint64_t work = tree_work(d, children[i].node);
        if (tree_is_waiting(d, children[i].node))
            whole = less(whole, work);
        else if (most == shown || work > tree_work(d, children[most].node))
            most = i;
    }
    for (size_t i = shown; i-- > 0;) {
        const uint64_t work = tree_work(d, children[i].node);
        const bool waiting = (p->waiting && d->measure != VALUE_CPU) || tree_is_waiting(d, children[i].node);
        const bool hot = p->hot && i == most && !waiting && work >= whole / HOT_SHARE && (work || !whole);
        tree_push(pending, (struct tree_pending){ children[i].node, NULL, row, p->depth + 1, hot, waiting });
    }
    free(children);
}

static bool tree_has_own_time(const struct tree_drawing *d, uint32_t node)
{
    const struct times *t = &d->rollup->nodes[node];
    return t->elapsed_exclusive > d->own.elapsed || times_value(t, VALUE_CPU, EXCLUSIVE) > d->own.cpu;
}

/* The node's only callee if both can share a row, because the node has almost no own time; else PROFILE_NONE. */
static uint32_t tree_single_callee(const struct tree_drawing *d, uint32_t node)
{
    const struct rollup *r = d->rollup;
    const uint32_t child = r->first_child[node];
    if (!d->options->collapse || tree_has_own_time(d, node) || child == PROFILE_NONE ||
        r->sibling[child] != PROFILE_NONE)
        return PROFILE_NONE;
    return tree_is_large(d, child) && !tree_has_waiting_name(d, child) ? child : PROFILE_NONE;
}

/* Adds a row for the node and the callees that share it. Calls, their durations and inclusive times are those of the
 * first one. p->node becomes the last one. */
static size_t tree_draw_path(struct tree_drawing *d, struct tree_pending *p)
{
    struct times times = d->rollup->nodes[p->node];
    const struct profile_node *nodes = d->rollup->profile->nodes;
    const struct line_name *line = d->options->by_line ? lines_of_node(d->loaded, &nodes[p->node]) : NULL;
    const struct durations *durations = nodes[p->node].durations;
    uint32_t deepest = d->deepest ? d->deepest[p->node] : 0;
    char *name = NULL;
    size_t size;
    FILE *out = need_stream(&name, &size);
    fputs(d->loaded->names[nodes[p->node].function].name, out);
    for (uint32_t next; (next = tree_single_callee(d, p->node)) != PROFILE_NONE; p->node = next) {
        fprintf(out, " > %s", d->loaded->names[nodes[next].function].name);
        times_add_exclusive(&times, &d->rollup->nodes[next]);
        if (d->deepest && d->deepest[next] > deepest)
            deepest = d->deepest[next];
    }
    need_stream_end(out);
    const struct function_name *last = &d->loaded->names[nodes[p->node].function];
    const size_t row = tree_add_row(d, p->parent, p->depth, p->hot ? "*" : p->waiting ? "w" : "", name, last, &times);
    struct cell *cells = &d->table->cells[(row - 1) * d->table->column_count];
    cells[HOT].hot = p->hot;
    cells[HOT].is_waiting = p->waiting && !p->hot;
    percentiles_fill(&cells[d->table->column_count - PLACE_COLUMNS - PERCENTILE_COLUMNS], d->loaded, durations);
    if (line) {
        char *of = lines_function(line);
        cell_text(&cells[SOURCE], line->source);
        cell_text(&cells[SOURCE + 1], of);
        free(of);
    }
    if (d->deepest)
        cell_number(&cells[SOURCE + d->options->by_line * LINE_COLUMN_COUNT], deepest);
    free(name);
    return row;
}

static void tree_draw_below(struct tree_drawing *d, uint32_t root, size_t row, unsigned depth)
{
    struct tree_pending_list pending = { 0 };
    struct tree_pending first = { root, NULL, row, depth, true, false };
    tree_draw_children(d, &pending, &first, row);
    while (pending.count) {
        struct tree_pending p = pending.list[--pending.count];
        if (p.folded) {
            tree_add_row(d, p.parent, p.depth, "", p.folded->name, NULL, &p.folded->times);
            free(p.folded);
            continue;
        }
        size_t own = tree_draw_path(d, &p);
        tree_draw_children(d, &pending, &p, own);
    }
    free(pending.list);
}

static int tree_compare_threads(const void *a, const void *b)
{
    const struct profile_thread *x = a, *y = b;
    return ORDER_BY(x, y, process, thread);
}

/* What the row of a thread says. The caller frees it. */
static char *tree_thread_row(const struct tree_drawing *d, const struct profile_thread *thread, const char *name)
{
    const struct trace_thread *t = session_file_thread(d->loaded->file, thread->thread);
    const bool several = d->loaded->part_count;
    return need_text("thread %s (%u)%s%s", name, t ? t->tid : 0, several ? " of " : "",
                     several ? analysis_session_of(d->loaded, thread->process) : "");
}

static void tree_draw_threads(struct tree_drawing *d)
{
    const struct profile *p = d->rollup->profile;
    struct profile_thread *threads = need_memory(p->thread_count, sizeof *threads);
    for (size_t i = 0; i < p->thread_count; i++)
        threads[i] = p->threads[i];
    qsort(threads, p->thread_count, sizeof *threads, tree_compare_threads);
    for (size_t i = 0; i < p->thread_count; i++) {
        const struct trace_thread *t = session_file_thread(d->loaded->file, threads[i].thread);
        char *name = tree_thread_row(d, &threads[i], t ? t->name : "[unknown]");
        const char *title = analysis_thread_title(d->loaded, threads[i].thread);
        const size_t row = tree_add_row(d, 0, 0, "", name, NULL, &d->rollup->nodes[threads[i].root]);
        if (title)
            d->table->cells[(row - 1) * d->table->column_count + 2].shown = tree_thread_row(d, &threads[i], title);
        tree_draw_below(d, threads[i].root, row, 0);
        free(name);
    }
    free(threads);
}

/* The names of the functions of the joined tree, which are those of the profile in another order. */
static struct function_name *tree_function_names(const struct analysis *analysis, const struct profile *joined)
{
    struct function_name *names = need_memory(joined->function_count, sizeof *names);
    struct profile *original = analysis->profile;
    for (size_t i = 0; i < joined->function_count; i++) {
        const struct profile_module *m = &joined->modules[joined->functions[i].module];
        uint32_t module = profile_module(original, m->path, m->build_id, m->build_id_length);
        names[i] = analysis->names[profile_function(original, module, joined->functions[i].offset)];
    }
    return names;
}

static void tree_draw_nodes(struct tree_drawing *d)
{
    d->work = tree_find_work(d);
    if (d->options->by_thread)
        tree_draw_threads(d);
    else if (d->rollup->profile->thread_count)
        tree_draw_below(d, d->rollup->profile->threads[0].root, 0, 0);
    free(d->work);
}

static void tree_draw_folded(struct tree_drawing *d)
{
    uint32_t *deepest;
    struct profile *folded = recursion_fold(d->rollup, &deepest);
    struct rollup *rollup = rollup_new(folded);
    d->deepest = deepest;
    d->rollup = rollup;
    tree_draw_nodes(d);
    rollup_free(rollup);
    profile_free(folded);
    free(deepest);
}

static uint64_t tree_amount(const struct amount *amount, const struct analysis *analysis, enum value_id value)
{
    return (uint64_t)amount_ticks(amount, times_value(&analysis->summary.sums, value, INCLUSIVE),
                                  analysis->summary.ticks_per_second);
}

/* A percentage is of the session's time of each kind. */
static struct tree_threshold tree_threshold(const struct amount *amount, const struct analysis *analysis, bool by_cpu)
{
    return (struct tree_threshold){ tree_amount(amount, analysis, VALUE_ELAPSED),
                                    by_cpu ? tree_amount(amount, analysis, VALUE_CPU) : UINT64_MAX };
}

static void tree_prefer_columns(struct table *t)
{
    static const char *const optional[] = {
        "application_inclusive",
        "application_exclusive",
        "elapsed_exclusive",
        "elapsed_inclusive",
        "cpu_exclusive",
        "calls",
        NULL,
    };
    table_prefer(t,
                 "cpu_inclusive,cpu_inclusive_percent,cpu_exclusive,blocked_inclusive,elapsed_inclusive,"
                 "elapsed_exclusive,application_inclusive,application_exclusive,calls",
                 optional, NAME_ROOM);
}

static size_t tree_list_subjects(struct column *columns, const struct tree_options *options)
{
    size_t count = 0;
    for (size_t i = 0; i < PATH_COLUMN_COUNT; i++)
        columns[count++] = path_columns[i];
    for (size_t i = 0; options->by_line && i < LINE_COLUMN_COUNT; i++)
        columns[count++] = line_columns[i];
    if (options->fold_recursion)
        columns[count++] = recursion_column;
    return count;
}

struct table view_tree(const struct analysis *analysis, const struct tree_options *options)
{
    struct column subjects[MAX_SUBJECTS];
    const size_t count = tree_list_subjects(subjects, options);
    struct column others[PERCENTILE_COLUMNS + PLACE_COLUMNS];
    const size_t percentiles = percentiles_list(others, analysis);
    memcpy(others + percentiles, place_columns, sizeof place_columns);
    struct table t = values_table(subjects, count, others, percentiles + PLACE_COLUMNS, &analysis->summary);
    t.waiting_column = HOT;
    void (*draw_all)(struct tree_drawing *) = options->fold_recursion ? tree_draw_folded : tree_draw_nodes;
    struct tree_drawing d = { .loaded = analysis, .rollup = analysis->rollup, .options = options, .table = &t };
    d.measure = options->by_cpu ? VALUE_CPU : VALUE_ELAPSED;
    d.smallest = tree_threshold(&options->min, analysis, options->by_cpu);
    d.own = tree_threshold(&options->own, analysis, options->by_cpu);
    if (options->by_cpu)
        tree_prefer_columns(&t);
    if (options->by_thread) {
        draw_all(&d);
        percentiles_limit(&t, analysis);
        return t;
    }
    struct profile *joined = rollup_join_threads(analysis->profile);
    struct rollup *rollup = rollup_new(joined);
    struct analysis view = *analysis;
    view.names = tree_function_names(analysis, joined);
    d.loaded = &view;
    d.rollup = rollup;
    draw_all(&d);
    percentiles_limit(&t, analysis);
    free(view.names);
    rollup_free(rollup);
    profile_free(joined);
    return t;
}
