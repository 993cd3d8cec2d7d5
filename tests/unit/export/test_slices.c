/* Parts of random sessions, cut into chunks anywhere, add up to the whole session, to the tick. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/selection_request.h"
#include "profile/recursion.h"
#include "profile/subtree.h"
#include "report/table_formats.h"
#include "support/load.h"
#include "support/model.h"
#include "support/rows.h"
#include "support/scenario.h"
#include "support/success.h"
#include "tables/views.h"

static struct session_file *open_model(struct model *m, unsigned pieces)
{
    struct writer *w = model_write(m, pieces, 0);
    writer_save(w, test_path("slices.dwell"));
    writer_free(w);
    struct session_file *file = session_file_open(test_path("slices.dwell"), &(const char *){ NULL });
    cr_assert(file != NULL);
    return file;
}

static bool node_is_empty(const struct profile_node *node)
{
    return !node->elapsed && !node->calls && !node->page_faults && node->shortest > node->longest;
}

/* Maps each call path of one profile to the other's, or to PROFILE_NONE. */
static uint32_t *map_nodes(struct profile *to, const struct profile *from)
{
    uint32_t *map = calloc(from->node_count, sizeof *map);
    for (size_t i = 0; i < from->thread_count; i++)
        map[from->threads[i].root] = profile_root(to, from->threads[i].process, from->threads[i].thread);
    for (size_t i = 0; i < from->node_count; i++) {
        const struct profile_node *node = &from->nodes[i];
        if (node->parent == PROFILE_NONE)
            continue;
        const struct profile_function *f = &from->functions[node->function];
        const struct profile_module *m = &from->modules[f->module];
        const uint32_t module = profile_module(to, m->path, m->build_id, m->build_id_length);
        map[i] = profile_child(to, map[node->parent], profile_function(to, module, f->offset));
    }
    return map;
}

/* Every call path of one profile has the other's values. */
static void same_paths(struct profile *parts, const struct profile *whole)
{
    uint32_t *map = map_nodes(parts, whole);
    for (size_t i = 0; i < whole->node_count; i++) {
        const struct profile_node *a = &whole->nodes[i], *b = &parts->nodes[map[i]];
        cr_assert(eq(u64, b->elapsed, a->elapsed));
        cr_assert(eq(u64, b->flagged, a->flagged));
        cr_assert(eq(u64, b->blocked, a->blocked));
        cr_assert(eq(u64, b->preempted, a->preempted));
        cr_assert(eq(u64, b->page_faults, a->page_faults));
        cr_assert(eq(u64, b->calls, a->calls));
        cr_assert(eq(u64, b->shortest, a->shortest));
        cr_assert(eq(u64, b->longest, a->longest));
    }
    size_t used[2] = { 0, 0 };
    for (size_t i = 0; i < whole->node_count; i++)
        used[0] += !node_is_empty(&whole->nodes[i]);
    for (size_t i = 0; i < parts->node_count; i++)
        used[1] += !node_is_empty(&parts->nodes[i]);
    cr_assert(eq(sz, used[0], used[1]));
    cr_assert(eq(u64, parts->counts.enters, whole->counts.enters));
    cr_assert(eq(u64, parts->counts.exits, whole->counts.exits));
    cr_assert(eq(u64, parts->counts.unwound, whole->counts.unwound));
    cr_assert(eq(u64, parts->counts.os_events, whole->counts.os_events));
    cr_assert(eq(u64, parts->counts.outside, whole->counts.outside));
    free(map);
}

static void add_part(struct profile *sum, const struct session_file *file, const struct selection *slice, unsigned jobs)
{
    struct profile *part = collect_selection(file, NULL, jobs, slice);
    profile_merge(sum, part);
    profile_free(part);
}

static const unsigned cuts[] = { 0, 300, 20, 2 };

/* By name, by tid, and by the name of the process. */
Test(unit_slices, threads_and_processes_add_up_to_the_whole, .timeout = 300)
{
    static const char *const threads[][4] = { { "first", "sec?nd" }, { "200", "201", "202", "203" } };
    static const char *const processes[] = { "model", "101" };
    for (unsigned seed = 1; seed <= 6; seed++) {
        struct model *m = model_new(seed);
        struct session_file *file = open_model(m, cuts[seed % 4]);
        struct profile *whole = collect_profile(file, 1);
        struct profile *by_thread = profile_new(), *by_process = profile_new();
        for (int i = 0; i < 4 && threads[seed % 2][i]; i++) {
            struct selection slice = { 0 };
            selection_add_name(&slice.threads, threads[seed % 2][i]);
            add_part(by_thread, file, &slice, 1 + seed % 3);
            selection_free(&slice);
        }
        for (int i = 0; i < 2; i++) {
            struct selection slice = { 0 };
            selection_add_name(&slice.processes, processes[i]);
            add_part(by_process, file, &slice, 1 + seed % 3);
            selection_free(&slice);
        }
        same_paths(by_thread, whole);
        same_paths(by_process, whole);
        profile_free(by_thread);
        profile_free(by_process);
        profile_free(whole);
        session_file_close(file);
        model_free(m);
    }
}

/* A thread must match any given thread and any given process. */
Test(unit_slices, threads_of_processes)
{
    struct model *m = model_new(7);
    struct session_file *file = open_model(m, 20);
    struct selection slice = { 0 };
    selection_add_name(&slice.threads, "first");
    selection_add_name(&slice.threads, "201");
    selection_add_name(&slice.processes, "100");
    cr_assert(selection_takes(&slice, file, 1, 1));
    cr_assert(selection_takes(&slice, file, 1, 2));
    cr_assert(not(selection_takes(&slice, file, 2, 3)));
    cr_assert(not(selection_takes(&slice, file, 2, 4)));
    const char *what;
    cr_assert(zero(ptr, (void *)selection_unknown_name(&slice, file, &what)));
    selection_add_name(&slice.processes, "10");
    cr_assert(eq(str, (char *)selection_unknown_name(&slice, file, &what), "10"));
    cr_assert(eq(str, (char *)what, "process"));
    selection_free(&slice);
    session_file_close(file);
    model_free(m);
}

/* The times within calls of a function: the part of each reference path from its first frame on. */
static void check_root(struct model *m, const struct profile *whole, int function)
{
    const uint32_t module =
        profile_find_module(whole, model_paths[function / MODEL_PER_MODULE], (const uint8_t *)"", 0);
    const uint32_t root = profile_find_function(whole, module, model_offset(function));
    struct profile *below = model_subtree(whole, root);
    struct rollup *rollup = rollup_new(below);
    cr_assert(eq(u64, rollup->session.elapsed_inclusive, m->functions[function].elapsed_inclusive));
    cr_assert(eq(u64, rollup->session.elapsed_exclusive, m->functions[function].elapsed_inclusive));
    cr_assert(eq(u64, rollup->session.application_inclusive, m->functions[function].application_inclusive));
    uint64_t calls = 0, exclusive[MODEL_FUNCTIONS] = { 0 };
    for (unsigned i = 0; i < m->path_count; i++) {
        const struct model_path *path = &m->paths[i];
        if (!memchr(path->stack, function, path->depth))
            continue;
        calls += path->times.calls;
        exclusive[path->stack[path->depth - 1]] += path->times.elapsed_exclusive;
    }
    cr_assert(eq(u64, below->counts.enters, calls));
    struct times *functions = rollup_groups(rollup, BY_FUNCTION);
    cr_assert(eq(sz, below->function_count, whole->function_count));
    for (int i = 0; i < MODEL_FUNCTIONS; i++) {
        const uint32_t m_ = profile_find_module(below, model_paths[i / MODEL_PER_MODULE], (const uint8_t *)"", 0);
        const uint32_t f = profile_find_function(below, m_, model_offset(i));
        cr_assert(eq(u64, functions[f].elapsed_exclusive, exclusive[i]));
    }
    struct times own = functions[root];
    cr_assert(eq(u64, own.calls, m->functions[function].calls));
    cr_assert(eq(u64, own.shortest, m->functions[function].shortest));
    cr_assert(eq(u64, own.longest, m->functions[function].longest));
    free(functions);
    rollup_free(rollup);
    profile_free(below);
}

Test(unit_slices, below_a_function, .timeout = 300)
{
    for (unsigned seed = 11; seed <= 14; seed++) {
        struct model *m = model_new(seed);
        struct session_file *file = open_model(m, cuts[seed % 4]);
        struct profile *whole = collect_profile(file, 2);
        for (int function = 0; function < MODEL_FUNCTIONS; function++)
            check_root(m, whole, function);
        profile_free(whole);
        session_file_close(file);
        model_free(m);
    }
}

/* If all calls are within main's, the part is the whole session. */
Test(unit_slices, below_main_is_the_whole)
{
    enum { MAIN = 0x1000, F = 0x2000, G = 0x3000 };
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    write_thread(w, 1, 1, 11, SOURCE_PERF, "t");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, MAIN);
    write_enter(w, 20, F);
    write_enter(w, 30, MAIN);
    write_off_cpu(w, false, 31, 4);
    write_enter(w, 40, G);
    write_faults(w, 2);
    write_exit(w, 50);
    write_exit(w, 60);
    write_exit(w, 70);
    write_exit(w, 80);
    struct outcome o = outcome_of(w, 1);
    const uint32_t unknown = profile_find_module(o.profile, "", (const uint8_t *)"", 0);
    struct profile *below = model_subtree(o.profile, profile_find_function(o.profile, unknown, MAIN));
    cr_assert(eq(sz, below->node_count, o.profile->node_count));
    for (size_t i = 0; i < below->node_count; i++)
        cr_assert(zero(int, memcmp(&below->nodes[i], &o.profile->nodes[i], sizeof *below->nodes)));
    cr_assert(eq(u64, below->counts.enters, 4));
    cr_assert(eq(u64, below->counts.blocked, 4));
    cr_assert(eq(u64, below->counts.page_faults, 2));
    profile_free(below);
    outcome_drop(&o);
}

static void check_once_a_path(const struct profile *p)
{
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->parent == PROFILE_NONE)
            continue;
        for (uint32_t above = node->parent; p->nodes[above].parent != PROFILE_NONE; above = p->nodes[above].parent)
            cr_assert(ne(u32, p->nodes[above].function, node->function));
    }
}

/* The most calls of each function that were open at once, by the reference's paths. */
static unsigned deepest_of(const struct model *m, int function)
{
    unsigned deepest = 0;
    for (unsigned i = 0; i < m->path_count; i++) {
        unsigned open = 0;
        for (unsigned j = 0; j < m->paths[i].depth; j++)
            open += m->paths[i].stack[j] == function;
        deepest = open > deepest ? open : deepest;
    }
    return deepest;
}

static void check_folded(const struct model *m, const struct profile *whole)
{
    struct rollup *rollup = rollup_new(whole);
    uint32_t *deepest;
    struct profile *folded = recursion_fold(rollup, &deepest);
    struct rollup *once = rollup_new(folded);
    struct times *a = rollup_groups(rollup, BY_FUNCTION), *b = rollup_groups(once, BY_FUNCTION);
    check_once_a_path(folded);
    cr_assert(eq(u64, once->session.elapsed_inclusive, rollup->session.elapsed_inclusive));
    cr_assert(eq(u64, once->session.application_inclusive, rollup->session.application_inclusive));
    for (size_t i = 0; i < whole->function_count; i++) {
        cr_assert(eq(u64, b[i].elapsed_exclusive, a[i].elapsed_exclusive));
        cr_assert(eq(u64, b[i].application_exclusive, a[i].application_exclusive));
        cr_assert(eq(u64, b[i].calls, a[i].calls));
    }
    for (int i = 0; i < MODEL_FUNCTIONS; i++) {
        const uint32_t module = profile_find_module(folded, model_paths[i / MODEL_PER_MODULE], (const uint8_t *)"", 0);
        const uint32_t function = profile_find_function(folded, module, model_offset(i));
        uint32_t most = 0;
        for (size_t j = 0; j < folded->node_count; j++)
            if (folded->nodes[j].function == function && deepest[j] > most)
                most = deepest[j];
        cr_assert(eq(u32, most, deepest_of(m, i)));
    }
    free(a);
    free(b);
    free(deepest);
    rollup_free(once);
    profile_free(folded);
    rollup_free(rollup);
}

Test(unit_slices, folded_recursion_adds_up, .timeout = 300)
{
    for (unsigned seed = 51; seed <= 54; seed++) {
        struct model *m = model_new(seed);
        struct session_file *file = open_model(m, 20);
        struct profile *whole = collect_profile(file, 2);
        check_folded(m, whole);
        profile_free(whole);
        session_file_close(file);
        model_free(m);
    }
}

/* ---- ranges of time ---- */

static void add_range(struct profile *sum, const struct session_file *file, uint64_t from, uint64_t to, unsigned jobs)
{
    const struct selection slice = { .cut = true, .from = from, .to = to };
    add_part(sum, file, &slice, jobs);
}

/* Borders anywhere: at events, beside them, and before and after all of them. */
static uint64_t random_border(struct model *m)
{
    const unsigned thread = model_random(m, MODEL_THREADS);
    return m->events[thread][model_random(m, MODEL_EVENTS)].time + model_random(m, 3) - 1;
}

static int compare_times(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

Test(unit_slices, adjacent_ranges_add_up_to_the_whole, .timeout = 300)
{
    enum { BORDERS = 6 };
    for (unsigned seed = 21; seed <= 32; seed++) {
        struct model *m = model_new(seed);
        struct session_file *file = open_model(m, cuts[seed % 4]);
        struct profile *whole = collect_profile(file, 1), *sum = profile_new();
        uint64_t borders[BORDERS + 2] = { [BORDERS] = 0, [BORDERS + 1] = UINT64_MAX };
        for (int i = 0; i < BORDERS; i++)
            borders[i] = random_border(m);
        qsort(borders, BORDERS + 2, sizeof *borders, compare_times);
        for (int i = 0; i <= BORDERS; i++)
            add_range(sum, file, borders[i], borders[i + 1], 1 + seed % 3);
        same_paths(sum, whole);
        profile_free(sum);
        profile_free(whole);
        session_file_close(file);
        model_free(m);
    }
}

struct reference {
    uint64_t elapsed[MODEL_FUNCTIONS], application[MODEL_FUNCTIONS], calls[MODEL_FUNCTIONS], outside;
};

/* The part of an interval that lies between two borders belongs to the function on top. */
static void add_overlap(struct reference *r, int top, uint64_t begin, uint64_t end, bool flagged,
                        const uint64_t border[2])
{
    const uint64_t from = begin > border[0] ? begin : border[0], to = end < border[1] ? end : border[1];
    if (from >= to)
        return;
    if (top < 0) {
        r->outside += to - from;
        return;
    }
    r->elapsed[top] += to - from;
    r->application[top] += flagged ? 0 : to - from;
}

static void walk_range(struct reference *r, const struct model *m, unsigned thread, const uint64_t border[2])
{
    int stack[MODEL_DEEPEST + 1] = { -1 };
    unsigned depth = 0;
    uint64_t last = 4000; /* where the thread's first chunk begins */
    for (int i = 0; i < MODEL_EVENTS; i++) {
        const struct model_event *e = &m->events[thread][i];
        add_overlap(r, stack[depth], last, e->time, e->flagged, border);
        depth -= e->unwound;
        if (e->function >= 0) {
            stack[++depth] = e->function;
            r->calls[e->function] += e->time >= border[0] && e->time < border[1];
        } else {
            depth--;
        }
        last = e->time;
    }
    add_overlap(r, stack[depth], last, m->end[thread], m->end_flagged[thread], border);
}

static void check_range(const struct model *m, const struct session_file *file, const uint64_t border[2])
{
    struct reference r = { .outside = 0 };
    for (unsigned thread = 0; thread < MODEL_THREADS; thread++)
        walk_range(&r, m, thread, border);
    struct profile *p = profile_new();
    add_range(p, file, border[0], border[1], 2);
    struct rollup *rollup = rollup_new(p);
    struct times *functions = rollup_groups(rollup, BY_FUNCTION);
    for (int i = 0; i < MODEL_FUNCTIONS; i++) {
        const uint32_t module = profile_find_module(p, model_paths[i / MODEL_PER_MODULE], (const uint8_t *)"", 0);
        const uint32_t f = profile_find_function(p, module, model_offset(i));
        const struct times none = { .calls = 0 }, *t = f == PROFILE_NONE ? &none : &functions[f];
        cr_assert(eq(u64, t->elapsed_exclusive, r.elapsed[i]));
        cr_assert(eq(u64, t->application_exclusive, r.application[i]));
        cr_assert(eq(u64, t->calls, r.calls[i]));
    }
    cr_assert(eq(u64, p->counts.outside, r.outside));
    free(functions);
    rollup_free(rollup);
    profile_free(p);
}

Test(unit_slices, a_range_is_what_lies_between_its_borders, .timeout = 300)
{
    for (unsigned seed = 41; seed <= 48; seed++) {
        struct model *m = model_new(seed);
        struct session_file *file = open_model(m, cuts[seed % 4]);
        for (int i = 0; i < 6; i++) {
            uint64_t border[2] = { random_border(m), random_border(m) };
            qsort(border, 2, sizeof *border, compare_times);
            check_range(m, file, border);
        }
        session_file_close(file);
        model_free(m);
    }
}

enum { F = 0x1000, G = 0x2000, H = 0x3000 };

/* F from 10, with G in it from 20 to 60. G's 30 ticks from 20 on have 8 blocked, 12 preempted and three faults. A pause
 * lasts from 70 to 90, while F stays open. Another stack, with H, runs from 110 to 120. */
static struct session_file *open_eventful(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    write_thread(w, 1, 1, 11, SOURCE_PERF, "t");
    write_thread_end(w, 1, 1, true, 150);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    write_off_cpu(w, false, 25, 8);
    write_off_cpu(w, true, 35, 12);
    write_faults(w, 3);
    write_enter(w, 50, H);
    write_exit(w, 55);
    write_exit(w, 60);
    write_words(w, (uint16_t[]){ 11u << 8 | 3, 70, 0, 0 }, 4);
    write_os(w);
    write_words(w, (uint16_t[]){ 12u << 8 | 5, 90, 0, 0, 0, 0 }, 6);
    w->last = 90;
    write_enter(w, 100, G);
    write_words(w, (uint16_t[]){ 14u << 8 | 7, H, 0, 0, 0, 110, 0, 0 }, 8);
    write_words(w, (uint16_t[]){ 15u << 8 | 5, 110, 0, 0, 0, 0 }, 6);
    w->last = 110;
    write_exit(w, 120);
    write_enter(w, 130, F);
    write_enter(w, 140, G);
    writer_save(w, test_path("eventful.dwell"));
    writer_free(w);
    const char *error;
    struct session_file *file = session_file_open(test_path("eventful.dwell"), &error);
    cr_assert(file != NULL);
    return file;
}

/* Cut anywhere, into two parts or into parts of one tick. */
Test(unit_slices, waits_pauses_and_other_stacks_are_cut)
{
    struct session_file *file = open_eventful();
    struct profile *whole = collect_profile(file, 1), *ticks = profile_new();
    cr_assert(eq(u64, whole->counts.page_faults, 3));
    cr_assert(eq(u64, whole->counts.paused, 20));
    for (uint64_t border = 0; border <= 160; border++) {
        struct profile *sum = profile_new();
        add_range(sum, file, 0, border, 1);
        add_range(sum, file, border, UINT64_MAX, 1);
        same_paths(sum, whole);
        cr_assert(eq(u64, sum->counts.paused, whole->counts.paused));
        profile_free(sum);
        add_range(ticks, file, border, border + 1, 1);
    }
    same_paths(ticks, whole);
    profile_free(ticks);
    profile_free(whole);
    session_file_close(file);
}

static struct times times_of(const struct session_file *file, uint64_t from, uint64_t to, uint64_t function)
{
    const struct selection slice = { .cut = true, .from = from, .to = to };
    struct profile *p = collect_selection(file, NULL, 1, &slice);
    struct rollup *rollup = rollup_new(p);
    struct times *functions = rollup_groups(rollup, BY_FUNCTION), found = { .calls = 0 };
    const uint32_t f = profile_find_function(p, profile_find_module(p, "", (const uint8_t *)"", 0), function);
    if (f != PROFILE_NONE)
        found = functions[f];
    free(functions);
    rollup_free(rollup);
    profile_free(p);
    return found;
}

/* From the event at one border to just before the event at the other. */
Test(unit_slices, what_belongs_to_a_range)
{
    struct session_file *file = open_eventful();
    struct times g = times_of(file, 20, 50, G);
    ASSERT_TIMES(g, 30, 30, 0, 0, 1);
    cr_assert(eq(u64, g.blocked_exclusive, 8));
    cr_assert(eq(u64, g.preempted_exclusive, 12));
    cr_assert(eq(u64, g.page_faults_exclusive, 0)); /* the event at 50 records them */
    cr_assert(gt(u64, g.shortest, g.longest));      /* not ended yet */
    ASSERT_TIMES(times_of(file, 20, 50, F), 30, 0, 0, 0, 0);
    g = times_of(file, 21, 61, G);
    ASSERT_TIMES(g, 39, 34, 10, 5, 0);
    cr_assert(eq(u64, g.blocked_exclusive, 7));
    cr_assert(eq(u64, g.preempted_exclusive, 12));
    cr_assert(eq(u64, g.page_faults_exclusive, 3));
    cr_assert(eq(u64, g.longest, 40));                          /* a call that ended here, with its full length */
    ASSERT_TIMES(times_of(file, 65, 95, F), 10, 10, 10, 10, 0); /* without the pause */
    ASSERT_TIMES(times_of(file, 145, 1000, G), 5, 5, 0, 0, 0);  /* up to the thread's end */
    session_file_close(file);
}

static void print_part(const struct analysis *analysis, FILE *out)
{
    static const struct sorting sorting = { .key = "elapsed_exclusive", .calls = true };
    struct table tables[] = {
        sorted_rows(analysis, BY_FUNCTION, &sorting),
        sorted_rows(analysis, BY_MODULE, &(struct sorting){ .key = "name" }),
        sorted_rows(analysis, BY_THREAD, &(struct sorting){ .key = "calls" }),
        sorted(view_thread_names(analysis), "name"),
        view_tree(analysis, &(struct tree_options){ .depth = 40, .by_thread = true, .fold_recursion = true }),
        view_tree(analysis, &(struct tree_options){ .depth = 40, .collapse = true, .own.percent = 5 }),
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        table_print_text(&tables[i], out);
        table_print_json(&tables[i], out);
        table_drop(&tables[i]);
    }
}

/* The text of a report for a part of a session in chunks of that size. */
static char *print_slice(struct model *m, unsigned pieces, unsigned jobs, uint64_t from, uint64_t to)
{
    struct analysis_options options = {
        .jobs = jobs,
        .selection = { .from = { .given = true, .ns = from }, .to = { .given = true, .ns = to } },
    };
    struct analysis analysis;
    char *text = NULL;
    size_t length;
    session_file_close(open_model(m, pieces));
    selection_add_name(&options.selection.selection.threads, "first");
    load_with(&analysis, test_path("slices.dwell"), &options);
    FILE *out = open_memstream(&text, &length);
    print_part(&analysis, out);
    selection_add_name(&options.selection.roots, "main");
    EXPECT_SUCCESS(analysis_narrow(&analysis, &options.selection.roots, &error));
    print_part(&analysis, out);
    fprintf(out, "%zu functions\n", analysis.profile->function_count);
    fclose(out);
    analysis_drop(&analysis);
    selection_request_drop(&options.selection);
    return text;
}

Test(unit_slices, the_result_does_not_depend_on_chunks, .timeout = 300)
{
    for (unsigned seed = 61; seed <= 64; seed++) {
        struct model *m = model_new(seed);
        uint64_t border[2] = { m->events[0][100].time, m->events[2][100 * (seed % 4) + 250].time };
        qsort(border, 2, sizeof *border, compare_times);
        char *whole = print_slice(m, 0, 1, border[0], border[1]);
        for (unsigned i = 1; i < sizeof cuts / sizeof *cuts; i++) {
            char *cut = print_slice(m, cuts[i], i, border[0], border[1]);
            cr_assert(eq(str, cut, whole));
            free(cut);
        }
        free(whole);
        model_free(m);
    }
}

static bool count_call(void *context, const struct finished_call *call)
{
    *(uint64_t *)context += call->begin;
    return true;
}

/* The sum of the enter times of the selection's single calls. */
static uint64_t slices_begins(const struct session_file *file, const struct profile *p, struct selection selection)
{
    uint64_t begins = 0;
    calls_follow(&(struct calls_source){ .file = file, .profile = p, .selection = &selection }, count_call, &begins);
    return begins;
}

/* Single calls: those that ended in the range, or are within calls of a function. */
Test(unit_slices, single_calls)
{
    struct session_file *file = open_eventful();
    struct profile *whole = collect_profile(file, 1);
    const uint32_t unknown = profile_find_module(whole, "", (const uint8_t *)"", 0);
    bool in_g[16] = { false }, in_h[16] = { false };
    in_g[profile_find_function(whole, unknown, G)] = in_h[profile_find_function(whole, unknown, H)] = true;
    cr_assert(eq(u64, slices_begins(file, whole, (struct selection){ .cut = true, .from = 55, .to = 60 }), 50));
    cr_assert(eq(u64, slices_begins(file, whole, (struct selection){ .cut = true, .from = 55, .to = 61 }), 70));
    cr_assert(eq(u64, slices_begins(file, whole, (struct selection){ .roots = in_g, .root_count = 16 }), 70));
    cr_assert(eq(u64, slices_begins(file, whole, (struct selection){ .roots = in_h, .root_count = 16 }), 50));
    profile_free(whole);
    session_file_close(file);
}
