/* The views: names, percentages by the seeds' formulas, unknown values, order, and the shares of callers. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bounds.h"
#include "analysis/find_function.h"
#include "report/table_formats.h"
#include "support/load.h"
#include "support/rows.h"
#include "support/scenario.h"
#include "tables/views.h"

enum { A = 0x401000, B = 0x402000 };
static const uint64_t TWIN = 0x7f0000001000, OTHER_TWIN = 0x7f1000001000;

static struct analysis views_load(struct writer *w)
{
    struct analysis analysis;
    writer_save(w, test_path("views.dwell"));
    writer_free(w);
    load_whole(&analysis, test_path("views.dwell"), 1);
    return analysis;
}

static void add_symbol_module(struct writer *w, uint32_t number, const char *path, uint64_t offset, const char *name)
{
    write_symbol_module(w, number, path);
    write_symbol_file(w, number + 1, "/src/file.cc");
    write_symbol(w, number, number + 1, 10 + number, offset, name);
}

/* /bin/prog has a(int) and b. Two libraries of one name each have a function "twin". Thread 1 has a source. */
static struct writer *views_program(uint32_t source)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, source, "main");
    write_module(w, 1, 1, 0x400000, 0x400000, 0x500000, 0, "/bin/prog");
    write_module(w, 1, 2, 0x7f0000000000, 0x7f0000000000, 0x7f0000100000, 0, "/one/libtwin.so");
    write_module(w, 1, 3, 0x7f1000000000, 0x7f1000000000, 0x7f1000100000, 0, "/two/libtwin.so");
    add_symbol_module(w, 0, "/bin/prog", 0x1000, "_Z1ai");
    write_symbol(w, 0, 0, 0, 0x2000, "b");
    add_symbol_module(w, 1, "/one/libtwin.so", 0x1000, "twin");
    add_symbol_module(w, 2, "/two/libtwin.so", 0x1000, "twin");
    return w;
}

/* The row of the table whose first cell is that text. */
static const struct cell *views_row_of(const struct table *t, const char *name)
{
    for (size_t row = 0; row < t->row_count; row++)
        if (strcmp(t->cells[row * t->column_count].text, name) == 0)
            return &t->cells[row * t->column_count];
    cr_fatal("no row %s", name);
}

static const struct cell *cell_of(const struct table *t, const struct cell *row, const char *key)
{
    for (size_t i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].key, key) == 0)
            return &row[i];
    cr_fatal("no column %s", key);
}

static void views_expect_percent(const struct table *t, const struct cell *row, const char *key, double wanted)
{
    const struct cell *cell = cell_of(t, row, key);
    cr_assert(cell->known);
    cr_assert(epsilon_eq(dbl, cell->percent, wanted, 1e-9), "%s", key);
}

static struct table views_sorted_by(const struct analysis *analysis, enum rollup_by what, const char *sort)
{
    return sorted_rows(analysis, what, &(struct sorting){ .key = sort });
}

/* Session: elapsed 400, application 160. a: 300 and 100 inclusive, 100 and 40 exclusive. b in it: 200 and 60. The twins
 * have 60 and, flagged, 40. Comments below give each interval's time. */
static struct writer *known_times(uint32_t source)
{
    struct writer *w = views_program(source);
    begin_events(w, 1, 1, 0, 1000, NULL, 0);
    write_enter(w, 1000, A);
    write_os(w);
    write_enter(w, 1060, B); /* 60 flagged in a */
    write_enter(w, 1060, B); /* b again, at once */
    write_exit(w, 1120);     /* 60 in b */
    write_os(w);
    write_exit(w, 1260); /* 140 flagged in b */
    write_exit(w, 1300); /* 40 in a */
    write_enter(w, 1300, TWIN);
    write_exit(w, 1360); /* 60 in twin */
    write_enter(w, 1360, OTHER_TWIN);
    write_os(w);
    write_exit(w, 1400); /* 40 flagged in the other twin */
    end_events(w, true);
    return w;
}

Test(unit_views, percentages_are_of_the_sessions_inclusive_times)
{
    struct analysis analysis = views_load(known_times(SOURCE_PERF));
    struct table t = views_sorted_by(&analysis, BY_FUNCTION, "name");
    const struct cell *a = views_row_of(&t, "a(int)"), *b = views_row_of(&t, "b");
    cr_assert(eq(u64, analysis.summary.elapsed_inclusive, 400));
    cr_assert(eq(u64, analysis.summary.application_inclusive, 160));
    views_expect_percent(&t, a, "elapsed_inclusive_percent", 100.0 * 300 / 400);
    views_expect_percent(&t, a, "elapsed_exclusive_percent", 100.0 * 100 / 400);
    views_expect_percent(&t, a, "application_inclusive_percent", 100.0 * 100 / 160);
    views_expect_percent(&t, a, "application_exclusive_percent", 100.0 * 40 / 160);
    views_expect_percent(&t, b, "elapsed_inclusive_percent", 100.0 * 200 / 400);
    views_expect_percent(&t, b, "application_exclusive_percent", 100.0 * 60 / 160);
    cr_assert(eq(u64, cell_of(&t, b, "calls")->number, 2));
    cr_assert(eq(u64, cell_of(&t, b, "min")->number, 60));
    cr_assert(eq(u64, cell_of(&t, b, "max")->number, 200));
    table_drop(&t);
    analysis_drop(&analysis);
}

Test(unit_views, time_on_the_cpu_in_flagged_intervals)
{
    struct analysis analysis = views_load(known_times(SOURCE_PERF));
    struct table t = views_sorted_by(&analysis, BY_FUNCTION, "flagged_on_cpu_inclusive");
    const struct cell *a = views_row_of(&t, "a(int)"), *b = views_row_of(&t, "b");
    cr_assert(eq(ptr, (void *)a, (void *)t.cells));
    cr_assert(eq(u64, cell_of(&t, a, "flagged_on_cpu_inclusive")->number, 200));
    cr_assert(eq(u64, cell_of(&t, a, "flagged_on_cpu_exclusive")->number, 60));
    cr_assert(eq(u64, cell_of(&t, b, "flagged_on_cpu_inclusive")->number, 140));
    cr_assert(eq(u64, cell_of(&t, b, "flagged_on_cpu_exclusive")->number, 140));
    cr_assert(eq(u64, analysis.summary.sums.flagged_on_cpu_inclusive, 240));
    table_drop(&t);
    analysis_drop(&analysis);
}

Test(unit_views, time_on_the_cpu_in_flagged_intervals_needs_times_of_os_events)
{
    for (uint32_t source = SOURCE_NONE; source <= SOURCE_RSEQ; source++) {
        struct analysis analysis = views_load(known_times(source));
        struct table t = views_sorted_by(&analysis, BY_FUNCTION, "name");
        cr_assert(
            eq(int, cell_of(&t, views_row_of(&t, "b"), "flagged_on_cpu_inclusive")->known, source == SOURCE_PERF));
        table_drop(&t);
        analysis_drop(&analysis);
    }
}

/* One call of 1000. `flagged` of them are flagged and on the CPU, and the same number is blocked. */
static struct analysis flagged_session(uint32_t source, uint64_t flagged)
{
    struct writer *w = views_program(source);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, A);
    if (source == SOURCE_PERF)
        write_off_cpu(w, false, 0, flagged);
    write_os(w);
    write_enter(w, 2 * flagged, B);
    write_exit(w, 1000 + flagged);
    write_exit(w, 1000 + flagged);
    return views_load(w);
}

Test(unit_views, remarks_that_figures_are_doubtful_come_after_losses)
{
    struct summary s = { .path = "a" };
    summary_remark(&s, "events-lost", "lost");
    s.loss_count = 1;
    summary_remark(&s, "no-calls", "usual");
    summary_remark_doubt(&s, "mostly-probes", "doubtful %d", 1);
    summary_remark_doubt(&s, "mostly-probes", "doubtful %d", 2);
    static const char *const wanted[] = { "lost", "doubtful 2", "doubtful 1", "usual" };
    static const char *const codes[] = { "events-lost", "mostly-probes", "mostly-probes", "no-calls" };
    cr_assert(eq(sz, s.remark_count, 4));
    for (size_t i = 0; i < 4; i++)
        cr_assert(eq(str, (char *)summary_code(&s, i), (char *)codes[i]));
    for (size_t i = 0; i < s.remark_count; i++)
        cr_assert(eq(str, s.remarks[i], (char *)wanted[i]));
    summary_drop_remarks(&s);
}

Test(unit_views, application_and_cpu_times_that_are_far_apart_are_remarked)
{
    struct analysis near = flagged_session(SOURCE_PERF, 100), far = flagged_session(SOURCE_PERF, 101);
    struct analysis unknown = flagged_session(SOURCE_RSEQ, 400);
    cr_assert(eq(u64, near.summary.sums.application_inclusive, 900));
    cr_assert(eq(u64, times_value(&near.summary.sums, VALUE_CPU, INCLUSIVE), 1000));
    cr_assert(eq(ptr, bounds_remark(&near.summary), NULL));
    cr_assert(eq(ptr, bounds_remark(&unknown.summary), NULL));
    char *remark = bounds_remark(&far.summary);
    cr_assert(eq(str, remark,
                 "10 % below CPU time. It leaves out the whole interval between two calls if the "
                 "operating system intervened in it, even once. Long intervals then lose everything; read CPU time "
                 "instead"));
    free(remark);
    analysis_drop(&near);
    analysis_drop(&far);
    analysis_drop(&unknown);
}

Test(unit_views, percentages_of_modules_threads_and_processes)
{
    struct analysis analysis = views_load(known_times(SOURCE_PERF));
    struct table modules = views_sorted_by(&analysis, BY_MODULE, "name");
    views_expect_percent(&modules, views_row_of(&modules, "prog"), "elapsed_inclusive_percent", 75);
    views_expect_percent(&modules, views_row_of(&modules, "prog"), "elapsed_exclusive_percent", 75);
    views_expect_percent(&modules, views_row_of(&modules, "prog"), "application_exclusive_percent", 62.5);
    struct table threads = views_sorted_by(&analysis, BY_THREAD, "name"),
                 processes = views_sorted_by(&analysis, BY_PROCESS, "name");
    views_expect_percent(&threads, views_row_of(&threads, "main"), "elapsed_exclusive_percent", 100);
    views_expect_percent(&threads, views_row_of(&threads, "main"), "application_inclusive_percent", 100);
    views_expect_percent(&processes, views_row_of(&processes, "prog"), "elapsed_inclusive_percent", 100);
    cr_assert(eq(u64, cell_of(&processes, views_row_of(&processes, "prog"), "pid")->number, 100));
    cr_assert(eq(str, cell_of(&processes, views_row_of(&processes, "prog"), "arguments")->text, "prog arg"));
    table_drop(&modules);
    table_drop(&threads);
    table_drop(&processes);
    analysis_drop(&analysis);
}

Test(unit_views, functions_of_one_name_have_separate_rows)
{
    struct analysis analysis = views_load(known_times(SOURCE_PERF));
    struct table t = views_sorted_by(&analysis, BY_FUNCTION, "name"), m = views_sorted_by(&analysis, BY_MODULE, "name");
    uint64_t sum = 0;
    int twins = 0;
    for (size_t row = 0; row < t.row_count; row++) {
        const struct cell *cells = &t.cells[row * t.column_count];
        if (strcmp(cells[0].text, "twin") != 0)
            continue;
        twins++;
        sum += cell_of(&t, cells, "elapsed_exclusive")->number * (uint64_t)(twins == 1 ? 1 : 1000);
        cr_assert(eq(str, cell_of(&t, cells, "module")->text, "libtwin.so"));
    }
    cr_assert(eq(int, twins, 2));
    cr_assert(sum == 60 + 40000 || sum == 40 + 60000);
    cr_assert(eq(sz, m.row_count, 3));
    table_drop(&t);
    table_drop(&m);
    analysis_drop(&analysis);
}

Test(unit_views, names_files_and_lines)
{
    struct analysis analysis = views_load(known_times(SOURCE_PERF));
    struct table t = views_sorted_by(&analysis, BY_FUNCTION, "name");
    const struct cell *a = views_row_of(&t, "a(int)"), *b = views_row_of(&t, "b");
    cr_assert(eq(str, cell_of(&t, a, "module")->text, "prog"));
    cr_assert(eq(str, cell_of(&t, a, "file")->text, "/src/file.cc"));
    cr_assert(eq(u64, cell_of(&t, a, "line")->number, 10));
    cr_assert(eq(str, cell_of(&t, a, "source")->text, "file.cc:10"));
    cr_assert(not(cell_of(&t, b, "file")->known));
    cr_assert(not(cell_of(&t, b, "line")->known));
    table_drop(&t);
    analysis_drop(&analysis);
}

Test(unit_views, code_in_an_unknown_file)
{
    struct writer *w = views_program(SOURCE_PERF);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, 0xdead0000);
    write_exit(w, 30);
    struct analysis analysis = views_load(w);
    struct table t = views_sorted_by(&analysis, BY_FUNCTION, "name"), m = views_sorted_by(&analysis, BY_MODULE, "name");
    const struct cell *row = views_row_of(&t, "[unknown]+0xdead0000");
    cr_assert(eq(str, cell_of(&t, row, "module")->text, "[unknown]"));
    cr_assert(eq(u64, cell_of(&m, views_row_of(&m, "[unknown]"), "elapsed_inclusive")->number, 20));
    table_drop(&t);
    table_drop(&m);
    analysis_drop(&analysis);
}

/* A file of the same path with another build-id is another module. Its symbols do not belong to this one. */
Test(unit_views, symbols_belong_to_a_build_id)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    for (uint32_t i = 1; i <= 2; i++) {
        set_build_id(w, i == 1 ? "\x0a\x00" : "\x0a\x01", 2);
        write_module(w, 1, i, i << 20, i << 20, (i << 20) + 0x10000, 0, "/nowhere/lib.so");
    }
    set_build_id(w, "\x0a\x01", 2);
    add_symbol_module(w, 0, "/nowhere/lib.so", 0x500, "second_only");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, 0x100500);
    write_exit(w, 13);
    write_enter(w, 20, 0x200500);
    write_exit(w, 27);
    struct analysis analysis = views_load(w);
    struct table t = views_sorted_by(&analysis, BY_FUNCTION, "name");
    cr_assert(eq(sz, t.row_count, 2));
    cr_assert(eq(u64, cell_of(&t, views_row_of(&t, "lib.so+0x500"), "elapsed_inclusive")->number, 3));
    cr_assert(eq(u64, cell_of(&t, views_row_of(&t, "second_only"), "elapsed_inclusive")->number, 7));
    table_drop(&t);
    analysis_drop(&analysis);
}

/* ---- sources of OS events ---- */

Test(unit_views, without_a_source_application_times_are_unknown)
{
    struct analysis analysis = views_load(known_times(SOURCE_NONE));
    struct table t = views_sorted_by(&analysis, BY_FUNCTION, "name");
    const struct cell *a = views_row_of(&t, "a(int)");
    cr_assert(not(analysis.summary.application_known));
    views_expect_percent(&t, a, "elapsed_inclusive_percent", 75);
    cr_assert(not(cell_of(&t, a, "application_inclusive")->known));
    cr_assert(not(cell_of(&t, a, "application_inclusive_percent")->known));
    cr_assert(not(cell_of(&t, a, "application_exclusive")->known));
    cr_assert(not(cell_of(&t, a, "application_exclusive_percent")->known));
    table_drop(&t);
    analysis_drop(&analysis);
}

/* The remark says "All their time counts as flagged". Application times are unknown, not invented. */
Test(unit_views, a_thread_without_a_source_has_no_application_time)
{
    struct writer *w = views_program(SOURCE_PERF);
    write_thread(w, 1, 2, 101, SOURCE_NONE, "blind");
    for (uint32_t thread = 1; thread <= 2; thread++) {
        begin_events(w, 1, thread, 0, 0, NULL, 0);
        write_enter(w, 10, thread == 1 ? A : B);
        write_exit(w, 110);
        end_events(w, true);
    }
    struct analysis analysis = views_load(w);
    cr_assert(analysis.summary.application_known);
    cr_assert(eq(sz, analysis.summary.remark_count, 1));
    cr_assert(strstr(analysis.summary.remarks[0], "1 of 2 threads had no OS events") != NULL);
    cr_assert(eq(u64, analysis.summary.elapsed_inclusive, 200));
    cr_assert(eq(u64, analysis.summary.application_inclusive, 100));
    analysis_drop(&analysis);
}

/* ---- order and limits ---- */

static void expect_order(const struct analysis *analysis, const char *sort, size_t limit, const char *wanted)
{
    struct table t = sorted_rows(analysis, BY_FUNCTION, &(struct sorting){ .key = sort, .limit = limit });
    char found[256] = "";
    for (size_t row = 0; row < t.row_count; row++) {
        strcat(found, t.cells[row * t.column_count].text);
        strcat(found, " ");
    }
    cr_assert(eq(str, found, (char *)wanted), "by %s", sort);
    cr_assert(eq(sz, t.hidden_rows, 4 - t.row_count));
    table_drop(&t);
}

Test(unit_views, sorted_by_any_column)
{
    struct analysis analysis = views_load(known_times(SOURCE_PERF));
    expect_order(&analysis, "name", 0, "a(int) b twin twin ");
    expect_order(&analysis, "elapsed_inclusive", 0, "a(int) b twin twin ");
    expect_order(&analysis, "elapsed_exclusive", 0, "b a(int) twin twin ");
    expect_order(&analysis, "application_inclusive", 0, "a(int) b twin twin ");
    expect_order(&analysis, "application_exclusive", 3, "b twin a(int) ");
    expect_order(&analysis, "calls", 1, "b ");
    expect_order(&analysis, "max", 2, "a(int) b ");
    analysis_drop(&analysis);
}

/* ---- callers ---- */

static void views_find_row(const struct analysis *analysis, const char *text, size_t wanted)
{
    size_t count;
    free(function_find_all(analysis, text, &count));
    cr_assert(eq(sz, count, wanted), "%s", text);
}

Test(unit_views, functions_are_found_by_name)
{
    struct analysis analysis = views_load(known_times(SOURCE_PERF));
    views_find_row(&analysis, "a(int)", 1);
    views_find_row(&analysis, "a", 1);
    views_find_row(&analysis, "b", 1);
    views_find_row(&analysis, "b@prog", 1);
    views_find_row(&analysis, "b@other", 0);
    views_find_row(&analysis, "twin", 2);
    views_find_row(&analysis, "twi", 2);
    views_find_row(&analysis, "nobody", 0);
    analysis_drop(&analysis);
}

Test(unit_views, callers_and_their_shares)
{
    struct analysis analysis = views_load(known_times(SOURCE_PERF));
    size_t count;
    uint32_t *found = function_find_all(&analysis, "b", &count);
    struct table t = view_callers(&analysis, *found, false);
    cr_assert(eq(sz, t.row_count, 4)); /* the function, its callers a and b, its callee b */
    views_expect_percent(&t, views_row_of(&t, "function"), "share_percent", 100);
    const struct cell *caller = views_row_of(&t, "caller");
    cr_assert(eq(str, cell_of(&t, caller, "function")->text, "a(int)"));
    views_expect_percent(&t, caller, "share_percent", 100);
    views_expect_percent(&t, caller, "elapsed_inclusive_percent", 50);
    const struct cell *callee = views_row_of(&t, "callee");
    cr_assert(eq(str, cell_of(&t, callee, "function")->text, "b"));
    views_expect_percent(&t, callee, "share_percent", 30);
    free(found);
    table_drop(&t);
    analysis_drop(&analysis);
}

/* Two callers that differ only in their calls, in either order. The report must not depend on that order. */
static char *callers_of_b(bool turned)
{
    struct writer *w = views_program(SOURCE_PERF);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (unsigned i = 0; i < 2; i++) {
        const bool first = (i == 0) != turned;
        write_enter(w, 100 * i + 10, first ? TWIN : OTHER_TWIN);
        write_enter(w, 100 * i + 10, B);
        if (first) {
            write_exit(w, 100 * i + 15);
            write_enter(w, 100 * i + 15, B);
        }
        write_exit(w, 100 * i + 30);
        write_exit(w, 100 * i + 30);
    }
    struct analysis analysis = views_load(w);
    size_t count, length;
    uint32_t *found = function_find_all(&analysis, "b", &count);
    struct table t = view_callers(&analysis, *found, false);
    char *text = NULL;
    FILE *out = open_memstream(&text, &length);
    table_print_csv(&t, out);
    fclose(out);
    free(found);
    table_drop(&t);
    analysis_drop(&analysis);
    return text;
}

Test(unit_views, callers_of_one_name_have_an_order)
{
    char *one = callers_of_b(false), *other = callers_of_b(true);
    cr_assert(eq(str, one, other));
    free(one);
    free(other);
}

/* ---- trees ---- */

Test(unit_views, folded_branches_still_add_up)
{
    struct analysis analysis = views_load(known_times(SOURCE_PERF));
    for (unsigned depth = 1; depth < 4; depth++) {
        for (double percent = 0; percent <= 100; percent += 12.5) {
            struct table t = view_tree(&analysis, &(struct tree_options){ .min.percent = percent, .depth = depth });
            uint64_t elapsed = 0, application = 0, calls = 0;
            for (size_t row = 0; row < t.row_count; row++) {
                const struct cell *cells = &t.cells[row * t.column_count];
                elapsed += cell_of(&t, cells, "elapsed_exclusive")->number;
                application += cell_of(&t, cells, "application_exclusive")->number;
                calls += t.parents[row] ? 0 : cell_of(&t, cells, "calls")->number;
            }
            cr_assert(eq(u64, elapsed, 400));
            cr_assert(eq(u64, application, 160));
            cr_assert(eq(u64, calls, 3));
            table_drop(&t);
        }
    }
    analysis_drop(&analysis);
}

Test(unit_views, the_hot_path_is_marked)
{
    struct analysis analysis = views_load(known_times(SOURCE_PERF));
    struct table t = view_tree(&analysis, &(struct tree_options){ .min.percent = 0, .depth = 40, .by_thread = false });
    const char *wanted[][2] = { { "a(int)", "*" }, { "b", "*" }, { "b", "" }, { "twin", "" }, { "twin", "" } };
    cr_assert(eq(sz, t.row_count, 5));
    for (size_t row = 0; row < 5; row++) {
        const struct cell *cells = &t.cells[row * t.column_count];
        cr_assert(eq(str, cell_of(&t, cells, "function")->text, (char *)wanted[row][0]));
        cr_assert(eq(str, cell_of(&t, cells, "hot")->text, (char *)wanted[row][1]), "row %zu", row);
    }
    table_drop(&t);
    analysis_drop(&analysis);
}

Test(unit_views, a_session_without_events)
{
    struct analysis analysis = views_load(views_program(SOURCE_PERF));
    for (int what = BY_FUNCTION; what <= BY_PROCESS; what++) {
        struct table t = views_sorted_by(&analysis, (enum rollup_by)what, "name");
        cr_assert(eq(sz, t.row_count, 0));
        table_drop(&t);
    }
    struct table t = view_tree(&analysis, &(struct tree_options){ .min.percent = 1, .depth = 40, .by_thread = false });
    cr_assert(eq(sz, t.row_count, 0));
    table_drop(&t);
    analysis_drop(&analysis);
}
