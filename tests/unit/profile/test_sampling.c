/* The time of a path is divided among it and what was sampled below it: to the tick, and within the stated interval. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/sample_sums.h"
#include "profile/sampled_paths.h"
#include "profile/sampling.h"
#include "support/sampled_session.h"

TestSuite(unit_sampling, .timeout = 300);

enum { LEVEL = 22, COUNTED = 1, OUT = 2 };

Test(unit_sampling, divides_to_the_tick)
{
    for (unsigned jobs = 1; jobs < 4; jobs += 2) {
        struct writer *w = sampling_two_calls();
        begin_samples(w, 1, 1, 70, 71, 0);
        sampling_write(w, 950, F + 8); /* in F: two of three are in the library */
        sampling_write(w, 10, COPY + 5);
        sampling_write(w, 900, COPY + 5);
        sampling_write(w, 300, G + 4); /* in G: one of four is in the library, and one in a function of the program */
        sampling_write(w, 400, G + 4);
        sampling_write(w, 500, PARSE);
        sampling_write(w, 599, PLAIN + 1);
        sampling_write(w, 1001, COPY); /* after the last call */
        end_samples(w, true);
        struct analysis analysis;
        sampling_load(&analysis, w, jobs);
        writer_free(w);
        const struct times f = sampling_times(&analysis, "f"), g = sampling_times(&analysis, "g");
        const struct times copy = sampling_times(&analysis, "copy"), parse = sampling_times(&analysis, "parse"),
                           plain = sampling_times(&analysis, "plain");
        cr_assert(eq(u64, f.elapsed_inclusive, 1000));
        cr_assert(eq(u64, f.elapsed_exclusive, 100 + 167)); /* of 500 on the CPU */
        cr_assert(eq(u64, f.blocked_exclusive, 100));
        cr_assert(eq(u64, copy.elapsed_inclusive, 333));
        cr_assert(eq(u64, copy.elapsed_exclusive, 333));
        cr_assert(eq(u64, copy.samples, 2));
        cr_assert(eq(u64, copy.calls, 0));
        cr_assert(eq(u64, g.elapsed_inclusive, 400));
        cr_assert(eq(u64, g.elapsed_exclusive, 200));
        cr_assert(eq(u64, parse.elapsed_exclusive, 100));
        cr_assert(eq(u64, plain.elapsed_exclusive, 100));
        cr_assert(eq(u64, times_error(&f, VALUE_ELAPSED, INCLUSIVE), 0));
        cr_assert(ne(u64, times_error(&f, VALUE_ELAPSED, EXCLUSIVE), 0));
        cr_assert(ne(u64, times_error(&copy, VALUE_ELAPSED, INCLUSIVE), 0));
        cr_assert(times_are_sampled(&copy));
        cr_assert(not(times_are_sampled(&f)));
        cr_assert(eq(u64, analysis.summary.stack_samples, 7));
        analysis_drop(&analysis);
    }
}

/* Samples take 50 of each 1,000 ns of CPU time, whether a path has samples or not. Its application time and its flagged
 * time lack the same part. The cost is no part of raw times. */
Test(unit_sampling, subtracts_what_samples_cost)
{
    for (int raw = 0; raw < 2; raw++) {
        struct writer *w = sampling_two_calls();
        write_header(w, 252, 50, 4);
        begin_samples(w, 1, 1, 70, 71, 0);
        sampling_write(w, 100, F);
        sampling_write(w, 101, COPY);
        end_samples(w, true);
        const char *path = test_path("sampled.data");
        writer_save(w, path);
        writer_free(w);
        struct analysis analysis;
        load_with(&analysis, path, &(struct analysis_options){ .jobs = 1, .raw = raw });
        check_identities(&(struct outcome){ analysis.file, analysis.profile, analysis.rollup });
        const struct times f = sampling_times(&analysis, "f"), g = sampling_times(&analysis, "g"),
                           copy = sampling_times(&analysis, "copy");
        if (raw) {
            cr_assert(eq(u64, f.elapsed_inclusive, 1000));
            cr_assert(eq(u64, f.overhead_inclusive, 0));
        } else {
            /* F: 500 on the CPU, 200 of them application; G: 400. */
            cr_assert(eq(u64, f.overhead_exclusive, 10 + 15));
            cr_assert(eq(u64, g.overhead_exclusive, 20));
            cr_assert(eq(u64, f.overhead_inclusive, 45));
            cr_assert(eq(u64, f.elapsed_inclusive, 1000 - 45));
            cr_assert(eq(u64, g.elapsed_exclusive, 380));
            cr_assert(eq(u64, f.application_exclusive, 95)); /* half of 190 */
            cr_assert(eq(u64, copy.application_exclusive, 95));
            cr_assert(eq(u64, f.elapsed_exclusive + copy.elapsed_exclusive, 100 + 475));
            cr_assert(eq(u64, f.blocked_exclusive, 100));
        }
        analysis_drop(&analysis);
    }
}

/* Flagged intervals and others are divided in the same proportion. */
Test(unit_sampling, divides_flagged_time)
{
    struct writer *w = sampling_two_calls();
    begin_samples(w, 1, 1, 70, 71, 0);
    sampling_write(w, 100, F);
    sampling_write(w, 101, COPY);
    end_samples(w, true);
    struct analysis analysis;
    sampling_load(&analysis, w, 1);
    writer_free(w);
    const struct times f = sampling_times(&analysis, "f"), copy = sampling_times(&analysis, "copy");
    cr_assert(eq(u64, copy.elapsed_exclusive, 250));
    cr_assert(eq(u64, copy.application_exclusive, 100)); /* of 200 */
    cr_assert(eq(u64, copy.flagged_on_cpu_exclusive, 150));
    cr_assert(eq(u64, f.application_exclusive, 100));
    cr_assert(eq(u64, f.flagged_on_cpu_exclusive, 150));
    /* 0.405468 of 500: the half width for one of two samples */
    cr_assert(eq(u64, times_error(&copy, VALUE_ELAPSED, EXCLUSIVE), 203));
    cr_assert(eq(u64, times_error(&copy, VALUE_APPLICATION, EXCLUSIVE), 81)); /* 203 * 100 / 250 */
    analysis_drop(&analysis);
}

/* Two paths of 10,000 ticks, with 50 of 100 samples each: the squares of the errors of 962 ticks add up. */
Test(unit_sampling, errors_of_paths_are_independent)
{
    struct writer *w = writer_new();
    sampling_write_modules(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint32_t i = 0; i < 2; i++) {
        write_enter(w, i * 10000, 0x4000 + i);
        write_enter(w, i * 10000, F);
        write_exit(w, i * 10000 + 10000);
        write_exit(w, i * 10000 + 10000);
    }
    end_events(w, true);
    begin_samples(w, 1, 1, 70, 71, 0);
    for (uint32_t i = 0; i < 200; i++)
        sampling_write(w, i * 100 + 50, i % 2 ? COPY : F);
    end_samples(w, true);
    struct analysis analysis;
    sampling_load(&analysis, w, 1);
    writer_free(w);
    const struct times f = sampling_times(&analysis, "f"), copy = sampling_times(&analysis, "copy");
    cr_assert(eq(u64, copy.elapsed_exclusive, 10000));
    cr_assert(eq(u64, times_error(&copy, VALUE_ELAPSED, EXCLUSIVE), 1360));
    cr_assert(eq(u64, times_error(&f, VALUE_ELAPSED, EXCLUSIVE), 1360));
    analysis_drop(&analysis);
}

/* Code before the enter and behind the exit of a recorded function is its caller's, and the runtime's is nobody's. */
Test(unit_sampling, leaves_out_probes_and_recorded_functions)
{
    struct writer *w = sampling_two_calls();
    begin_samples(w, 1, 1, 70, 71, 0);
    sampling_write(w, 100, G);
    sampling_write(w, 101, PROBE);
    sampling_write(w, 300, PROBE);
    sampling_write(w, 310, F); /* G is inlined there */
    end_samples(w, true);
    struct analysis analysis;
    sampling_load(&analysis, w, 1);
    writer_free(w);
    const struct times f = sampling_times(&analysis, "f"), g = sampling_times(&analysis, "g");
    cr_assert(eq(u64, f.elapsed_exclusive, 600));
    cr_assert(eq(u64, f.samples, 1));
    cr_assert(eq(u64, g.elapsed_exclusive, 400));
    cr_assert(eq(u64, g.samples, 1));
    cr_assert(eq(sz, analysis.profile->function_count, 2));
    cr_assert(eq(sz, analysis.profile->node_count, 3));
    cr_assert(eq(u64, analysis.summary.stack_samples, 4));
    cr_assert(eq(u64, analysis.summary.samples_in_probes, 2));
    cr_assert(eq(u64, times_error(&f, VALUE_ELAPSED, EXCLUSIVE), 0));
    analysis_drop(&analysis);
}

static void sampling_write_level(struct writer *w, uint64_t time, uint64_t function, uint32_t level)
{
    const uint64_t content[] = { time, function, level };
    write_record(w, 1, LEVEL, content, sizeof content);
}

/* PLAIN has an estimate of 250 ticks below F, 100 of them application time, and one of 200 below G. */
static void sampling_load_counted(struct analysis *analysis, uint64_t calls, bool raw)
{
    const uint64_t own[][2] = { { PLAIN, calls }, { COPY, 1000 } }, other[][2] = { { PLAIN, 1000 } };
    struct writer *w = sampling_two_calls();
    write_header(w, 246, 10000, 2); /* picoseconds */
    write_thread(w, 1, 2, 72, SOURCE_PERF, "two");
    sampling_write_level(w, 0, PLAIN, COUNTED);
    write_counts(w, 1, 1, 0, own, 2);
    write_counts(w, 1, 2, 0, other, 1);
    begin_samples(w, 1, 1, 70, 71, 0);
    sampling_write(w, 100, F);
    sampling_write(w, 110, PLAIN);
    sampling_write(w, 300, G);
    sampling_write(w, 310, PLAIN);
    end_samples(w, true);
    writer_save(w, test_path("sampled.data"));
    writer_free(w);
    load_with(analysis, test_path("sampled.data"), &(struct analysis_options){ .raw = raw });
    check_identities(&(struct outcome){ analysis->file, analysis->profile, analysis->rollup });
}

/* A counted call takes 10 ns. The calls of functions without an estimate, and those of other threads, take nothing from
 * this one. No estimate falls below zero. */
Test(unit_sampling, subtracts_what_counting_costs)
{
    static const struct {
        uint64_t calls, took, application;
        bool raw;
    } cases[] = { { 9, 90, 20 + 40, false }, { 45, 450, 300, false }, { 46, 450, 300, false }, { 9, 0, 0, true } };
    for (int i = 0; i < 4; i++) {
        struct analysis analysis;
        sampling_load_counted(&analysis, cases[i].calls, cases[i].raw);
        const struct times f = sampling_times(&analysis, "f"), g = sampling_times(&analysis, "g"),
                           plain = sampling_times(&analysis, "plain");
        cr_assert(eq(u64, plain.elapsed_exclusive, 450 - cases[i].took), "%d", i);
        cr_assert(eq(u64, plain.application_exclusive, 300 - cases[i].application), "%d", i);
        cr_assert(eq(u64, plain.overhead_exclusive, cases[i].took), "%d", i);
        cr_assert(eq(u64, f.overhead_inclusive, cases[i].took), "%d", i);
        cr_assert(eq(u64, f.elapsed_inclusive, 1000 - cases[i].took), "%d", i);
        cr_assert(eq(u64, f.elapsed_exclusive, 100 + 250), "%d", i); /* 100 of it blocked */
        cr_assert(eq(u64, g.elapsed_exclusive, 200), "%d", i);
        analysis_drop(&analysis);
    }
}

/* The code that counts a call is in no module. Its time is subtracted, unless it is raw. */
Test(unit_sampling, code_that_counts_is_overhead)
{
    for (int raw = 0; raw < 2; raw++) {
        struct writer *w = sampling_two_calls();
        sampling_write_level(w, 0, PLAIN, COUNTED);
        begin_samples(w, 1, 1, 70, 71, 0);
        sampling_write(w, 100, F);
        sampling_write(w, 110, COPY);
        sampling_write(w, 120, 0x990000);
        sampling_write(w, 130, 0x990010);
        end_samples(w, true);
        writer_save(w, test_path("sampled.data"));
        writer_free(w);
        struct analysis analysis;
        load_with(&analysis, test_path("sampled.data"), &(struct analysis_options){ .raw = raw });
        check_identities(&(struct outcome){ analysis.file, analysis.profile, analysis.rollup });
        const struct times f = sampling_times(&analysis, "f"), copy = sampling_times(&analysis, "copy");
        cr_assert(eq(u64, copy.elapsed_exclusive, 125));
        cr_assert(eq(u64, f.elapsed_exclusive, raw ? 475 : 225)); /* 100 of it blocked */
        cr_assert(eq(u64, f.elapsed_inclusive, raw ? 1000 : 750));
        cr_assert(eq(u64, f.overhead_exclusive, raw ? 0 : 250));
        cr_assert(eq(u64, analysis.summary.samples_in_probes, 2));
        analysis_drop(&analysis);
    }
}

/* A function that was not timed for the whole run is sampled while it was not. */
Test(unit_sampling, functions_with_changing_levels)
{
    struct writer *w = sampling_two_calls();
    sampling_write_level(w, 620, G, OUT);
    begin_samples(w, 1, 1, 70, 71, 0);
    sampling_write(w, 100, F);
    sampling_write(w, 900, G + 3);
    end_samples(w, true);
    struct analysis analysis;
    sampling_load(&analysis, w, 1);
    writer_free(w);
    const struct times g = sampling_times(&analysis, "g");
    cr_assert(eq(u64, g.calls, 1));
    cr_assert(eq(u64, g.elapsed_exclusive, 400 + 250));
    cr_assert(times_are_sampled(&g));
    analysis_drop(&analysis);
}

/* Adds one sample below the open calls F and G. Returns the path of the node that got it, from the inside. */
static char *sampling_path(struct analysis *analysis, const uint64_t *stack, uint32_t count)
{
    static char text[64];
    struct profile *p = analysis->profile;
    struct sampled_frame frames[8];
    uint32_t links[8], open = PROFILE_NONE, got = PROFILE_NONE;
    for (uint32_t i = 0; i < count; i++) {
        frames[i] = (struct sampled_frame){ &analysis->file->processes[0].modules[stack[i] == COPY], stack[i] % 0x20000,
                                            SAMPLED_PROGRAM };
        links[i] = i;
    }
    struct sampled_chain chain = { 0, count };
    struct sample_point point = { 300, 0, 1000 };
    struct session_samples samples = { .frames = frames, .links = links, .chains = &chain };
    struct sampled_paths paths = { .samples = &samples, .next = &point, .end = &point + 1 };
    for (uint32_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE && p->nodes[i].site != PROFILE_SAMPLED &&
            strcmp(analysis->names[p->nodes[i].function].name, "g") == 0)
            open = i;
    for (uint32_t i = 0; i < p->node_count; i++)
        p->nodes[i].samples = 0;
    sampled_paths_add(&paths, p, open, 400);
    for (uint32_t i = 0; i < p->node_count; i++)
        got = p->nodes[i].samples ? i : got;
    text[0] = '\0';
    for (; p->nodes[got].parent != PROFILE_NONE; got = p->nodes[got].parent) {
        strcat(text, "/");
        strcat(text, analysis->names[p->nodes[got].function].name);
    }
    return text;
}

/* F calls G. Below these two calls, both are counted. If a function has more frames than it has recorded calls, the
 * outer frames are those of the recorded ones. */
Test(unit_sampling, counted_calls_below_recorded_ones)
{
    static const uint64_t none[] = { COPY, G, F }, deep[] = { COPY, F, G, G, F }, inlined[] = { COPY, F, F };
    static const uint64_t cut[] = { COPY, G };
    struct writer *w = sampling_two_calls();
    begin_samples(w, 1, 1, 70, 71, 0);
    sampling_write(w, 250, COPY);
    end_samples(w, true);
    struct analysis analysis;
    sampling_load(&analysis, w, 1);
    writer_free(w);
    cr_assert(eq(str, sampling_path(&analysis, none, 3), "/copy/g/f"));
    cr_assert(eq(str, sampling_path(&analysis, deep, 5), "/copy/f/g/g/f"));
    cr_assert(eq(str, sampling_path(&analysis, inlined, 3), "/copy/f/g/f")); /* G has no frame of its own */
    cr_assert(eq(str, sampling_path(&analysis, cut, 2), "/copy/g/f"));
    analysis_drop(&analysis);
}

/* Consecutive ranges have the whole time and all samples. */
Test(unit_sampling, ranges_of_time)
{
    struct writer *w = sampling_two_calls();
    begin_samples(w, 1, 1, 70, 71, 0);
    for (uint64_t time = 5; time < 1000; time += 10)
        sampling_write(w, time, time % 3 ? COPY : time > 200 && time < 600 ? G : F);
    end_samples(w, true);
    writer_save(w, test_path("sampled.data"));
    writer_free(w);
    uint64_t elapsed = 0, samples = 0, copies = 0;
    static const uint64_t borders[] = { 0, 150, 555, 5000 };
    for (int i = 0; i < 3; i++) {
        struct analysis analysis;
        const struct selection_moment from = { .given = true, .ns = borders[i] };
        const struct selection_moment to = { .given = true, .ns = borders[i + 1] };
        load_with(&analysis, test_path("sampled.data"),
                  &(struct analysis_options){ .selection = { .from = from, .to = to } });
        check_identities(&(struct outcome){ analysis.file, analysis.profile, analysis.rollup });
        elapsed += analysis.rollup->session.elapsed_inclusive;
        samples += analysis.summary.stack_samples;
        const struct times copy = sampling_times(&analysis, "copy");
        cr_assert(gt(u64, copy.elapsed_exclusive, 0), "from %d", (int)borders[i]);
        cr_assert(times_are_sampled(&copy));
        copies += copy.samples;
        analysis_drop(&analysis);
    }
    cr_assert(eq(u64, copies, 67));
    cr_assert(eq(u64, elapsed, 1000));
    cr_assert(eq(u64, samples, 100));
}

/* ---- how well ---- */

/* A session of `paths` callers of F, each of 10,000 ticks. Each sample is in COPY or PARSE with these probabilities. */
static struct writer *sampling_random_session(uint64_t seed, uint32_t paths, uint32_t samples, uint32_t copy_percent,
                                              uint32_t parse_percent)
{
    struct writer *w = writer_new();
    uint64_t state = seed * 77 + 5;
    sampling_write_modules(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint32_t i = 0; i < paths; i++) {
        write_enter(w, (uint64_t)i * 10000, 0x4000 + i);
        write_enter(w, (uint64_t)i * 10000, F);
        write_exit(w, (uint64_t)i * 10000 + 10000);
        write_exit(w, (uint64_t)i * 10000 + 10000);
    }
    end_events(w, true);
    begin_samples(w, 1, 1, 70, 71, 0);
    for (uint32_t i = 0; i < samples; i++) {
        const uint64_t time = sampling_next_random(&state) % ((uint64_t)paths * 10000);
        const uint64_t drawn = sampling_next_random(&state) % 100;
        sampling_write(w, time, drawn < copy_percent ? COPY : drawn < copy_percent + parse_percent ? PARSE : F);
    }
    end_samples(w, true);
    return w;
}

/* Two threads call F directly and from MAIN. Two functions below F have as many samples each, so one of them gets a
 * tick more. Whatever is made first, the same ticks go to the same paths. */
enum { MAIN = 0x500, PATHS = 4 };

static void sampling_make_path(struct profile *p, uint32_t module, int path, int round)
{
    const uint32_t root = profile_root(p, 1, 1 + path % 2);
    const uint32_t from = path < 2 ? root : profile_child(p, root, profile_function(p, module, MAIN));
    const uint32_t f = profile_child(p, from, profile_function(p, module, F));
    p->nodes[f].elapsed = 101;
    for (int i = 0; i < 2; i++) {
        const uint64_t called = i == round % 2 ? G : PLAIN;
        p->nodes[profile_child_from(p, f, profile_function(p, module, called), PROFILE_SAMPLED)].samples = 1;
    }
}

/* Four samples of code outside of all modules, in the parent or in its forked child. The runtime wrote some of it:
 * samples there are those of probes, and all others are the program's. */
static void sampling_check_outside(uint32_t process, bool recorded, bool changed, uint64_t in_probes)
{
    enum { STUBS = 0x500000, MADE = 0x600000, END = 0x501000 };
    const struct dwell_rec_stubs stubs[] = { { .begin = STUBS + 0x800, .end = END },
                                             { .begin = STUBS, .end = STUBS + 0x900 } };
    struct writer *w = writer_new();
    sampling_write_modules(w);
    for (int i = 0; recorded && i < 2; i++)
        write_record(w, 1, DWELL_REC_STUBS, (const char *)&stubs[i] + sizeof(struct dwell_record),
                     sizeof stubs[i] - sizeof(struct dwell_record));
    if (changed)
        sampling_write_level(w, 0, PLAIN, COUNTED);
    write_process_of(w, 2, 80, 70, 1, 0, "/bin/p");
    write_thread(w, 2, 2, 81, SOURCE_PERF, "two");
    write_module(w, 2, 1, 0, 0x1000, 0x9000, 0, "");
    begin_events(w, process, process, 0, 0, NULL, 0);
    write_enter(w, 0, F);
    write_exit(w, 1000);
    end_events(w, true);
    begin_samples(w, process, process, process == 1 ? 70 : 80, process == 1 ? 71 : 81, 0);
    sampling_write(w, 100, STUBS);
    sampling_write(w, 200, END - 1);
    sampling_write(w, 300, END);
    sampling_write(w, 400, MADE);
    sampling_write(w, 500, F + 4);
    end_samples(w, true);
    struct analysis analysis;
    sampling_load(&analysis, w, 1);
    writer_free(w);
    cr_assert(eq(u64, analysis.summary.samples_in_probes, in_probes));
    cr_assert(eq(u64, analysis.summary.stack_samples, 5));
    cr_assert(eq(u64, sampling_times(&analysis, "(code in no module)").samples, 4 - in_probes));
    analysis_drop(&analysis);
}

Test(unit_sampling, code_outside_of_all_modules)
{
    sampling_check_outside(1, true, true, 2);
    sampling_check_outside(2, true, true, 2);
    sampling_check_outside(1, false, false, 0);
    sampling_check_outside(1, false, true, 4); /* recorded by an earlier version */
}

static void sampling_check_path(const struct profile *p, uint32_t module, int path, uint64_t g, uint64_t plain)
{
    const uint32_t root = profile_find_root(p, 1, 1 + path % 2);
    const uint32_t from = path < 2 ? root : profile_find_child(p, root, profile_find_function(p, module, MAIN));
    const uint32_t f = profile_find_child(p, from, profile_find_function(p, module, F));
    for (size_t i = 0; i < p->node_count; i++) {
        if (p->nodes[i].parent != f)
            continue;
        const uint64_t offset = p->functions[p->nodes[i].function].offset;
        cr_assert(eq(u64, p->nodes[i].elapsed, offset == G ? g : plain), "path %d", path);
    }
    cr_assert(eq(u64, p->nodes[f].elapsed, 0));
}

Test(unit_sampling, ticks_do_not_depend_on_the_order_of_nodes)
{
    for (int round = 0; round < 2 * PATHS; round++) {
        const struct session_file file = { .levels.change_count = 0 };
        struct profile *p = profile_new();
        const uint32_t module = profile_module(p, "/bin/p", NULL, 0);
        for (int i = 0; i < PATHS; i++)
            sampling_make_path(p, module, (i + round / 2) % PATHS, round);
        sampling_divide(p, &file, false, false);
        /* A sample stands for 50 ticks: 404 of eight. The paths are F on thread 1, then F below MAIN, then those of
         * thread 2. What the first call of a path lacks, the next one gets. */
        sampling_check_path(p, module, 0, 51, 50);
        sampling_check_path(p, module, 2, 50, 51);
        sampling_check_path(p, module, 1, 51, 50);
        sampling_check_path(p, module, 3, 50, 51);
        profile_free(p);
    }
}

static void sampling_check_intervals(uint32_t paths, uint32_t samples, uint32_t copy_percent, uint32_t parse_percent)
{
    enum { RUNS = 1000, LEAST = 930 };
    int copy = 0, parse = 0, own = 0;
    const double all = 10000.0 * paths;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct writer *w = sampling_random_session(seed, paths, samples, copy_percent, parse_percent);
        struct analysis analysis;
        sampling_load(&analysis, w, 1);
        writer_free(w);
        copy += sampling_is_within(&analysis, "copy", all * copy_percent / 100);
        parse += sampling_is_within(&analysis, "parse", all * parse_percent / 100);
        own += sampling_is_within(&analysis, "f", all * (100 - copy_percent - parse_percent) / 100);
        analysis_drop(&analysis);
    }
    cr_assert(ge(int, copy, LEAST), "%u samples on %u paths", samples, paths);
    cr_assert(ge(int, parse, LEAST), "%u samples on %u paths", samples, paths);
    cr_assert(ge(int, own, LEAST), "%u samples on %u paths", samples, paths);
}

Test(unit_sampling, intervals_hold_on_one_path)
{
    sampling_check_intervals(1, 40, 50, 30);
    sampling_check_intervals(1, 400, 30, 5);
    sampling_check_intervals(1, 1000, 90, 2);
}

/* Few samples on each path, many, and both. */
Test(unit_sampling, intervals_hold_on_many_paths)
{
    sampling_check_intervals(100, 60, 40, 20);
    sampling_check_intervals(100, 300, 30, 5);
    sampling_check_intervals(10, 300, 30, 5);
    sampling_check_intervals(10, 1000, 30, 5);
}

/* The bounds are the shares p with |p - count / all| = z * sqrt(p * (1 - p) / all); they were found numerically. */
Test(unit_sampling, half_widths)
{
    static const struct {
        uint64_t count, all;
        double width;
    } known[] = { { 50, 100, 0.0961684705 }, { 5000, 10000, 0.0097979383 }, { 0, 10, 0.2775328030 },
                  { 10, 10, 0.2775328030 },  { 3, 7, 0.3209702087 },        { 1, 40, 0.1038136909 },
                  { 39, 40, 0.1038136909 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        cr_assert(lt(dbl, fabs(sampling_half_width(known[i].count, known[i].all) - known[i].width), 1e-9), "%zu", i);
}
