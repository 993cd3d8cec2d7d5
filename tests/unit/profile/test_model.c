/*
 * Compares random sessions with the time model taken literally. Every value of every function, module, thread, process,
 * call path and neighbour agrees to the tick. The same events in other chunks, read by more or fewer threads, give
 * byte-identical reports.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "report/table_formats.h"
#include "support/load.h"
#include "support/model.h"
#include "support/rows.h"
#include "support/scenario.h"
#include "tables/views.h"

enum { SEEDS = 8 };

static void model_expect_times(const struct times *found, const struct times *wanted)
{
    cr_assert(eq(u64, found->elapsed_inclusive, wanted->elapsed_inclusive));
    cr_assert(eq(u64, found->elapsed_exclusive, wanted->elapsed_exclusive));
    cr_assert(eq(u64, found->application_inclusive, wanted->application_inclusive));
    cr_assert(eq(u64, found->application_exclusive, wanted->application_exclusive));
    cr_assert(eq(u64, found->calls, wanted->calls));
    cr_assert(eq(u64, found->shortest, wanted->shortest));
    cr_assert(eq(u64, found->longest, wanted->longest));
}

static int model_module_number(const struct profile *p, uint32_t module)
{
    int i = 0;
    while (i < MODEL_MODULES && strcmp(model_paths[i], p->modules[module].path) != 0)
        i++;
    cr_assert(lt(int, i, MODEL_MODULES));
    return i;
}

/* The model's number of a function; MODEL_NOBODY for PROFILE_NONE. */
static int model_function_number(const struct profile *p, uint32_t function)
{
    if (function == PROFILE_NONE)
        return MODEL_NOBODY;
    const int module = model_module_number(p, p->functions[function].module);
    for (int i = module * MODEL_PER_MODULE; i < (module + 1) * MODEL_PER_MODULE; i++)
        if (model_offset(i) == p->functions[function].offset)
            return i;
    cr_fatal("no such function");
}

static void model_compare_groups(const struct outcome *o, const struct model *m)
{
    const struct profile *p = o->profile;
    struct times *functions = rollup_groups(o->rollup, BY_FUNCTION), *modules = rollup_groups(o->rollup, BY_MODULE);
    struct times *threads = rollup_groups(o->rollup, BY_THREAD), *processes = rollup_groups(o->rollup, BY_PROCESS);
    cr_assert(eq(sz, p->function_count, MODEL_FUNCTIONS));
    cr_assert(eq(sz, p->module_count, MODEL_MODULES));
    cr_assert(eq(sz, p->thread_count, MODEL_THREADS));
    cr_assert(eq(sz, rollup_group_count(o->rollup, BY_PROCESS), MODEL_PROCESSES));
    for (uint32_t i = 0; i < MODEL_FUNCTIONS; i++)
        model_expect_times(&functions[i], &m->functions[model_function_number(p, i)]);
    for (uint32_t i = 0; i < MODEL_MODULES; i++)
        model_expect_times(&modules[i], &m->modules[model_module_number(p, i)]);
    for (uint32_t i = 0; i < MODEL_THREADS; i++)
        model_expect_times(&threads[i], &m->threads[p->threads[i].thread - 1]);
    for (uint32_t i = 0; i < MODEL_PROCESSES; i++)
        model_expect_times(&processes[i], &m->processes[i]);
    free(functions);
    free(modules);
    free(threads);
    free(processes);
}

static uint32_t model_node_of(const struct outcome *o, const struct model_path *path)
{
    const struct profile *p = o->profile;
    uint32_t node = PROFILE_NONE;
    for (size_t i = 0; i < p->thread_count; i++)
        if (p->threads[i].thread == path->thread + 1)
            node = p->threads[i].root;
    for (unsigned i = 0; i < path->depth; i++) {
        node = o->rollup->first_child[node];
        while (node != PROFILE_NONE && model_function_number(p, p->nodes[node].function) != path->stack[i])
            node = o->rollup->sibling[node];
        cr_assert(ne(u32, node, PROFILE_NONE));
    }
    return node;
}

static void model_compare_paths(const struct outcome *o, const struct model *m)
{
    cr_assert(eq(sz, o->profile->node_count, m->path_count + MODEL_THREADS));
    for (unsigned i = 0; i < m->path_count; i++)
        model_expect_times(&o->rollup->nodes[model_node_of(o, &m->paths[i])], &m->paths[i].times);
}

static bool model_neighbour_counts(const struct times *t)
{
    return t->calls || t->elapsed_inclusive || t->elapsed_exclusive;
}

static size_t model_count_neighbours(const struct times *t, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += model_neighbour_counts(&t[i]);
    return found;
}

static void model_compare_neighbours(const struct outcome *o, const struct model *m)
{
    const struct profile *p = o->profile;
    for (uint32_t f = 0; f < MODEL_FUNCTIONS; f++) {
        const int number = model_function_number(p, f);
        struct neighbours n = rollup_neighbours(o->rollup, f);
        cr_assert(eq(sz, n.caller_count, model_count_neighbours(m->callers[number], MODEL_FUNCTIONS + 1)));
        cr_assert(eq(sz, n.callee_count, model_count_neighbours(m->callees[number], MODEL_FUNCTIONS)));
        for (size_t i = 0; i < n.caller_count; i++)
            model_expect_times(&n.callers[i].times,
                               &m->callers[number][model_function_number(p, n.callers[i].function)]);
        for (size_t i = 0; i < n.callee_count; i++)
            model_expect_times(&n.callees[i].times,
                               &m->callees[number][model_function_number(p, n.callees[i].function)]);
        neighbours_free(&n);
    }
}

Test(unit_model, every_value_is_the_models, .timeout = 300)
{
    static const unsigned pieces[] = { 0, 100, 7, 1 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct model *m = model_new(seed);
        for (unsigned i = 0; i < 4; i++) {
            struct outcome o = outcome_of(model_write(m, pieces[i], i), 1 + i);
            model_compare_groups(&o, m);
            model_compare_paths(&o, m);
            model_compare_neighbours(&o, m);
            check_identities(&o);
            cr_assert(eq(u64, o.rollup->session.elapsed_inclusive, m->session.elapsed_inclusive));
            cr_assert(eq(u64, o.rollup->session.elapsed_exclusive, m->session.elapsed_exclusive));
            cr_assert(eq(u64, o.rollup->session.application_inclusive, m->session.application_inclusive));
            cr_assert(eq(u64, o.rollup->session.application_exclusive, m->session.application_exclusive));
            cr_assert(eq(u64, o.rollup->session.calls, m->session.calls));
            outcome_drop(&o);
        }
        model_free(m);
    }
}

/* ---- merging parts in any order ---- */

/* Sums over all threads. They do not depend on the order of entries. */
static void model_expect_sums(const struct profile *a, const struct profile *b)
{
    struct rollup *x = rollup_new(a), *y = rollup_new(b);
    struct times *f = rollup_groups(x, BY_FUNCTION), *g = rollup_groups(y, BY_FUNCTION);
    cr_assert(eq(sz, a->node_count, b->node_count));
    cr_assert(eq(sz, a->function_count, b->function_count));
    for (uint32_t i = 0; i < a->function_count; i++)
        for (uint32_t j = 0; j < b->function_count; j++)
            if (model_function_number(a, i) == model_function_number(b, j))
                model_expect_times(&f[i], &g[j]);
    cr_assert(eq(u64, x->session.elapsed_inclusive, y->session.elapsed_inclusive));
    cr_assert(eq(u64, x->session.application_inclusive, y->session.application_inclusive));
    cr_assert(eq(u64, a->counts.enters, b->counts.enters));
    cr_assert(eq(u64, a->counts.intervals, b->counts.intervals));
    free(f);
    free(g);
    rollup_free(x);
    rollup_free(y);
}

static struct profile *model_merge(const struct profile *a, const struct profile *b)
{
    struct profile *p = profile_new();
    profile_merge(p, a);
    profile_merge(p, b);
    return p;
}

Test(unit_model, merging_is_commutative_and_associative)
{
    struct outcome parts[3];
    for (uint64_t i = 0; i < 3; i++) {
        struct model *m = model_new(100 + i);
        parts[i] = outcome_of(model_write(m, 50, 0), 1);
        model_free(m);
    }
    const struct profile *a = parts[0].profile, *b = parts[1].profile, *c = parts[2].profile;
    struct profile *ab = model_merge(a, b), *ba = model_merge(b, a), *bc = model_merge(b, c);
    struct profile *left = model_merge(ab, c), *right = model_merge(a, bc);
    model_expect_sums(ab, ba);
    model_expect_sums(left, right);
    struct profile *all[] = { ab, ba, bc, left, right };
    for (int i = 0; i < 5; i++)
        profile_free(all[i]);
    for (int i = 0; i < 3; i++)
        outcome_drop(&parts[i]);
}

/* ---- reports ---- */

static void model_print_table(const struct table *t, FILE *out)
{
    table_print_text(t, out);
    table_print_csv(t, out);
    table_print_json(t, out);
}

/* The functions' indices depend on the split; their names and modules do not. */
static uint32_t model_find_function(const struct profile *p, int number)
{
    uint32_t i = 0;
    while (model_function_number(p, i) != number)
        i++;
    return i;
}

static char *model_print_reports(const char *path, unsigned jobs, bool by_thread)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    struct analysis analysis;
    load_whole(&analysis, path, jobs);
    for (int by = BY_FUNCTION; by <= BY_PROCESS && !by_thread; by++) {
        struct table t = sorted_rows(&analysis, (enum rollup_by)by, &(struct sorting){ .key = by ? "name" : "calls" });
        model_print_table(&t, out);
        table_drop(&t);
    }
    struct table tree =
        view_tree(&analysis, &(struct tree_options){ .min.percent = 0.5, .depth = 8, .by_thread = by_thread });
    model_print_table(&tree, out);
    table_drop(&tree);
    for (int i = 0; i < MODEL_FUNCTIONS && !by_thread; i++) {
        struct table t = view_callers(&analysis, model_find_function(analysis.profile, i), false);
        model_print_table(&t, out);
        table_drop(&t);
    }
    analysis_drop(&analysis);
    fclose(out);
    return text;
}

static void model_expect_same_reports(bool by_thread)
{
    static const unsigned jobs[] = { 1, 2, 5 }, pieces[] = { 0, 60, 5 };
    const char *path = test_path("split.dwell");
    struct model *m = model_new(77);
    char *first = NULL;
    for (unsigned round = 0; round < 12; round++) {
        struct writer *w = model_write(m, pieces[round % 3], round % MODEL_THREADS);
        writer_save(w, path);
        writer_free(w);
        for (unsigned i = 0; i < 3; i++) {
            char *text = model_print_reports(path, jobs[i], by_thread);
            if (!first)
                first = text;
            cr_assert(strcmp(first, text) == 0, "pieces %u, jobs %u", pieces[round % 3], jobs[i]);
            if (text != first)
                free(text);
        }
    }
    free(first);
    model_free(m);
}

Test(unit_model, reports_do_not_depend_on_the_split, .timeout = 300)
{
    model_expect_same_reports(false);
}

Test(unit_model, trees_by_thread_do_not_depend_on_the_split, .timeout = 300)
{
    model_expect_same_reports(true);
}
