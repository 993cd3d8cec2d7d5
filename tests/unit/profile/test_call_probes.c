/* Single calls without their probes: exact times by given costs, and the sums of the report. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "dwell/format.h"
#include "support/exported.h"
#include "support/features.h"
#include "support/load.h"
#include "support/rows.h"
#include "support/scanned.h"
#include "support/scenario.h"
#include "tables/views.h"

enum { F = 0x1000, G = 0x2000, H = 0x3000, TICK = DWELL_PROBE_FRACTION, MAX_KEPT = 64 };

struct seen_calls {
    struct finished_call list[MAX_KEPT];
    size_t count;
};

static bool call_probes_keep(void *context, const struct finished_call *call)
{
    struct seen_calls *calls = context;
    if (!call->completed)
        return true;
    cr_assert(lt(sz, calls->count, MAX_KEPT));
    calls->list[calls->count++] = *call;
    return true;
}

static struct seen_calls call_probes_follow(const struct analysis *analysis)
{
    struct seen_calls calls = { .count = 0 };
    analysis_follow_calls(analysis, true, call_probes_keep, &calls);
    return calls;
}

static struct writer *call_probes_begin(uint32_t in_callee, uint32_t in_caller, uint32_t first_callee)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_probes(w, 1, in_callee, in_caller, first_callee);
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    return w;
}

/* F from 0 to 1000. It calls G three times for 100 each, and the last G calls H for 10. */
static struct writer *call_probes_nested(struct writer *w)
{
    write_enter(w, 0, F);
    for (uint64_t at = 100; at < 700; at += 200) {
        write_enter(w, at, G);
        if (at == 500) {
            write_enter(w, 550, H);
            write_exit(w, 560);
        }
        write_exit(w, at + 100);
    }
    write_exit(w, 1000);
    return w;
}

/* In ticks. */
static void expect_call(const struct finished_call *call, int64_t el_incl, int64_t el_excl, int64_t app_incl,
                        int64_t app_excl)
{
    cr_assert(eq(i64, (int64_t)call->times[CALL_ELAPSED_INCLUSIVE], el_incl * TICK));
    cr_assert(eq(i64, (int64_t)call->times[CALL_ELAPSED_EXCLUSIVE], el_excl * TICK));
    cr_assert(eq(i64, (int64_t)call->times[CALL_APPLICATION_INCLUSIVE], app_incl * TICK));
    cr_assert(eq(i64, (int64_t)call->times[CALL_APPLICATION_EXCLUSIVE], app_excl * TICK));
}

/* The sums over all calls are the report's, to the tick. */
static void expect_sums(const struct analysis *analysis)
{
    struct times *functions = rollup_groups(analysis->rollup, BY_FUNCTION);
    const struct seen_calls calls = call_probes_follow(analysis);
    for (uint32_t f = 0; f < analysis->profile->function_count; f++) {
        uint64_t sums[CALL_TIMES] = { 0 }, once = 0;
        for (size_t i = 0; i < calls.count; i++) {
            for (int time = 0; time < CALL_TIMES && calls.list[i].function == f; time++)
                sums[time] += calls.list[i].times[time];
            once += calls.list[i].function == f ? calls.list[i].once : 0;
        }
        cr_assert(eq(u64, once, functions[f].elapsed_inclusive * TICK));
        cr_assert(eq(u64, sums[CALL_ELAPSED_EXCLUSIVE], functions[f].elapsed_exclusive * TICK));
        cr_assert(eq(u64, sums[CALL_APPLICATION_EXCLUSIVE], functions[f].application_exclusive * TICK));
    }
    free(functions);
}

/* F calls more often than it is called, G and H are called more often than they call: so the first callee counts for
 * F's call, and for the call of H. */
Test(unit_call_probes, each_call_is_without_its_probes_and_those_below_it)
{
    struct analysis analysis = loaded_of(call_probes_nested(call_probes_begin(2 * TICK, 5 * TICK, 3 * TICK)));
    const struct seen_calls calls = call_probes_follow(&analysis);
    cr_assert(eq(sz, calls.count, 5));
    expect_call(&calls.list[0], 98, 98, 98, 98);                                        /* G */
    expect_call(&calls.list[1], 98, 98, 98, 98);                                        /* G */
    expect_call(&calls.list[2], 8, 8, 8, 8);                                            /* H */
    expect_call(&calls.list[3], 100 - 2 - 8 - 2, 90 - 2 - 8, 88, 80);                   /* G, which called H */
    expect_call(&calls.list[4], 1000 - 20 - 14 - 2, 700 - 20, 1000 - 20 - 14 - 2, 680); /* F */
    expect_sums(&analysis);
    analysis_drop(&analysis);
}

Test(unit_call_probes, fractions_of_ticks_add_up)
{
    struct analysis analysis = loaded_of(call_probes_nested(call_probes_begin(TICK / 2 + 3, 77, 19)));
    expect_sums(&analysis);
    analysis_drop(&analysis);
}

Test(unit_call_probes, raw_calls_have_all_their_time)
{
    struct writer *w = call_probes_nested(call_probes_begin(2 * TICK, 5 * TICK, 3 * TICK));
    writer_save(w, test_path("raw.dwell"));
    writer_free(w);
    struct analysis analysis;
    load_with(&analysis, test_path("raw.dwell"), &(struct analysis_options){ .raw = true });
    const struct seen_calls calls = call_probes_follow(&analysis);
    expect_call(&calls.list[3], 100, 90, 100, 90);
    expect_call(&calls.list[4], 1000, 700, 1000, 700);
    expect_sums(&analysis);
    analysis_drop(&analysis);
}

/* A call can be shorter than its probes: its neighbours on the path are as much too long. */
static struct writer *call_probes_short(uint64_t longest)
{
    struct writer *w = call_probes_begin(15 * TICK, 0, 0);
    const uint64_t lengths[] = { 10, 20, 10, longest, 20, 10 };
    uint64_t at = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        write_enter(w, at, F);
        write_exit(w, at + lengths[i]);
        at += lengths[i] + 100;
    }
    return w;
}

Test(unit_call_probes, a_call_may_be_shorter_than_its_probes)
{
    struct analysis analysis = loaded_of(call_probes_short(100));
    const struct seen_calls calls = call_probes_follow(&analysis);
    expect_call(&calls.list[0], -5, -5, -5, -5);
    expect_call(&calls.list[1], 5, 5, 5, 5);
    expect_call(&calls.list[3], 85, 85, 85, 85);
    expect_sums(&analysis);
    struct table t = sorted_rows(&analysis, BY_FUNCTION, &(struct sorting){ .key = "name", .calls = true });
    size_t column = 0;
    while (strcmp(t.columns[column].key, "elapsed_inclusive_min") != 0)
        column++;
    const uint64_t wanted[] = { 0, 13, 0, 85, 85, 85 }; /* min, mean (80 / 6), median, p90, p99, max */
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        cr_assert(eq(u64, t.cells[column + i].number, wanted[i]));
    table_drop(&t);
    analysis_drop(&analysis);
}

Test(unit_call_probes, calls_of_a_path_that_is_held_at_zero_take_no_time)
{
    struct analysis analysis = loaded_of(call_probes_short(10));
    const struct seen_calls calls = call_probes_follow(&analysis);
    for (size_t i = 0; i < calls.count; i++)
        expect_call(&calls.list[i], 0, 0, 0, 0);
    expect_sums(&analysis);
    analysis_drop(&analysis);
}

/* F is blocked for 40 of its 50 ticks, and flagged for all of them; the probes take 20. G has 6 flagged ticks of 20,
 * and probes of 20. */
Test(unit_call_probes, calls_keep_their_time_off_the_cpu)
{
    struct writer *w = call_probes_begin(20 * TICK, 0, 0);
    write_enter(w, 0, F);
    write_off_cpu(w, false, 5, 40);
    write_exit(w, 50);
    write_enter(w, 100, G);
    write_enter(w, 114, H);
    write_exit(w, 214);
    write_os(w);
    write_exit(w, 220);
    struct analysis analysis = loaded_of(w);
    const struct seen_calls calls = call_probes_follow(&analysis);
    expect_call(&calls.list[0], 40, 40, 0, 0);
    cr_assert(eq(u64, calls.list[0].blocked, 40 * TICK));
    expect_call(&calls.list[1], 80, 80, 80, 80);
    expect_call(&calls.list[2], 80, 0, 80, 0);
    expect_sums(&analysis);
    analysis_drop(&analysis);
}

/* Each level of a recursion is a path. */
Test(unit_call_probes, recursion)
{
    struct writer *w = call_probes_begin(3 * TICK, 2 * TICK, TICK);
    for (uint64_t i = 0; i < 4; i++)
        write_enter(w, 10 * i, F);
    for (uint64_t i = 0; i < 4; i++)
        write_exit(w, 100 + 20 * i);
    struct analysis analysis = loaded_of(w);
    const struct seen_calls calls = call_probes_follow(&analysis);
    expect_call(&calls.list[0], 70 - 3, 67, 67, 67);
    expect_call(&calls.list[1], 100 - 3 - 6, 30 - 6, 91, 24);
    expect_call(&calls.list[3], 160 - 3 - 3 * 6, 24, 139, 24);
    cr_assert(eq(u64, calls.list[0].once, 67 * TICK));
    cr_assert(eq(u64, calls.list[3].once, 24 * TICK));
    expect_sums(&analysis);
    analysis_drop(&analysis);
}

/* The outer call is still open at the end. The sums of the calls lack its time. */
Test(unit_call_probes, open_calls)
{
    struct writer *w = call_probes_begin(2 * TICK, 3 * TICK, 0);
    write_enter(w, 0, F);
    write_enter(w, 10, F);
    write_exit(w, 30);
    write_enter(w, 50, G);
    write_exit(w, 60);
    struct analysis analysis = loaded_of(w);
    const struct seen_calls calls = call_probes_follow(&analysis);
    cr_assert(eq(sz, calls.count, 2));
    expect_call(&calls.list[0], 18, 18, 18, 18);
    expect_call(&calls.list[1], 8, 8, 8, 8);
    analysis_drop(&analysis);
}

/* A chunk ends within the calls. */
Test(unit_call_probes, across_chunks)
{
    struct writer *w = call_probes_begin(2 * TICK + 7, 3 * TICK, 11);
    write_enter(w, 0, F);
    write_enter(w, 10, G);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 10, (struct open_call[]){ { F, 0 }, { G, 10 } }, 2);
    write_enter(w, 20, H);
    write_exit(w, 30);
    write_exit(w, 40);
    end_events(w, true);
    begin_events(w, 1, 1, 2, 40, (struct open_call[]){ { F, 0 } }, 1);
    write_enter(w, 50, G);
    write_exit(w, 60);
    write_exit(w, 70);
    end_events(w, true);
    struct analysis analysis = loaded_of(w);
    cr_assert(eq(sz, call_probes_follow(&analysis).count, 4));
    expect_sums(&analysis);
    analysis_drop(&analysis);
}

/* The file has a thread's first chunk after its second. Each path's rest belongs to its first call nevertheless. */
Test(unit_call_probes, chunks_in_another_order_than_they_were_written_in)
{
    struct writer *w = call_probes_begin(2 * TICK + 7, 3 * TICK, 11);
    end_events(w, true); /* without events */
    begin_events(w, 1, 1, 2, 10, (struct open_call[]){ { F, 0 }, { G, 10 } }, 2);
    write_enter(w, 20, H);
    write_exit(w, 30);
    write_exit(w, 40);
    write_exit(w, 70);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 0, NULL, 0);
    write_enter(w, 0, F);
    write_enter(w, 10, G);
    end_events(w, true);
    struct analysis analysis = loaded_of(w);
    cr_assert(eq(sz, call_probes_follow(&analysis).count, 3));
    expect_sums(&analysis);
    for (unsigned jobs = 1; jobs <= MAX_SCAN_JOBS; jobs++)
        expect_scan(&analysis, jobs);
    analysis_drop(&analysis);
}

/* The lines of a PerfLog log, in ticks. */
static uint64_t perflog_sum(const struct analysis *analysis, const char *marker, uint64_t *lines)
{
    size_t length;
    char *log = exported(analysis, "perflog", EXPORT_ELAPSED, &length);
    uint64_t sum = 0;
    *lines = 0;
    for (const char *at = log; (at = strstr(at, marker)); at++, ++*lines)
        sum += strtoull(strstr(at, "DUR [") + 5, NULL, 10);
    free(log);
    return sum;
}

Test(unit_call_probes, lines_of_perflog_are_the_report)
{
    need_features("perflog");
    for (uint64_t longest = 10; longest <= 100; longest += 15) {
        struct analysis analysis = loaded_of(call_probes_short(longest));
        struct times *functions = rollup_groups(analysis.rollup, BY_FUNCTION);
        uint64_t lines;
        cr_assert(eq(u64, perflog_sum(&analysis, "EVT [1] DUR [", &lines), functions[0].elapsed_inclusive));
        cr_assert(eq(u64, lines, functions[0].calls));
        free(functions);
        analysis_drop(&analysis);
    }
}

Test(unit_call_probes, buckets_of_the_histogram_add_up)
{
    struct analysis analysis = loaded_of(call_probes_short(100));
    struct call_spread exact;
    struct table t = view_histogram(&analysis, 0, CALL_ELAPSED_INCLUSIVE, false, &exact);
    /* -5, -5, -5; 5, 5; 85 */
    const uint64_t calls[] = { 3, 0, 0, 2, 0, 0, 1 }, total[] = { 0, 0, 0, 0, 0, 0, 80 };
    cr_assert(eq(sz, t.row_count, 7));
    for (size_t i = 0; i < t.row_count; i++) {
        cr_assert(eq(u64, t.cells[i * t.column_count + 2].number, calls[i]));
        cr_assert(eq(u64, t.cells[i * t.column_count + 5].number, total[i]));
    }
    cr_assert(epsilon_eq(dbl, call_spread_mean(&exact), 80.0 / 6, 1e-9));
    call_spread_drop(&exact);
    table_drop(&t);
    analysis_drop(&analysis);
}

Test(unit_call_probes, the_slowest_calls_are_without_their_probes)
{
    struct analysis analysis = loaded_of(call_probes_short(100));
    struct table t = view_slowest(&analysis, 0, CALL_ELAPSED_INCLUSIVE, 10);
    const uint64_t wanted[] = { 85, 5, 5, 0, 0, 0 };
    cr_assert(eq(sz, t.row_count, 6));
    for (size_t i = 0; i < t.row_count; i++)
        cr_assert(eq(u64, t.cells[i * t.column_count + 1].number, wanted[i]));
    table_drop(&t);
    analysis_drop(&analysis);
}

/* ---- several workers ---- */

/* Three chunks: a pause, a call that is found open after it, a call that is left, and missing chunks. */
static struct writer *call_probes_chunks(void)
{
    struct writer *w = call_probes_begin(2 * TICK + 7, 3 * TICK, 11);
    write_enter(w, 0, F);
    write_enter(w, 100, G);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 100, (struct open_call[]){ { F, 0 }, { G, 100 } }, 2);
    write_enter(w, 200, H);
    write_exit(w, 310);
    write_pause(w, 400);
    write_resume(w, 500, 0);
    write_off_cpu(w, false, 510, 20);
    write_enter(w, 600, H);
    end_events(w, true);
    begin_events(w, 1, 1, 2, 600, (struct open_call[]){ { F, 100 }, { G, 200 }, { H, 600 } }, 3);
    write_enter(w, 650, F);
    write_unwind(w, 2);
    write_exit(w, 700);
    write_enter(w, 750, G);
    end_events(w, true);
    begin_events(w, 1, 1, 5, 2000, (struct open_call[]){ { F, 100 }, { H, 1500 } }, 2);
    write_exit(w, 2100);
    write_enter(w, 2150, G);
    write_exit(w, 2200);
    write_exit(w, 2300);
    end_events(w, true);
    return w;
}

Test(unit_call_probes, workers_find_the_same_calls)
{
    struct analysis analysis = loaded_of(call_probes_chunks());
    for (unsigned jobs = 1; jobs <= MAX_SCAN_JOBS; jobs++)
        expect_scan(&analysis, jobs);
    analysis_drop(&analysis);
    analysis = loaded_of(call_probes_nested(call_probes_begin(TICK / 2 + 3, 77, 19)));
    expect_scan(&analysis, 2);
    analysis_drop(&analysis);
    analysis = loaded_of(call_probes_short(100));
    expect_scan(&analysis, 2);
    analysis_drop(&analysis);
}

/* ---- minimum and maximum of the report ---- */

static struct analysis call_probes_load_limits(struct writer *w, const struct analysis_options *options)
{
    struct analysis analysis;
    writer_save(w, test_path("limits.dwell"));
    writer_free(w);
    load_with(&analysis, test_path("limits.dwell"), options);
    return analysis;
}

static void expect_limits(const struct analysis *analysis, uint64_t address, uint64_t shortest, uint64_t longest)
{
    struct times *functions = rollup_groups(analysis->rollup, BY_FUNCTION);
    for (uint32_t f = 0; f < analysis->profile->function_count; f++)
        if (analysis->profile->functions[f].offset == address) {
            cr_assert(eq(u64, functions[f].shortest, shortest));
            cr_assert(eq(u64, functions[f].longest, longest));
        }
    free(functions);
}

Test(unit_call_probes, minimum_and_maximum_are_without_probes)
{
    const struct analysis_options limits = { .limits = true }, raw = { .limits = true, .raw = true }, none = { 0 };
    struct analysis analysis =
        call_probes_load_limits(call_probes_nested(call_probes_begin(2 * TICK, 5 * TICK, 3 * TICK)), &limits);
    expect_limits(&analysis, F, 964, 964);
    expect_limits(&analysis, G, 88, 98);
    expect_limits(&analysis, H, 8, 8);
    analysis_drop(&analysis);
    analysis = call_probes_load_limits(call_probes_nested(call_probes_begin(2 * TICK, 5 * TICK, 3 * TICK)), &raw);
    expect_limits(&analysis, F, 1000, 1000);
    expect_limits(&analysis, G, 100, 100);
    analysis_drop(&analysis);
    analysis = call_probes_load_limits(call_probes_nested(call_probes_begin(2 * TICK, 5 * TICK, 3 * TICK)), &none);
    expect_limits(&analysis, F, UINT64_MAX, 0); /* not looked for */
    analysis_drop(&analysis);
    analysis = call_probes_load_limits(call_probes_short(100), &limits);
    expect_limits(&analysis, F, 0, 85);
    analysis_drop(&analysis);
}

/* ---- minimum and maximum that are found later ---- */

static void call_probes_count_amounts(void *context, const struct call_amount *amounts, size_t count)
{
    (void)amounts;
    __atomic_fetch_add((size_t *)context, count, __ATOMIC_RELAXED);
}

/* The session of call_probes_load_limits, whose limits another pass finds, has the same ones. */
static void expect_same_limits_later(const struct analysis *wanted, unsigned jobs)
{
    struct analysis analysis;
    const struct analysis_options later = { .jobs = jobs, .limits = true, .limits_later = true };
    size_t count = 0;
    void *contexts[] = { &count, &count, &count, &count };
    cr_assert(le(uint, jobs, 4));
    load_with(&analysis, test_path("limits.dwell"), &later);
    cr_assert(analysis.lacks_limits);
    analysis_scan_with_limits(&analysis, call_probes_count_amounts, contexts);
    cr_assert(not(analysis.lacks_limits));
    cr_assert(eq(sz, analysis.profile->node_count, wanted->profile->node_count));
    uint32_t *nodes = calloc(wanted->profile->node_count, sizeof *nodes); /* workers find paths in any order */
    for (uint32_t i = 0; i < wanted->profile->node_count; i++) {
        const struct profile_node *node = &wanted->profile->nodes[i];
        if (node->parent == PROFILE_NONE) {
            nodes[i] = profile_find_root(analysis.profile, 1, 1);
            continue;
        }
        nodes[i] = profile_find_child(analysis.profile, nodes[node->parent],
                                      profile_find_same_function(analysis.profile, wanted->profile, node->function));
        const struct profile_node *found = &analysis.profile->nodes[nodes[i]];
        cr_assert(eq(u64, found->shortest, node->shortest));
        cr_assert(eq(u64, found->longest, node->longest));
        cr_assert(eq(u64, found->net_shortest, node->net_shortest));
        cr_assert(eq(u64, found->net_longest, node->net_longest));
        cr_assert(eq(u64, analysis.rollup->nodes[nodes[i]].shortest, wanted->rollup->nodes[i].shortest));
        cr_assert(eq(u64, analysis.rollup->nodes[nodes[i]].longest, wanted->rollup->nodes[i].longest));
    }
    free(nodes);
    cr_assert(eq(sz, count, wanted->profile->counts.exits));
    analysis_drop(&analysis);
}

/* minimum <= mean <= maximum, in a column of each of the four times. */
static void check_columns(const struct analysis *analysis)
{
    struct table t = sorted_rows(analysis, BY_FUNCTION, &(struct sorting){ .key = "name", .calls = true });
    for (size_t row = 0; row < t.row_count; row++)
        for (size_t column = 0; column < t.column_count; column++) {
            const struct cell *cell = &t.cells[row * t.column_count + column];
            const char *key = t.columns[column].key, *end = strrchr(key, '_');
            if (!end || strcmp(end, "_min") != 0 || !cell->known)
                continue;
            for (int i = 1; i < 6; i++) { /* mean, then the median and what follows it */
                cr_assert(le(u64, cell[0].number, cell[i].number), "%s", key);
                cr_assert(le(u64, cell[i].number, cell[5].number), "%s", key);
            }
        }
    table_drop(&t);
}

/* In a random session without open calls: the sums, and the order of minimum, mean and maximum. Probes cost about as
 * much as the calls last. */
Test(unit_call_probes, random_sessions, .timeout = 300)
{
    uint64_t state = 7;
    for (uint32_t seed = 0; seed < 40; seed++) {
        struct writer *w = call_probes_begin(seed * 199, seed * 83, seed * 57);
        uint64_t functions[8], time = 0;
        uint32_t depth = 0, calls = 0, sequence = 0;
        struct open_call stack[8];
        while (calls < MAX_KEPT || depth) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const uint32_t number = (uint32_t)(state >> 40);
            time += number % 7 ? 10 * (number % 5) : number % 3000;
            if (number % 11 == 0) {
                end_events(w, true);
                begin_events(w, 1, 1, ++sequence, time, stack, depth);
            }
            if (number % 13 == 0)
                write_os(w);
            if (calls < MAX_KEPT && depth < 8 && (depth == 0 || number & 64)) {
                functions[depth] = F + (number >> 8) % 3 * 0x1000;
                write_enter(w, time, functions[depth]);
                stack[depth] = (struct open_call){ functions[depth], time };
                depth++;
                calls++;
            } else {
                write_exit(w, time);
                depth--;
            }
        }
        struct analysis analysis = call_probes_load_limits(w, &(struct analysis_options){ .limits = true });
        expect_same_limits_later(&analysis, 1 + seed % 4);
        expect_sums(&analysis);
        expect_scan(&analysis, 1 + seed % MAX_SCAN_JOBS);
        check_columns(&analysis);
        for (uint32_t i = 0; i < analysis.profile->node_count; i++) {
            const struct profile_node *node = &analysis.profile->nodes[i];
            const uint64_t inclusive = analysis.rollup->nodes[i].elapsed_inclusive;
            if (node->parent == PROFILE_NONE)
                continue;
            /* rounded to ticks, and held at zero */
            cr_assert(le(u64, node->shortest, inclusive / node->calls + 1));
            cr_assert(ge(u64, node->longest + 1, inclusive / node->calls));
            cr_assert(le(u64, node->shortest, node->longest));
        }
        analysis_drop(&analysis);
    }
}
