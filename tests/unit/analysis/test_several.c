/* Several sessions loaded as one: values that are added up, and entries that stay separate. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/table_formats.h"
#include "support/load.h"
#include "support/rows.h"
#include "support/scenario.h"
#include "support/versions.h"
#include "tables/views.h"

TestSuite(unit_several, .timeout = 300);

static char *several_save(const char *name, struct writer *w)
{
    char *path = strdup(test_path(name));
    writer_save(w, path);
    writer_free(w);
    return path;
}

static void several_load(struct analysis *analysis, char *const *paths, size_t count)
{
    load_several(analysis, (const char *const *)paths, count, &(struct analysis_options){ .jobs = 1 });
}

static const struct times *several_function_of(const struct analysis *analysis, const struct times *sums,
                                               const char *name)
{
    const struct times *found = NULL;
    for (size_t i = 0; i < analysis->profile->function_count; i++)
        if (strcmp(analysis->names[i].name, name) == 0) {
            cr_assert(found == NULL, "two of %s", name);
            found = &sums[i];
        }
    cr_assert(found != NULL, "%s", name);
    return found;
}

Test(unit_several, functions_are_added_up_and_processes_are_not)
{
    const struct version one = { .lookups = 2, .main_time = 100, .source = SOURCE_PERF };
    const struct version other = { .lookups = 3, .main_time = 500, .source = SOURCE_PERF, .logged = true };
    char *paths[] = { several_save("one", version_session(&one)), several_save("other", version_session(&other)) };
    struct analysis analysis;
    several_load(&analysis, paths, 2);
    struct times *functions = rollup_groups(analysis.rollup, BY_FUNCTION);
    ASSERT_TIMES(*several_function_of(&analysis, functions, "main"), 1130, 600, 1130, 600, 2);
    ASSERT_TIMES(*several_function_of(&analysis, functions, "price::lookup(int)"), 500, 500, 500, 500, 5);
    ASSERT_TIMES(*several_function_of(&analysis, functions, "log_line"), 30, 30, 30, 30, 1);
    cr_assert(eq(sz, rollup_group_count(analysis.rollup, BY_MODULE), 2));
    cr_assert(eq(sz, rollup_group_count(analysis.rollup, BY_PROCESS), 2));
    cr_assert(eq(sz, rollup_group_count(analysis.rollup, BY_THREAD), 2));
    struct times *processes = rollup_groups(analysis.rollup, BY_PROCESS);
    ASSERT_TIMES(processes[0], 300, 300, 300, 300, 3);
    ASSERT_TIMES(processes[1], 830, 830, 830, 830, 5);
    for (int i = 0; i < 2; i++) {
        const struct profile_thread *t = &analysis.profile->threads[i];
        cr_assert(eq(u32, session_file_process(analysis.file, t->process)->pid, 100));
        cr_assert(eq(u32, session_file_thread(analysis.file, t->thread)->process, t->process));
        cr_assert(eq(str, (char *)analysis_session_of(&analysis, t->process), paths[i]));
    }
    cr_assert(eq(u64, analysis.summary.processes, 2));
    cr_assert(eq(u64, analysis.summary.events, 16));
    cr_assert(eq(sz, analysis.summary.remark_count, 0));
    free(functions);
    free(processes);
    analysis_drop(&analysis);
    free(paths[0]);
    free(paths[1]);
}

Test(unit_several, clocks_of_different_resolutions)
{
    const struct version one = { .lookups = 1, .main_time = 100 },
                         other = { .lookups = 1, .main_time = 100, .ticks_per_ns = 3 };
    char *paths[] = { several_save("one", version_session(&one)), several_save("other", version_session(&other)) };
    struct analysis analysis;
    several_load(&analysis, paths, 2);
    cr_assert(eq(u64, analysis.summary.ticks_per_second, 1000000000));
    cr_assert(eq(u64, analysis.summary.elapsed_inclusive, 400));
    struct times *functions = rollup_groups(analysis.rollup, BY_FUNCTION);
    const struct times *main_times = several_function_of(&analysis, functions, "main");
    cr_assert(eq(u64, main_times->elapsed_exclusive, 200));
    cr_assert(eq(u64, main_times->shortest, 200));
    cr_assert(eq(u64, main_times->longest, 200));
    free(functions);
    analysis_drop(&analysis);
    free(paths[0]);
    free(paths[1]);
}

Test(unit_several, the_order_of_the_sessions_does_not_matter)
{
    const struct version versions[] = {
        { .lookups = 1, .main_time = 100, .cached = true, .ticks_per_ns = 7 },
        { .lookups = 4, .main_time = 333, .logged = true },
        { .program = "store", .lookups = 2, .main_time = 50, .shift = 0x80 },
    };
    char *paths[5], *printed[2];
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "version-%d", i);
        paths[i] = several_save(name, version_session(&versions[i]));
    }
    paths[3] = paths[0];
    paths[4] = paths[1];
    for (int i = 0; i < 2; i++) { /* 0 1 2, then 2 0 1 */
        struct analysis analysis;
        size_t length;
        several_load(&analysis, paths + 2 * i, 3);
        FILE *out = open_memstream(&printed[i], &length);
        for (int by = BY_FUNCTION; by <= BY_PROCESS; by++) {
            struct table t =
                sorted_rows(&analysis, (enum rollup_by)by, &(struct sorting){ .key = "elapsed_exclusive" });
            table_print_json(&t, out);
            table_drop(&t);
        }
        struct table tree = view_tree(&analysis, &(struct tree_options){ .depth = 10 });
        table_print_csv(&tree, out);
        table_drop(&tree);
        fclose(out);
        analysis_drop(&analysis);
    }
    cr_assert(eq(str, printed[0], printed[1]));
    free(printed[0]);
    free(printed[1]);
    for (int i = 0; i < 3; i++)
        free(paths[i]);
}

Test(unit_several, losses_and_sources_are_reported_for_each_session)
{
    const struct version seeing = { .lookups = 1, .main_time = 100, .source = SOURCE_PERF };
    const struct version blind = { .lookups = 1, .main_time = 100, .source = SOURCE_NONE };
    struct writer *w = version_session(&blind);
    write_header(w, 120, 12, 8); /* events lost */
    char *paths[] = { several_save("seeing", version_session(&seeing)), several_save("blind", w) }, wanted[2][4200];
    struct analysis analysis;
    several_load(&analysis, paths, 2);
    cr_assert(analysis.summary.application_known);
    cr_assert(eq(u64, analysis.summary.application_inclusive, 200));
    cr_assert(eq(u64, analysis.summary.lost_events, 12));
    cr_assert(eq(sz, analysis.summary.loss_count, 1));
    cr_assert(eq(sz, analysis.summary.remark_count, 2));
    snprintf(wanted[0], sizeof wanted[0], "%s: 12 events were lost", paths[1]);
    snprintf(wanted[1], sizeof wanted[1], "%s: no thread had OS events: all their time counts as flagged", paths[1]);
    cr_assert(eq(str, analysis.summary.remarks[0], wanted[0]));
    cr_assert(eq(str, analysis.summary.remarks[1], wanted[1]));
    analysis_drop(&analysis);
    several_load(&analysis, paths + 1, 1);
    cr_assert(not(analysis.summary.application_known));
    analysis_drop(&analysis);
    free(paths[0]);
    free(paths[1]);
}

/* Both sessions have a thread with events, but without metadata of its process. */
Test(unit_several, sessions_without_metadata)
{
    char *paths[2];
    for (int i = 0; i < 2; i++) {
        struct writer *w = writer_new();
        begin_events(w, 0xfffffff0, 0xfffffff1, 0, 1000, NULL, 0);
        write_enter(w, 1000, 0x401000);
        write_exit(w, 1010);
        end_events(w, true);
        paths[i] = several_save(i ? "second" : "first", w);
    }
    struct analysis analysis;
    several_load(&analysis, paths, 2);
    cr_assert(eq(sz, rollup_group_count(analysis.rollup, BY_PROCESS), 2));
    cr_assert(eq(sz, rollup_group_count(analysis.rollup, BY_THREAD), 2));
    cr_assert(eq(u64, analysis.summary.elapsed_inclusive, 20));
    cr_assert(eq(sz, analysis.profile->function_count, 1));
    analysis_drop(&analysis);
    free(paths[0]);
    free(paths[1]);
}
