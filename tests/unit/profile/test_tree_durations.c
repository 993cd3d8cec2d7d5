/* Durations of chosen functions in mode profile: with the probes and without, in sums, and where some are missing. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/memory.h"
#include "profile/durations.h"
#include "sums/sums.h"
#include "support/load.h"
#include "support/scenario.h"
#include "tables/views.h"

TestSuite(unit_tree_durations);

enum { F = 0x1000, G = 0x2000, H = 0x3000, HISTOGRAMS = 32 };
static const uint64_t counted = UINT64_C(1) << 63, lost = UINT64_C(1) << 62;

/* F calls G, and both are counted; H is not. A call of G takes 48 or 60 ticks, of which its probes are 8. */
static void counted_save(const char *path, const struct tree_node *nodes, uint32_t count, const uint64_t (*rows)[3],
                         uint32_t row_count)
{
    struct writer *w = writer_new();
    write_header(w, 96, 1, 4); /* mode profile */
    write_header(w, 176, HISTOGRAMS, 4);
    write_process(w, 1, 70, "/bin/p");
    write_probes(w, 1, 8 * 256, 2 * 256, 0);
    write_thread(w, 1, 1, 71, SOURCE_PERF, "one");
    write_tree(w, 1, 1, nodes, count);
    if (row_count)
        write_durations(w, 1, 1, rows, row_count);
    writer_save(w, path);
    writer_free(w);
}

static const struct tree_node counted_nodes[] = {
    { .function = F, .calls = 1, .elapsed = 968, .shortest = 1500 | (UINT64_C(1) << 63), .longest = 1500 },
    { .function = G, .parent = 1, .calls = 10, .elapsed = 532, .shortest = 48 | (UINT64_C(1) << 63), .longest = 60 },
    { .function = H, .calls = 1, .elapsed = 300, .shortest = 300, .longest = 300 },
};
/* 1500 ticks are in the counter 32 * 5 + (1500 >> 5). */
static const uint64_t counted_rows[][3] = { { 2, 48, 6 }, { 2, 60, 4 }, { 1, 206, 1 } };

static struct analysis counted_load(const char *path, bool raw)
{
    struct analysis analysis;
    load_with(&analysis, path, &(struct analysis_options){ .durations = true, .raw = raw, .limits = true });
    return analysis;
}

static const struct cell *counted_cell(const struct table *t, const char *function, const char *key)
{
    const size_t name = table_find_column(t, 0, "function", 8), column = table_find_column(t, 0, key, strlen(key));
    for (size_t row = 0; row < t->row_count; row++)
        if (strstr(t->cells[row * t->column_count + name].text, function))
            return &t->cells[row * t->column_count + column];
    cr_fatal("no row of %s", function);
}

static void counted_expect(const struct table *t, const char *function, const uint64_t wanted[3], bool estimated)
{
    static const char *const keys[] = { "p50", "p90", "p99" };
    for (size_t i = 0; i < 3; i++) {
        const struct cell *cell = counted_cell(t, function, keys[i]);
        cr_assert(cell->known, "%s %s", function, keys[i]);
        cr_assert(eq(u64, cell->number, wanted[i]), "%s %s", function, keys[i]);
        cr_assert(eq(int, cell->estimated, estimated), "%s %s", function, keys[i]);
    }
}

static const char *counted_remark(const struct analysis *analysis, const char *code)
{
    for (size_t i = 0; i < analysis->summary.remark_count; i++)
        if (strcmp(analysis->summary.remark_codes[i], code) == 0)
            return analysis->summary.remarks[i];
    return NULL;
}

static struct table counted_table(const struct analysis *analysis)
{
    return view_rows(analysis, BY_FUNCTION, &(struct sorting){ .key = "name" });
}

/* As measured, the only call of F is exact, between the limits. */
static void counted_expect_raw(const char *path)
{
    struct analysis analysis = counted_load(path, true);
    struct table t = counted_table(&analysis);
    counted_expect(&t, "0x2000", (const uint64_t[]){ 48, 60, 60 }, false);
    cr_assert(not(counted_cell(&t, "0x3000", "p99")->known));
    cr_assert(not(t.marks_cells));
    cr_assert(analysis.summary.durations_known);
    cr_assert(eq(str, (char *)counted_remark(&analysis, "percentiles-of-chosen"),
                 "only functions of --histogram have percentiles"));
    cr_assert(zero(ptr, (void *)counted_remark(&analysis, "percentiles-need-net")));
    table_drop(&t);
    analysis_drop(&analysis);
}

/* G has no callees: each of its calls loses the 8 ticks of its probes. F loses a part of its time: of 1500 ticks, its
 * own probes are 8 + 10 * 2, and those of G 80. */
static void counted_expect_net(const char *path)
{
    struct analysis analysis = counted_load(path, false);
    struct table t = counted_table(&analysis);
    counted_expect(&t, "0x2000", (const uint64_t[]){ 40, 52, 52 }, true);
    counted_expect(&t, "0x1000", (const uint64_t[]){ 1392, 1392, 1392 }, true);
    cr_assert(not(counted_cell(&t, "0x3000", "p99")->known));
    cr_assert(t.marks_cells);
    cr_assert(analysis.summary.durations_known);
    cr_assert(counted_remark(&analysis, "percentiles-of-chosen") != NULL);
    table_drop(&t);
    analysis_drop(&analysis);
}

Test(unit_tree_durations, of_chosen_functions)
{
    char *path = need_text("%s", test_path("counted.data"));
    counted_save(path, counted_nodes, 3, counted_rows, 3);
    counted_expect_raw(path);
    counted_expect_net(path);
    struct analysis raw = counted_load(path, true);
    struct table t = counted_table(&raw);
    counted_expect(&t, "0x1000", (const uint64_t[]){ 1500, 1500, 1500 }, false);
    cr_assert(eq(u64, counted_cell(&t, "0x2000", "min")->number, 48));
    table_drop(&t);
    analysis_drop(&raw);
    free(path);
}

static void counted_sum(const char *path, const char *into)
{
    struct error error = { NULL };
    struct sums *sums = sums_new();
    cr_assert(sums_add_recorded(sums, path, (struct sums_shard){ 0, 1 }, 1, &error), "%s", error.text);
    cr_assert(sums_write(sums, into) == NULL);
    sums_free(sums);
}

Test(unit_tree_durations, in_sums_have_the_probes_time)
{
    char *path = need_text("%s", test_path("counted.data")), *summed = need_text("%s", test_path("summed.data"));
    counted_save(path, counted_nodes, 3, counted_rows, 3);
    counted_sum(path, summed);
    const char *wrong;
    struct session_file *file = session_file_open(summed, &wrong);
    cr_assert(eq(u32, file->sums.summed[0].record.durations, DWELL_DURATIONS_RAW));
    session_file_close(file);
    counted_expect_raw(summed);
    counted_expect_net(summed);
    free(path);
    free(summed);
}

/* There was no room for a call of G on its second path, so a percentile of G would be that of some calls. */
Test(unit_tree_durations, of_a_function_are_all_or_none)
{
    struct tree_node nodes[4];
    memcpy(nodes, counted_nodes, sizeof counted_nodes);
    nodes[3] = (struct tree_node){ .function = G, .parent = 3, .calls = 5, .elapsed = 900, .longest = 300 };
    const uint64_t limits[] = { 100, counted | lost | 100, counted | 100 };
    char *path = need_text("%s", test_path("lost.data")), *summed = need_text("%s", test_path("summed.data"));
    for (size_t i = 0; i < 3; i++) {
        nodes[3].shortest = limits[i];
        counted_save(path, nodes, 4, counted_rows, 3);
        counted_sum(path, summed);
        struct analysis analysis = counted_load(path, true), sums = counted_load(summed, true);
        struct table t = counted_table(&analysis), u = counted_table(&sums);
        cr_assert(eq(int, counted_cell(&t, "0x2000", "p50")->known, i == 2));
        cr_assert(eq(int, counted_cell(&u, "0x2000", "p50")->known, i == 2));
        cr_assert(counted_cell(&t, "0x1000", "p50")->known);
        cr_assert(eq(u64, counted_cell(&t, "0x2000", "min")->number, 48));
        const char *remark = counted_remark(&analysis, "percentiles-had-no-room");
        if (i < 2)
            cr_assert(eq(str, (char *)remark, "percentiles of 1 function are unknown: no room to count 5 calls"));
        else
            cr_assert(zero(ptr, (void *)remark));
        table_drop(&t);
        table_drop(&u);
        analysis_drop(&analysis);
        analysis_drop(&sums);
    }
    free(path);
    free(summed);
}

/* No call of them may have been made yet. */
Test(unit_tree_durations, of_no_call)
{
    char *path = need_text("%s", test_path("none.data"));
    counted_save(path, counted_nodes + 2, 1, NULL, 0);
    struct analysis analysis = counted_load(path, false);
    struct table t = counted_table(&analysis);
    cr_assert(not(counted_cell(&t, "0x3000", "p50")->known));
    cr_assert(counted_remark(&analysis, "percentiles-of-chosen") != NULL);
    cr_assert(zero(ptr, (void *)counted_remark(&analysis, "percentiles-need-calls")));
    table_drop(&t);
    analysis_drop(&analysis);
    free(path);
}

/* A delta has the calls since the one before; a single one of them is about as long as its counter says. */
Test(unit_tree_durations, of_deltas_add_up)
{
    struct durations *now = NULL, *made = NULL;
    durations_add(&now, 1000, 3, 0);
    durations_take_new(&now, &made);
    cr_assert(eq(u64, durations_calls(now), 3));
    free(now);
    now = NULL;
    durations_add(&now, 1000, 4, 0);
    durations_add(&now, 50, 7, 0);
    durations_take_new(&now, &made);
    cr_assert(eq(u64, durations_calls(now), 8));
    cr_assert(eq(u64, durations_calls(made), 11));
    free(now);
    now = NULL;
    durations_add(&now, 1000, 5, 0);
    durations_add(&now, 50, 7, 0);
    durations_take_new(&now, &made);
    cr_assert(durations_are_one(now));
    size_t count;
    struct durations_step *steps = durations_list(now, &count);
    cr_assert(eq(u64, steps[0].ticks, durations_middle(durations_counter(1000))));
    free(steps);
    free(now);
    now = NULL;
    durations_merge(&now, made);
    durations_take_new(&now, &made);
    cr_assert(zero(ptr, now));
    free(made);
}
