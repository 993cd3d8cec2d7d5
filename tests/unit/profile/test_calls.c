/* Single calls: the four times of each, their distribution, and the slowest. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "profile/durations.h"
#include "support/load.h"
#include "support/model.h"
#include "support/rows.h"
#include "support/scenario.h"
#include "tables/views.h"

enum { F = 0x1000, G = 0x2000 };

struct list {
    struct finished_call calls[16];
    size_t count;
};

static bool calls_keep(void *context, const struct finished_call *call)
{
    struct list *list = context;
    list->calls[list->count++] = *call;
    return true;
}

static struct analysis calls_load(struct writer *w)
{
    struct analysis analysis;
    writer_save(w, test_path("calls.dwell"));
    writer_free(w);
    load_whole(&analysis, test_path("calls.dwell"), 1);
    return analysis;
}

static struct writer *calls_begin(uint32_t source)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    write_thread(w, 1, 1, 11, source, "t");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    return w;
}

static void calls_check(const struct finished_call *call, uint64_t el_incl, uint64_t el_excl, uint64_t app_incl,
                        uint64_t app_excl, uint64_t blocked)
{
    cr_assert(eq(u64, call_ticks(call->times[CALL_ELAPSED_INCLUSIVE]), el_incl));
    cr_assert(eq(u64, call_ticks(call->times[CALL_ELAPSED_EXCLUSIVE]), el_excl));
    cr_assert(eq(u64, call_ticks(call->times[CALL_APPLICATION_INCLUSIVE]), app_incl));
    cr_assert(eq(u64, call_ticks(call->times[CALL_APPLICATION_EXCLUSIVE]), app_excl));
    cr_assert(eq(u64, call_ticks(call->blocked), blocked));
}

/* F 10..110, in it G 30..60. G is blocked for 12 at its end, and 25 are flagged before F's exit. */
Test(unit_calls, each_call_has_four_times)
{
    struct writer *w = calls_begin(SOURCE_PERF);
    write_enter(w, 10, F);
    write_enter(w, 30, G);
    write_enter(w, 40, G);
    write_exit(w, 50);
    write_off_cpu(w, false, 45, 7);
    write_exit(w, 60);
    write_enter(w, 80, G);
    write_unwind(w, 1);
    write_os(w);
    write_exit(w, 110);
    end_events(w, true);
    struct analysis analysis = calls_load(w);
    struct list list = { .count = 0 };
    analysis_follow_calls(&analysis, false, calls_keep, &list);
    cr_assert(eq(sz, list.count, 4));
    calls_check(&list.calls[0], 10, 10, 10, 10, 0);
    calls_check(&list.calls[1], 30, 20, 20, 10, 7);
    calls_check(&list.calls[2], 30, 30, 0, 0, 0);
    calls_check(&list.calls[3], 100, 40, 60, 40, 7);
    cr_assert(eq(u64, list.calls[3].begin, 10));
    cr_assert(eq(u32, list.calls[3].caller, PROFILE_NONE));
    cr_assert(eq(u32, list.calls[1].caller, list.calls[3].function));
    cr_assert(eq(u32, list.calls[0].caller, list.calls[1].function));
    analysis_drop(&analysis);
}

Test(unit_calls, without_a_source_nothing_is_application_time)
{
    struct writer *w = calls_begin(SOURCE_NONE);
    write_enter(w, 10, F);
    write_exit(w, 50);
    end_events(w, true);
    struct analysis analysis = calls_load(w);
    struct list list = { .count = 0 };
    analysis_follow_calls(&analysis, false, calls_keep, &list);
    calls_check(&list.calls[0], 40, 40, 0, 0, 0);
    analysis_drop(&analysis);
}

/* A call that is still open, or was open at the start, is not a completed call. */
Test(unit_calls, open_calls_do_not_count)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    write_thread(w, 1, 1, 11, SOURCE_PERF, "t");
    begin_events(w, 1, 1, 0, 5, (struct open_call[]){ { F, 2 } }, 1);
    write_exit(w, 20);
    write_enter(w, 30, G);
    end_events(w, true);
    struct analysis analysis = calls_load(w);
    struct list list = { .count = 0 };
    analysis_follow_calls(&analysis, false, calls_keep, &list);
    cr_assert(eq(sz, list.count, 0));
    analysis_drop(&analysis);
}

/* ---- comparison with the model: the sums of single calls are the report's ---- */

struct sums {
    uint64_t (*times)[CALL_TIMES];
    uint64_t *count, *shortest, *longest;
};

static bool calls_add_sums(void *context, const struct finished_call *call)
{
    struct sums *s = context;
    const uint64_t elapsed = call_ticks(call->times[CALL_ELAPSED_INCLUSIVE]);
    for (int i = 0; i < CALL_TIMES; i++)
        s->times[call->function][i] += call_ticks(call->times[i]);
    if (s->count[call->function]++ == 0 || elapsed < s->shortest[call->function])
        s->shortest[call->function] = elapsed;
    if (elapsed > s->longest[call->function])
        s->longest[call->function] = elapsed;
    return true;
}

Test(unit_calls, sums_are_the_reports, .timeout = 300)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct model *m = model_new(seed);
        struct analysis analysis = calls_load(model_write(m, 20, 0));
        const size_t count = analysis.profile->function_count;
        struct sums s = { calloc(count, sizeof *s.times), calloc(count, 8), calloc(count, 8), calloc(count, 8) };
        analysis_follow_calls(&analysis, false, calls_add_sums, &s);
        struct times *functions = rollup_groups(analysis.rollup, BY_FUNCTION);
        for (size_t i = 0; i < count; i++) {
            cr_assert(le(u64, s.count[i], functions[i].calls));
            cr_assert(le(u64, s.times[i][CALL_ELAPSED_EXCLUSIVE], functions[i].elapsed_exclusive));
            cr_assert(le(u64, s.times[i][CALL_APPLICATION_EXCLUSIVE], functions[i].application_exclusive));
            cr_assert(eq(u64, s.shortest[i], functions[i].shortest));
            cr_assert(eq(u64, s.longest[i], functions[i].longest));
        }
        free(functions);
        free(s.times);
        free(s.count);
        free(s.shortest);
        free(s.longest);
        analysis_drop(&analysis);
        model_free(m);
    }
}

/* ---- views ---- */

static const struct cell *calls_cell_of(const struct table *t, size_t row, const char *key)
{
    size_t column = 0;
    while (strcmp(t->columns[column].key, key) != 0)
        column++;
    return &t->cells[row * t->column_count + column];
}

static struct writer *many_calls(void)
{
    struct writer *w = calls_begin(SOURCE_PERF);
    uint64_t t = 100;
    for (uint64_t i = 1; i <= 100; i++, t += 1000) { /* 1, 2, ... 100 ns */
        write_enter(w, t, F);
        write_exit(w, t + i);
    }
    end_events(w, true);
    return w;
}

Test(unit_calls, histogram)
{
    struct analysis analysis = calls_load(many_calls());
    struct call_spread exact;
    struct table t = view_histogram(&analysis, 0, CALL_ELAPSED_INCLUSIVE, false, &exact);
    static const struct {
        uint64_t from, to, calls, total;
        const char *bar;
    } wanted[] = {
        { 1, 2, 1, 1, "#" },
        { 2, 5, 3, 9, "###" },
        { 5, 10, 5, 35, "####" },
        { 10, 20, 10, 145, "########" },
        { 20, 50, 30, 1035, "########################" },
        { 50, 100, 50, 3725, "########################################" },
        { 100, 200, 1, 100, "#" },
    };
    cr_assert(eq(sz, t.row_count, sizeof wanted / sizeof *wanted));
    for (size_t i = 0; i < t.row_count; i++) {
        cr_assert(eq(u64, calls_cell_of(&t, i, "from")->number, wanted[i].from));
        cr_assert(eq(u64, calls_cell_of(&t, i, "to")->number, wanted[i].to));
        cr_assert(eq(u64, calls_cell_of(&t, i, "calls")->number, wanted[i].calls));
        cr_assert(eq(u64, calls_cell_of(&t, i, "total")->number, wanted[i].total));
        cr_assert(eq(str, calls_cell_of(&t, i, "bar")->text, (char *)wanted[i].bar));
    }
    cr_assert(epsilon_eq(dbl, calls_cell_of(&t, 3, "calls_cumulated_percent")->percent, 19, 1e-9));
    cr_assert(eq(u64, exact.least, 1));
    struct histogram h = call_spread_histogram(&exact);
    cr_assert(eq(u64, histogram_percentile(&h, 50), 50));
    cr_assert(eq(u64, histogram_percentile(&h, 99), 99));
    histogram_drop(&h);
    call_spread_drop(&exact);
    table_drop(&t);
    analysis_drop(&analysis);
}

Test(unit_calls, slowest)
{
    struct analysis analysis = calls_load(many_calls());
    for (size_t limit = 1; limit < 120; limit += 17) {
        struct table t = view_slowest(&analysis, 0, CALL_ELAPSED_INCLUSIVE, limit);
        cr_assert(eq(sz, t.row_count, limit < 100 ? limit : 100));
        for (size_t i = 0; i < t.row_count; i++) {
            cr_assert(eq(u64, calls_cell_of(&t, i, "elapsed_inclusive")->number, 100 - i));
            cr_assert(eq(u64, calls_cell_of(&t, i, "time")->number, 100 + 1000 * (99 - i)));
        }
        table_drop(&t);
    }
    analysis_drop(&analysis);
}

Test(unit_calls, columns_of_single_calls)
{
    struct analysis analysis = calls_load(many_calls());
    struct table t = sorted_rows(&analysis, BY_FUNCTION, &(struct sorting){ .key = "name", .calls = true });
    cr_assert(eq(u64, calls_cell_of(&t, 0, "elapsed_inclusive_min")->number, 1));
    cr_assert(eq(u64, calls_cell_of(&t, 0, "elapsed_inclusive_mean")->number, 51)); /* 50.5 */
    cr_assert(eq(u64, calls_cell_of(&t, 0, "application_exclusive_median")->number, 50));
    cr_assert(eq(u64, calls_cell_of(&t, 0, "elapsed_exclusive_p90")->number, 90));
    cr_assert(eq(u64, calls_cell_of(&t, 0, "application_inclusive_p99")->number, 99));
    cr_assert(eq(u64, calls_cell_of(&t, 0, "elapsed_inclusive_max")->number, 100));
    cr_assert(view_needs_calls("calls,elapsed_inclusive_p90_ns"));
    cr_assert(not(view_needs_calls("calls,elapsed_inclusive_ns,min")));
    table_drop(&t);
    analysis_drop(&analysis);
}

/* The middle of a percentile's counter can be beyond the longest call. */
Test(unit_calls, percentiles_are_not_beyond_the_maximum)
{
    struct analysis analysis;
    struct writer *w = calls_begin(SOURCE_PERF);
    for (uint64_t i = 0; i < 10; i++) {
        write_enter(w, 5000 * i, F);
        write_exit(w, 5000 * i + 4096);
    }
    end_events(w, true);
    writer_save(w, test_path("calls.dwell"));
    writer_free(w);
    load_with(&analysis, test_path("calls.dwell"), &(struct analysis_options){ .limits = true, .durations = true });
    uint64_t middle;
    durations_percentiles(analysis.profile->nodes[1].durations, (double[]){ 99 }, &middle, 1);
    cr_assert(eq(u64, middle, 4160)); /* of 4096 to 4223 */
    struct table t = sorted_rows(&analysis, BY_FUNCTION, &(struct sorting){ .key = "name" });
    cr_assert(eq(u64, calls_cell_of(&t, 0, "max")->number, 4096));
    cr_assert(eq(u64, calls_cell_of(&t, 0, "p99")->number, 4096));
    cr_assert(eq(u64, calls_cell_of(&t, 0, "p50")->number, 4096));
    table_drop(&t);
    analysis_drop(&analysis);
}

/* Nor beyond the time of all calls together, if the maximum is not known. */
Test(unit_calls, percentiles_are_not_beyond_the_time_of_their_row)
{
    struct analysis analysis;
    struct writer *w = calls_begin(SOURCE_PERF);
    for (uint64_t i = 0; i < 2; i++) {
        write_enter(w, 5000 * i, F);
        write_exit(w, 5000 * i + 4096 * i);
    }
    end_events(w, true);
    writer_save(w, test_path("calls.dwell"));
    writer_free(w);
    load_with(&analysis, test_path("calls.dwell"), &(struct analysis_options){ .durations = true });
    struct table t = sorted_rows(&analysis, BY_FUNCTION, &(struct sorting){ .key = "name" });
    cr_assert(eq(u64, calls_cell_of(&t, 0, "p50")->number, 0));
    cr_assert(eq(u64, calls_cell_of(&t, 0, "p99")->number, 4096)); /* of 4096 to 4223 */
    table_drop(&t);
    analysis_drop(&analysis);
}

Test(unit_calls, times_are_exact_while_few_differ)
{
    for (uint64_t count = HISTOGRAM_EXACT; count <= HISTOGRAM_EXACT + 1; count++) {
        struct call_spread s = { 0 };
        for (uint64_t i = 0; i < count; i++)
            call_spread_add_times(&s, 100000 + i, 1 + i % 2, 0);
        call_spread_finish(&s);
        cr_assert(eq(u64, s.count, count + count / 2));
        cr_assert(eq(u64, s.least, 100000));
        cr_assert(eq(u64, s.greatest, 100000 + count - 1));
        cr_assert(eq(int, s.rounded, count > HISTOGRAM_EXACT));
        if (!s.rounded)
            cr_assert(eq(sz, s.used, count));
        call_spread_drop(&s);
    }
}
