/* Samples in the call trees of mode profile: all paths of a function are divided together, to the tick. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "profile/sampled_trees.h"
#include "profile/sampling.h"
#include "profile/trees.h"
#include "support/scenario.h"

enum { F = 0x1000, G = 0x2000, H = 0x3000, COPY = 0x5000, LEVEL = 22, COUNTED = 1 };

/* F takes 1,000 ticks by itself, and calls G for 400; H takes 300 and calls G for 200. */
static struct writer *trees_begin(void)
{
    static const struct tree_node nodes[] = {
        { .function = F, .calls = 1, .elapsed = 1000 },
        { .function = G, .parent = 1, .calls = 2, .elapsed = 400 },
        { .function = H, .calls = 1, .elapsed = 300 },
        { .function = G, .parent = 3, .calls = 1, .elapsed = 200 },
    };
    struct writer *w = writer_new();
    write_header(w, 36, 1, 4); /* mode profile */
    write_process(w, 1, 70, "/bin/p");
    write_thread(w, 1, 1, 71, SOURCE_PERF, "one");
    write_tree(w, 1, 1, nodes, 4);
    return w;
}

/* A stack of at most two functions, the innermost first. */
struct tree_sample {
    uint64_t time;
    uint32_t frames[2], count;
};
enum { IN_F, IN_G, IN_H, IN_COPY, IN_PROBE };

/* Of a session with these samples on thread 1, which stand for these periods; NULL: all for the same. */
static struct outcome trees_outcome(struct writer *w, const struct tree_sample *list, uint32_t count,
                                    const uint32_t *periods)
{
    struct sampled_frame frames[] = {
        { NULL, F, SAMPLED_PROGRAM },    { NULL, G, SAMPLED_PROGRAM },      { NULL, H, SAMPLED_PROGRAM },
        { NULL, COPY, SAMPLED_PROGRAM }, { NULL, 0x9000, SAMPLED_RUNTIME },
    };
    struct sampled_chain *chains = calloc(count, sizeof *chains);
    uint32_t *links = calloc(2 * count, sizeof *links);
    struct sample_point *points = calloc(count, sizeof *points);
    for (uint32_t i = 0; i < count; i++) {
        chains[i] = (struct sampled_chain){ 2 * i, list[i].count };
        links[2 * i] = list[i].frames[0];
        links[2 * i + 1] = list[i].frames[1];
        points[i] = (struct sample_point){ list[i].time, i, periods ? periods[i] : 1000 };
    }
    struct thread_samples thread = { .thread = 1, .points = points, .count = count };
    const struct session_samples samples = {
        .frames = frames, .links = links, .chains = chains, .threads = &thread, .thread_count = 1
    };
    const char *wrong;
    writer_save(w, test_path("trees.data"));
    writer_free(w);
    struct outcome o = { .file = session_file_open(test_path("trees.data"), &wrong) };
    o.file->header.mode = DWELL_MODE_PROFILE;
    o.profile = trees_profile(o.file, NULL, false);
    sampled_trees_add(o.profile, o.file, &samples);
    sampling_divide(o.profile, o.file, false, true);
    o.rollup = rollup_new(o.profile);
    check_identities(&o);
    free(points);
    free(links);
    free(chains);
    return o;
}

Test(unit_sampled_trees, all_paths_of_a_function_are_divided_together)
{
    enum { COUNT = 300 };
    struct tree_sample samples[COUNT + 3] = {
        { 40, { IN_F }, 1 }, { 50, { IN_PROBE }, 1 }, { 60, { IN_COPY }, 1 }, /* of an unknown caller */
    };
    for (uint32_t i = 0; i < COUNT; i++)
        samples[3 + i] = i % 3 ? (struct tree_sample){ 100 + i, { IN_COPY, IN_G }, 2 }
                               : (struct tree_sample){ 100 + i, { IN_G, IN_F }, 2 };
    struct outcome o = trees_outcome(trees_begin(), samples, COUNT + 3, NULL);
    const struct times g = function_times(&o, G), copy = function_times(&o, COPY);
    cr_assert(eq(u64, g.elapsed_inclusive, 600));
    cr_assert(eq(u64, g.elapsed_exclusive + copy.elapsed_exclusive, 600));
    cr_assert(ge(u64, copy.elapsed_exclusive, 398)); /* the time of a sample is 2 ticks */
    cr_assert(le(u64, copy.elapsed_exclusive, 402));
    cr_assert(eq(u64, copy.calls, 0));
    cr_assert(times_are_sampled(&copy));
    cr_assert(eq(u64, function_times(&o, F).elapsed_exclusive, 1000));
    cr_assert(eq(u64, function_times(&o, H).elapsed_exclusive, 300));
    cr_assert(eq(u64, o.profile->counts.samples, COUNT + 2));
    cr_assert(eq(u64, o.profile->counts.samples_in_probes, 1));
    outcome_drop(&o);
}

/* As many samples in both, one for 1 and the other for 3 ms. */
Test(unit_sampled_trees, samples_stand_for_their_periods)
{
    enum { COUNT = 60 };
    struct tree_sample samples[COUNT];
    uint32_t periods[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        samples[i] = i % 2 ? (struct tree_sample){ 100 + i, { IN_COPY, IN_G }, 2 }
                           : (struct tree_sample){ 100 + i, { IN_G, IN_F }, 2 };
        periods[i] = i % 2 ? 3000 : 1000;
    }
    struct outcome o = trees_outcome(trees_begin(), samples, COUNT, periods);
    const struct times g = function_times(&o, G), copy = function_times(&o, COPY);
    cr_assert(eq(u64, g.elapsed_inclusive, 600));
    cr_assert(eq(u64, copy.elapsed_exclusive, 450));
    cr_assert(eq(u64, copy.samples, COUNT / 2));
    outcome_drop(&o);
}

/* While a function is only counted, it is below the timed one that called it. */
Test(unit_sampled_trees, functions_with_changing_levels)
{
    static const struct tree_sample samples[] = {
        { 400, { IN_G, IN_F }, 2 },
        { 600, { IN_G, IN_F }, 2 },
        { 610, { IN_F }, 1 },
    };
    const uint64_t level[] = { 500, G, COUNTED };
    struct writer *w = trees_begin();
    write_record(w, 1, LEVEL, level, sizeof level);
    struct outcome o = trees_outcome(w, samples, 3, NULL);
    const struct times g = function_times(&o, G);
    cr_assert(eq(u64, g.elapsed_exclusive, 600 + 500)); /* half of F's own time */
    cr_assert(eq(u64, function_times(&o, F).elapsed_exclusive, 500));
    cr_assert(times_are_sampled(&g));
    outcome_drop(&o);
}
