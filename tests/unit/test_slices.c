/* Parts of random sessions, however they are cut into chunks: together they are the whole, to the tick. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "profile/subtree.h"
#include "report/slices.h"
#include "report/views.h"
#include "support/model.h"
#include "support/scenario.h"

static struct session_file *open_model(struct model *m, unsigned pieces)
{
    struct writer *w = model_write(m, pieces, 0);
    writer_save(w, test_path("slices.dwell"));
    writer_free(w);
    const char *error;
    struct session_file *file = session_file_open(test_path("slices.dwell"), &error);
    cr_assert(file != NULL);
    return file;
}

static bool node_is_empty(const struct profile_node *node)
{
    return !node->elapsed && !node->calls && !node->page_faults && node->shortest > node->longest;
}

/* Of two profiles each other's call path, or PROFILE_NONE. */
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

/* Every call path of one has the other's values. */
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

static void add_part(struct profile *sum, const struct session_file *file, const struct slice *slice, unsigned jobs)
{
    struct profile *part = collect_slice(file, jobs, slice);
    profile_merge(sum, part);
    profile_free(part);
}

static const unsigned cuts[] = { 0, 300, 20, 2 };

/* By name, by tid, and by the name of the process. */
Test(unit_slices, threads_and_processes_are_together_the_whole, .timeout = 60)
{
    static const char *const threads[][4] = { { "first", "sec?nd" }, { "200", "201", "202", "203" } };
    static const char *const processes[] = { "model", "101" };
    for (unsigned seed = 1; seed <= 6; seed++) {
        struct model *m = model_new(seed);
        struct session_file *file = open_model(m, cuts[seed % 4]);
        struct profile *whole = collect_profile(file, 1);
        struct profile *by_thread = profile_new(), *by_process = profile_new();
        for (int i = 0; i < 4 && threads[seed % 2][i]; i++) {
            struct slice slice = { 0 };
            slice_add_name(&slice.threads, threads[seed % 2][i]);
            add_part(by_thread, file, &slice, 1 + seed % 3);
            slice_free(&slice);
        }
        for (int i = 0; i < 2; i++) {
            struct slice slice = { 0 };
            slice_add_name(&slice.processes, processes[i]);
            add_part(by_process, file, &slice, 1 + seed % 3);
            slice_free(&slice);
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

/* Of threads and of processes, any is meant; but both must be. */
Test(unit_slices, threads_of_processes)
{
    struct model *m = model_new(7);
    struct session_file *file = open_model(m, 20);
    struct slice slice = { 0 };
    slice_add_name(&slice.threads, "first");
    slice_add_name(&slice.threads, "201");
    slice_add_name(&slice.processes, "100");
    cr_assert(slice_takes(&slice, file, 1, 1));
    cr_assert(slice_takes(&slice, file, 1, 2));
    cr_assert(not(slice_takes(&slice, file, 2, 3)));
    cr_assert(not(slice_takes(&slice, file, 2, 4)));
    const char *what;
    cr_assert(zero(ptr, (void *)slice_unknown_name(&slice, file, &what)));
    slice_add_name(&slice.processes, "10");
    cr_assert(eq(str, (char *)slice_unknown_name(&slice, file, &what), "10"));
    cr_assert(eq(str, (char *)what, "process"));
    slice_free(&slice);
    session_file_close(file);
    model_free(m);
}

/* ---- below a function ---- */

/* All that is in calls of a function, by the reference's paths: what is behind its first place in each of them. */
static void check_root(struct model *m, const struct profile *whole, int function)
{
    const uint32_t module =
        profile_find_module(whole, model_paths[function / MODEL_PER_MODULE], (const uint8_t *)"", 0);
    const uint32_t root = profile_find_function(whole, module, model_offset(function));
    struct profile *below = subtree_below(whole, root);
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

Test(unit_slices, below_a_function, .timeout = 60)
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

/* Where all calls are within main's, those are the whole. */
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
    write_away(w, false, 31, 4);
    write_enter(w, 40, G);
    write_faults(w, 2);
    write_exit(w, 50);
    write_exit(w, 60);
    write_exit(w, 70);
    write_exit(w, 80);
    struct outcome o = outcome_of(w, 1);
    const uint32_t unknown = profile_find_module(o.profile, "", (const uint8_t *)"", 0);
    struct profile *below = subtree_below(o.profile, profile_find_function(o.profile, unknown, MAIN));
    cr_assert(eq(sz, below->node_count, o.profile->node_count));
    for (size_t i = 0; i < below->node_count; i++)
        cr_assert(zero(int, memcmp(&below->nodes[i], &o.profile->nodes[i], sizeof *below->nodes)));
    cr_assert(eq(u64, below->counts.enters, 4));
    cr_assert(eq(u64, below->counts.blocked, 4));
    cr_assert(eq(u64, below->counts.page_faults, 2));
    profile_free(below);
    outcome_drop(&o);
}
