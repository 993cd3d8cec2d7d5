/*
 * The distance between a tree scaled from callers and callees and the true tree. One session has an answer computed by
 * hand; for others the test prints the distance. The function table is the same in every case.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/features.h"
#include "profile/collect.h"
#include "report/table_formats.h"
#include "support/distance.h"
#include "support/example.h"
#include "support/load.h"
#include "support/rows.h"
#include "support/scenario.h"
#include "support/success.h"
#include "tables/views.h"
#include "vsperf/vsperf_feature.h"

TestSuite(unit_vsperf_distance, .timeout = 300);

static char *table_of(const char *path)
{
    struct analysis analysis;
    char *text = NULL;
    size_t size;
    load_whole(&analysis, path, 1);
    struct table t = sorted_rows(&analysis, BY_FUNCTION, &(struct sorting){ .key = "elapsed_exclusive" });
    /* What such a report holds: no time off the CPU. */
    static const char columns[] =
        "calls,elapsed_inclusive,elapsed_inclusive_percent,elapsed_exclusive,elapsed_exclusive_percent,"
        "application_inclusive,application_inclusive_percent,application_exclusive,"
        "application_exclusive_percent,min,max";
    EXPECT_SUCCESS(table_choose(&t, columns, &error));
    FILE *out = open_memstream(&text, &size);
    table_print_csv(&t, out);
    fclose(out);
    table_drop(&t);
    analysis_drop(&analysis);
    return text;
}

static char *in_folder(const char *name)
{
    return strdup(test_path(name));
}

/* Exports the session and imports the summaries named. The function table is the same, byte for byte. */
static struct distance there_and_back(struct writer *w, const char *const *summaries, size_t count)
{
    char *original = in_folder("original.dwell"), *prefix = in_folder("out"), *back = in_folder("back.dwell");
    char *files[4];
    struct analysis analysis;
    writer_save(w, original);
    writer_free(w);
    load_whole(&analysis, original, 1);
    EXPECT_SUCCESS(find_export("vsperf")->write_files(&analysis, &(struct export_options){ 0 }, prefix, &error));
    analysis_drop(&analysis);
    for (size_t i = 0; i < count; i++)
        cr_assert(asprintf(&files[i], "%s_%s.csv", prefix, summaries[i]) > 0);
    EXPECT_SUCCESS(vsperf_import(files, count, &(struct import_options){ 0 }, back, &error));
    char *wanted = table_of(original), *got = table_of(back);
    cr_assert(eq(str, got, wanted));
    const struct distance d = distance_of(original, back);
    for (size_t i = 0; i < count; i++)
        free(files[i]);
    free(wanted);
    free(got);
    free(original);
    free(prefix);
    free(back);
    return d;
}

static struct distance distance_scaled(struct writer *w)
{
    return there_and_back(w, (const char *const[]){ "CallerCalleeSummary" }, 1);
}

static struct distance with_tree(struct writer *w)
{
    return there_and_back(
        w, (const char *const[]){ "CallerCalleeSummary", "CallTreeSummary", "FunctionSummary", "Header" }, 4);
}

enum { MAIN = 0x1000, A = 0x2000, B = 0x3000, G = 0x4000, H = 0x5000 };

/*
 * main (40) calls a (30) and b (30), and both call g. From a, g takes 40 and calls nothing. From b, g takes 20 and
 * calls h, which takes 40. The report says that a called g for 40, that b called g for 60, and that g called h. The
 * scaled tree therefore has 4 tenths of h below a:
 *
 *                 true          scaled        difference
 *                 excl  incl    excl  incl    excl  incl
 *     main          40   200      40   200       0     0
 *     main/a        30    70      30    86       0    16
 *     main/a/g      40    40      40    56       0    16
 *     main/a/g/h     0     0      16    16      16    16
 *     main/b        30    90      30    74       0    16
 *     main/b/g      20    60      20    44       0    16
 *     main/b/g/h    40    40      24    24      16    16
 *     all          200   500     200   500      32    96
 */
static struct writer *different_below_each(void)
{
    struct writer *w = writer_new();
    write_thread(w, 1, 1, 1, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_enter(w, 20, A);
    write_enter(w, 35, G);
    write_exit(w, 75);
    write_exit(w, 90);
    write_enter(w, 100, B);
    write_enter(w, 115, G);
    write_enter(w, 125, H);
    write_exit(w, 165);
    write_exit(w, 175);
    write_exit(w, 190);
    write_exit(w, 200);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 200);
    return w;
}

Test(unit_vsperf_distance, computed_by_hand)
{
    const struct distance d = distance_scaled(different_below_each());
    cr_log_info("by hand: exclusive %.4f, inclusive %.4f", d.exclusive, d.inclusive);
    cr_assert(epsilon_eq(dbl, d.exclusive, 32.0 / 400, 1e-12));
    cr_assert(epsilon_eq(dbl, d.inclusive, 96.0 / 1000, 1e-12));
}

/* g does the same below both callers. Scaling loses nothing, although g has two callers. */
Test(unit_vsperf_distance, a_callee_that_does_the_same_below_each_caller)
{
    struct writer *w = writer_new();
    write_thread(w, 1, 1, 1, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    for (uint64_t i = 0; i < 2; i++) {
        write_enter(w, 10 + 100 * i, i ? B : A);
        write_enter(w, 20 + 100 * i, G);
        write_enter(w, 30 + 100 * i, H);
        write_exit(w, 60 + 100 * i);
        write_exit(w, 70 + 100 * i);
        write_exit(w, 80 + 100 * i);
    }
    write_exit(w, 200);
    end_events(w, true);
    const struct distance d = distance_scaled(w);
    cr_assert(epsilon_eq(dbl, d.exclusive, 0, 1e-12));
    cr_assert(epsilon_eq(dbl, d.inclusive, 0, 1e-12));
}

/* The files' own tree is the true one. */
Test(unit_vsperf_distance, with_the_call_tree)
{
    struct distance d = with_tree(different_below_each());
    cr_assert(epsilon_eq(dbl, d.exclusive, 0, 1e-12));
    cr_assert(epsilon_eq(dbl, d.inclusive, 0, 1e-12));
    d = with_tree(example_session(SOURCE_PERF));
    cr_assert(epsilon_eq(dbl, d.exclusive, 0, 1e-12));
    cr_assert(epsilon_eq(dbl, d.inclusive, 0, 1e-12));
}

Test(unit_vsperf_distance, the_example)
{
    const struct distance d = distance_scaled(example_session(SOURCE_PERF)),
                          blind = distance_scaled(example_session(SOURCE_NONE));
    cr_log_info("example: exclusive %.4f, inclusive %.4f", d.exclusive, d.inclusive);
    cr_assert(d.exclusive > 0 && d.exclusive < 0.2);
    cr_assert(blind.exclusive > 0 && blind.exclusive < 0.2);
    distance_scaled(example_small());
    with_tree(example_small());
}

/* ---- any program ---- */

static uint32_t program_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Functions that call each other in every possible way, on three threads of two processes, partly in flagged time. */
static struct writer *random_program(uint32_t seed)
{
    struct writer *w = writer_new();
    const uint32_t functions = 2 + program_random(&seed) % 12;
    for (uint32_t process = 1; process <= 2; process++)
        write_process(w, process, 100 + process, process == 1 ? "/bin/one" : "/bin/two");
    for (uint32_t thread = 1; thread <= 3; thread++)
        write_thread(w, 1 + thread / 3, thread, 200 + thread, SOURCE_PERF, "t");
    for (uint32_t thread = 1; thread <= 3; thread++) {
        uint64_t time = program_random(&seed) % 1000;
        uint32_t depth = 0;
        begin_events(w, 1 + thread / 3, thread, 0, time, NULL, 0);
        for (int i = 0; i < 300; i++) {
            time += program_random(&seed) % 997;
            if (program_random(&seed) % 5 == 0)
                write_os(w);
            if (depth && (program_random(&seed) % 2 || depth > 30)) {
                write_exit(w, time);
                depth--;
            } else {
                write_enter(w, time, 0x1000 + 16 * (program_random(&seed) % functions));
                depth++;
            }
        }
        end_events(w, true);
        write_thread_end(w, 1 + thread / 3, thread, program_random(&seed) % 2, time + program_random(&seed) % 997);
    }
    return w;
}

Test(unit_vsperf_distance, function_tables_of_random_programs)
{
    for (uint32_t seed = 1; seed <= 40; seed++) {
        const struct distance d = distance_scaled(random_program(seed)), true_one = with_tree(random_program(seed));
        cr_assert(d.exclusive >= 0 && d.exclusive <= 1);
        cr_assert(epsilon_eq(dbl, true_one.inclusive, 0, 1e-12), "seed %u", seed);
    }
}
