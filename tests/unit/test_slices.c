/* Parts of random sessions, however they are cut into chunks: together they are the whole, to the tick. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

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
