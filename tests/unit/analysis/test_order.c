/* The order in which exports list a session's call paths. It does not depend on how the work was split. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/order.h"
#include "support/exported.h"
#include "support/model.h"
#include "support/scenario.h"

TestSuite(unit_order);

struct recorded {
    struct order_visitor visitor;
    const struct analysis *session;
    size_t entered, left, deepest;
    char *text;
    size_t length;
    FILE *out;
};

static void order_enter(struct order_visitor *v, uint32_t node)
{
    struct recorded *r = (struct recorded *)v;
    const struct profile *p = r->session->profile;
    cr_assert(eq(u32, v->path[v->depth - 1], node));
    cr_assert(eq(u32, p->nodes[v->path[0]].function != PROFILE_NONE, 1));
    for (size_t i = 1; i < v->depth; i++)
        cr_assert(eq(u32, p->nodes[v->path[i]].parent, v->path[i - 1]));
    fprintf(r->out, "%zu %s %lu\n", v->depth, r->session->names[p->nodes[node].function].name, p->nodes[node].elapsed);
    r->entered++;
}

static void order_leave(struct order_visitor *v, uint32_t node)
{
    struct recorded *r = (struct recorded *)v;
    cr_assert(eq(u32, v->path[v->depth - 1], node));
    r->left++;
}

static struct recorded order_record(const struct analysis *analysis)
{
    struct recorded r = { .visitor = { order_enter, order_leave, NULL, 0 }, .session = analysis };
    struct order *order = order_new(analysis);
    r.out = open_memstream(&r.text, &r.length);
    for (size_t i = 0; i < analysis->profile->thread_count; i++) {
        const struct profile_thread *thread = &analysis->profile->threads[order->threads[i]];
        fprintf(r.out, "thread %u\n", thread->thread);
        order_walk(order, thread, &r.visitor);
    }
    fclose(r.out);
    order_free(order);
    return r;
}

Test(unit_order, every_path_appears_once_and_always_in_the_same_order)
{
    char *first = NULL;
    for (unsigned pieces = 0; pieces < 8; pieces += 3) {
        struct model *m = model_new(11);
        struct analysis analysis = loaded_of(model_write(m, pieces, pieces % MODEL_THREADS));
        struct recorded r = order_record(&analysis);
        cr_assert(eq(sz, r.entered, analysis.profile->node_count - analysis.profile->thread_count));
        cr_assert(eq(sz, r.entered, m->path_count));
        cr_assert(eq(sz, r.left, r.entered));
        if (first)
            cr_assert(eq(str, r.text, first));
        free(first);
        first = r.text;
        analysis_drop(&analysis);
        model_free(m);
    }
    free(first);
}

static void order_go_deeper(struct order_visitor *v, uint32_t node)
{
    struct recorded *r = (struct recorded *)v;
    cr_assert(eq(u32, v->path[v->depth - 1], node));
    cr_assert(eq(sz, v->depth, ++r->deepest));
}

Test(unit_order, calls_may_nest_deeper_than_a_stack_allows)
{
    enum { DEPTH = 300000 };
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/p");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t i = 0; i < DEPTH; i++)
        write_enter(w, i, 0x1000 + i % 7);
    end_events(w, true);
    struct analysis analysis = loaded_of(w);
    struct order *order = order_new(&analysis);
    struct recorded r = { .visitor = { order_go_deeper, order_leave, NULL, 0 } };
    order_walk(order, &analysis.profile->threads[0], &r.visitor);
    cr_assert(eq(sz, r.deepest, DEPTH));
    cr_assert(eq(sz, r.left, DEPTH));
    order_free(order);
    analysis_drop(&analysis);
}

/* Two libraries of one name have the same functions at the same addresses. */
Test(unit_order, unique_names_are_unique)
{
    struct model *m = model_new(3);
    struct analysis analysis = loaded_of(model_write(m, 5, 0));
    char **names = export_unique_names(&analysis);
    for (size_t i = 0; i < analysis.profile->function_count; i++)
        for (size_t j = 0; j < i; j++)
            cr_assert(ne(str, names[i], names[j]));
    for (size_t i = 0; i < analysis.profile->function_count; i++) {
        const char *path = analysis.profile->modules[analysis.profile->functions[i].module].path;
        const bool second = strcmp(path, "/lib/two/libx.so") == 0;
        cr_assert(eq(int, strstr(names[i], " (2)") != NULL, second), "%s", names[i]);
        free(names[i]);
    }
    free(names);
    analysis_drop(&analysis);
    model_free(m);
}
