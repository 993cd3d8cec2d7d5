/*
 * VSPerfReport's summaries of functions, lines, callers and call tree. Rows are sorted by process, inclusive time and
 * more, so that they do not depend on how the work was split.
 */
#include "vsperf/vsperf_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"

enum { ALL_VALUES = VSPERF_INCLUSIVE | VSPERF_EACH | VSPERF_CALLS };

/* ---- order ---- */

struct vsperf_order {
    const struct analysis *session;
    const struct edges *edges;
};

static int vsperf_compare_functions(const struct analysis *analysis, uint32_t a, uint32_t b)
{
    const struct profile_function *f = &analysis->profile->functions[a], *g = &analysis->profile->functions[b];
    int order = strcmp(analysis->names[a].name, analysis->names[b].name);
    if (order == 0)
        order = strcmp(analysis->profile->modules[f->module].path, analysis->profile->modules[g->module].path);
    return order ? order : ORDER(f->offset, g->offset);
}

static int vsperf_compare_times(const struct times *a, const struct times *b)
{
    if (a->elapsed_inclusive != b->elapsed_inclusive)
        return a->elapsed_inclusive < b->elapsed_inclusive ? 1 : -1;
    return (a->calls < b->calls) - (a->calls > b->calls);
}

static int vsperf_compare_rows(const void *a, const void *b, void *data)
{
    const struct vsperf_order *o = data;
    const uint32_t f = *(const uint32_t *)a, g = *(const uint32_t *)b;
    const int order = vsperf_compare_times(&o->edges->functions[f].times, &o->edges->functions[g].times);
    return order ? order : vsperf_compare_functions(o->session, f, g);
}

static int vsperf_compare_callers(const void *a, const void *b, void *data)
{
    const struct vsperf_order *o = data;
    const struct edge *x = &o->edges->list[*(const uint32_t *)a], *y = &o->edges->list[*(const uint32_t *)b];
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    const int order = vsperf_compare_times(&x->of_callee.times, &y->of_callee.times);
    return order ? order : vsperf_compare_functions(o->session, x->caller, y->caller);
}

static int vsperf_compare_callees(const void *a, const void *b, void *data)
{
    const struct vsperf_order *o = data;
    const struct edge *x = &o->edges->list[*(const uint32_t *)a], *y = &o->edges->list[*(const uint32_t *)b];
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    const int order = vsperf_compare_times(&x->of_edge.times, &y->of_edge.times);
    return order ? order : vsperf_compare_functions(o->session, x->callee, y->callee);
}

static void vsperf_prepare_process(struct vsperf_process_rows *p, const struct analysis *analysis, uint32_t serial)
{
    const struct trace_process *process = session_file_process(analysis->file, serial);
    p->serial = serial;
    p->pid = process ? process->pid : 0;
    p->name = names_module(process ? process->path : "");
    p->edges = edges_of_process(analysis->rollup, serial);
    p->functions = need_memory(analysis->profile->function_count, sizeof *p->functions);
    p->callers = need_memory(p->edges.count, sizeof *p->callers);
    p->callees = need_memory(p->edges.count, sizeof *p->callees);
    for (uint32_t i = 0; i < analysis->profile->function_count; i++)
        if (p->edges.seen[i])
            p->functions[p->function_count++] = i;
    for (uint32_t i = 0; i < p->edges.count; i++)
        if (p->edges.list[i].caller != PROFILE_NONE)
            p->callers[p->caller_count++] = p->callees[p->callee_count++] = i;
    struct vsperf_order order = { analysis, &p->edges };
    qsort_r(p->functions, p->function_count, sizeof *p->functions, vsperf_compare_rows, &order);
    qsort_r(p->callers, p->caller_count, sizeof *p->callers, vsperf_compare_callers, &order);
    qsort_r(p->callees, p->callee_count, sizeof *p->callees, vsperf_compare_callees, &order);
}

struct vsperf_tables vsperf_new_tables(const struct analysis *analysis)
{
    struct vsperf_tables m = { .session = analysis };
    uint32_t *serials = rollup_process_list(analysis->profile, &m.count);
    m.processes = need_memory(m.count, sizeof *m.processes);
    for (size_t i = 0; i < m.count; i++)
        vsperf_prepare_process(&m.processes[i], analysis, serials[i]);
    free(serials);
    return m;
}

void vsperf_free_tables(struct vsperf_tables *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->processes[i].name);
        free(m->processes[i].functions);
        free(m->processes[i].callers);
        free(m->processes[i].callees);
        edges_free(&m->processes[i].edges);
    }
    free(m->processes);
}

struct vsperf_file vsperf_of_process(const struct vsperf_file *f, const struct vsperf_process_rows *p)
{
    struct vsperf_file rows = *f;
    rows.process_name = p->name;
    rows.process = p->serial;
    rows.pid = p->pid;
    return rows;
}

/* ---- callers and callees, functions ---- */

static void vsperf_put_function(const struct vsperf_file *f, uint32_t function, const struct call_sums *called)
{
    vsperf_text(f, f->session->names[function].name);
    vsperf_values(f, ALL_VALUES, called);
    vsperf_location(f, function);
}

static void vsperf_put_related(const struct vsperf_file *f, const char *type, uint32_t function,
                               const struct call_sums *called, uint32_t root)
{
    vsperf_text(f, type);
    vsperf_put_function(f, function, called);
    vsperf_text(f, f->session->names[root].name);
    vsperf_process(f);
    vsperf_end_row(f);
}

/* The index of the first edge of a function, in edges sorted by that end. */
static size_t vsperf_first_edge(const struct vsperf_process_rows *p, const uint32_t *sorted, size_t count,
                                bool by_callee, uint32_t function)
{
    const struct edge *all = p->edges.list;
    return LOWER_BOUND(edge, sorted, count, (by_callee ? all[*edge].callee : all[*edge].caller) < function);
}

static void vsperf_put_group(const struct vsperf_file *f, const struct vsperf_process_rows *p, uint32_t root)
{
    vsperf_put_related(f, "Root", root, &p->edges.functions[root], root);
    for (size_t i = vsperf_first_edge(p, p->callers, p->caller_count, true, root); i < p->caller_count; i++) {
        const struct edge *e = &p->edges.list[p->callers[i]];
        if (e->callee != root)
            break;
        vsperf_put_related(f, "Caller", e->caller, &e->of_callee, root);
    }
    for (size_t i = vsperf_first_edge(p, p->callees, p->callee_count, false, root); i < p->callee_count; i++) {
        const struct edge *e = &p->edges.list[p->callees[i]];
        if (e->caller != root)
            break;
        vsperf_put_related(f, "Callee", e->callee, &e->of_edge, root);
    }
}

void vsperf_caller_callee(const struct vsperf_file *f, const struct vsperf_tables *m)
{
    vsperf_titles(f, "Type,Function Name");
    vsperf_value_titles(f, ALL_VALUES);
    vsperf_location_titles(f);
    vsperf_titles(f, "Root Function Name");
    vsperf_process_titles(f);
    vsperf_end_row(f);
    for (size_t i = 0; i < m->count; i++) {
        const struct vsperf_file rows = vsperf_of_process(f, &m->processes[i]);
        for (size_t j = 0; j < m->processes[i].function_count; j++)
            vsperf_put_group(&rows, &m->processes[i], m->processes[i].functions[j]);
    }
}

void vsperf_functions(const struct vsperf_file *f, const struct vsperf_tables *m)
{
    vsperf_titles(f, "Function Name");
    vsperf_value_titles(f, ALL_VALUES);
    vsperf_location_titles(f);
    vsperf_process_titles(f);
    vsperf_end_row(f);
    for (size_t i = 0; i < m->count; i++) {
        const struct vsperf_process_rows *p = &m->processes[i];
        const struct vsperf_file rows = vsperf_of_process(f, p);
        for (size_t j = 0; j < p->function_count; j++) {
            vsperf_put_function(&rows, p->functions[j], &p->edges.functions[p->functions[j]]);
            vsperf_process(&rows);
            vsperf_end_row(&rows);
        }
    }
}

/* Times are known by function only, so each function has one row, for the line on which it begins. */
void vsperf_lines(const struct vsperf_file *f, const struct vsperf_tables *m)
{
    vsperf_titles(f, "Function Name");
    vsperf_value_titles(f, 0);
    vsperf_titles(f, "Source Line Begin,Source Character Begin,Source Line End,Source Character End,Function Address,"
                     "Function Line Number,Source File,Module Name,Module Path");
    vsperf_process_titles(f);
    vsperf_titles(f, "Line Name");
    vsperf_end_row(f);
    for (size_t i = 0; i < m->count; i++) {
        const struct vsperf_process_rows *p = &m->processes[i];
        const struct vsperf_file rows = vsperf_of_process(f, p);
        for (size_t j = 0; j < p->function_count; j++) {
            const uint32_t function = p->functions[j];
            const struct function_name *name = &f->session->names[function];
            const struct profile *profile = f->session->profile;
            if (!name->file || !name->line)
                continue;
            vsperf_text(&rows, name->name);
            vsperf_values(&rows, 0, &p->edges.functions[function]);
            vsperf_number(&rows, name->line);
            vsperf_number(&rows, 0);
            vsperf_number(&rows, name->line);
            vsperf_number(&rows, 0);
            vsperf_address(&rows, function);
            vsperf_number(&rows, name->line);
            vsperf_text(&rows, name->file);
            vsperf_text(&rows, name->module);
            vsperf_text(&rows, profile->modules[profile->functions[function].module].path);
            vsperf_process(&rows);
            char line[32];
            snprintf(line, sizeof line, "line %" PRIu32, name->line);
            vsperf_text(&rows, line);
            vsperf_end_row(&rows);
        }
    }
}

/* ---- the call tree ---- */

struct vsperf_pending {
    uint32_t node;
    unsigned depth;
};

struct vsperf_tree {
    const struct analysis *session;
    const struct rollup *rollup;
};

static int vsperf_compare_branches(const void *a, const void *b, void *data)
{
    const struct vsperf_tree *t = data;
    const uint32_t x = ((const struct vsperf_pending *)a)->node, y = ((const struct vsperf_pending *)b)->node;
    const struct profile_node *nodes = t->rollup->profile->nodes;
    const int order = vsperf_compare_times(&t->rollup->nodes[x], &t->rollup->nodes[y]);
    return order ? order : vsperf_compare_functions(t->session, nodes[x].function, nodes[y].function);
}

static void vsperf_put_branch(const struct vsperf_file *f, const struct rollup *r, const struct vsperf_pending *p)
{
    const struct call_sums called = {
        .times = r->nodes[p->node],
        .every_elapsed = r->nodes[p->node].elapsed_inclusive,
        .every_application = r->nodes[p->node].application_inclusive,
        .every_known = true,
    };
    vsperf_number(f, p->depth);
    vsperf_put_function(f, r->profile->nodes[p->node].function, &called);
    vsperf_process(f);
    vsperf_end_row(f);
}

static void vsperf_put_branches(const struct vsperf_file *f, const struct rollup *r, uint32_t root)
{
    struct vsperf_tree tree = { f->session, r };
    struct vsperf_pending *list = NULL;
    size_t count = 0, room = 0;
    struct vsperf_pending at = { root, 0 };
    for (;;) {
        const size_t first = count;
        for (uint32_t child = r->first_child[at.node]; child != PROFILE_NONE; child = r->sibling[child]) {
            GROW(list, count, room);
            list[count++] = (struct vsperf_pending){ child, at.depth + 1 };
        }
        if (count > first)
            qsort_r(list + first, count - first, sizeof *list, vsperf_compare_branches, &tree);
        for (size_t i = first, j = count; i + 1 < j; i++) { /* reversed, as the last element is written first */
            const struct vsperf_pending other = list[--j];
            list[j] = list[i];
            list[i] = other;
        }
        if (count == 0)
            break;
        at = list[--count];
        vsperf_put_branch(f, r, &at);
    }
    free(list);
}

/* The row of a process has depth 0. It is not a function, so it has inclusive values but no exclusive ones. */
void vsperf_tree(const struct vsperf_file *f, const struct vsperf_tables *m)
{
    vsperf_titles(f, "Level,Function Name");
    vsperf_value_titles(f, ALL_VALUES);
    vsperf_location_titles(f);
    vsperf_process_titles(f);
    vsperf_end_row(f);
    struct times *sums = rollup_groups(f->session->rollup, BY_PROCESS);
    for (size_t i = 0; i < m->count; i++) {
        const struct vsperf_process_rows *p = &m->processes[i];
        const struct vsperf_file rows = vsperf_of_process(f, p);
        struct call_sums whole = { .times = times_of_nothing() };
        times_add_inclusive(&whole.times, &sums[i]);
        vsperf_number(&rows, 0);
        vsperf_text(&rows, p->name);
        vsperf_values(&rows, ALL_VALUES, &whole);
        vsperf_text(&rows, "");
        vsperf_number(&rows, 0);
        vsperf_text(&rows, "");
        vsperf_text(&rows, "");
        vsperf_empty(&rows, 1);
        vsperf_process(&rows);
        vsperf_end_row(&rows);
        struct profile *joined = rollup_join_process(f->session->profile, p->serial);
        struct rollup *rollup = rollup_new(joined);
        vsperf_put_branches(&rows, rollup, joined->threads[0].root);
        rollup_free(rollup);
        profile_free(joined);
    }
    free(sums);
}
