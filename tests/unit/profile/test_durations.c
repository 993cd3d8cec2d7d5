/* Percentiles that are kept at collection: against the exact ones of all calls, which are followed one by one. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/single_calls.h"
#include "base/memory.h"
#include "dwell/format.h"
#include "profile/collect.h"
#include "profile/rare_calls.h"
#include "profile/short_durations.h"
#include "support/sampled_session.h"
#include "tables/percentiles.h"

enum { TICK = DWELL_PROBE_FRACTION };

static const double percents[] = { 1, 50, 90, 99, 100 };
enum { PERCENTS = sizeof percents / sizeof *percents };

/* ---- counters ---- */

/* `slack`: in ticks, beyond a 64th. */
static void expect_near(uint64_t found, uint64_t exact, uint64_t slack, const char *what)
{
    const double error = fabs((double)found - (double)exact);
    cr_assert(error <= (double)exact / 64 + (double)slack, "%s: %g instead of %g", what, (double)found, (double)exact);
}

Test(unit_durations, a_counter_holds_durations_within_a_64th)
{
    for (unsigned bits = 0; bits < 64; bits++)
        for (int change = -1; change <= 1; change++) {
            const uint64_t ticks = ((uint64_t)1 << bits) + (uint64_t)change;
            struct durations *d = NULL;
            uint64_t found;
            durations_add(&d, ticks, 2, 0);
            durations_percentiles(d, percents, &found, 1);
            expect_near(found, ticks, 0, "two calls");
            if (ticks < 64)
                cr_assert(eq(u64, found, ticks));
            free(d);
        }
}

static int compare_ticks(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void expect_percentiles(const struct durations *d, uint64_t *ticks, size_t count, uint64_t slack,
                               const char *what)
{
    uint64_t found[PERCENTS];
    cr_assert(eq(u64, durations_calls(d), count), "%s", what);
    if (!count)
        return;
    qsort(ticks, count, sizeof *ticks, compare_ticks);
    durations_percentiles(d, percents, found, PERCENTS);
    for (size_t i = 0; i < PERCENTS; i++)
        expect_near(found[i], ticks[(size_t)ceil((double)count * percents[i] / 100) - 1], slack, what);
}

Test(unit_durations, percentiles_of_random_durations_and_of_their_sum)
{
    enum { MOST = 3000 };
    uint64_t state = 11;
    static uint64_t ticks[MOST];
    for (int round = 0; round < 20; round++) {
        struct durations *all = NULL, *parts[3] = { NULL, NULL, NULL };
        const size_t count = 1 + (size_t)round * 157;
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            ticks[i] = state >> (24 + state % 37);
            sum += ticks[i] * TICK;
            durations_add_call(&parts[i % 3], ticks[i], ticks[i] * TICK);
        }
        for (int i = 0; i < 3; i++)
            durations_merge(&all, parts[i]);
        expect_percentiles(all, ticks, count, 0, "random");
        cr_assert(eq(u64, all->sum, sum));
        for (int i = 0; i < 3; i++)
            free(parts[i]);
        free(all);
    }
}

/* Short calls, long ones, and more of one duration than its counter holds. */
Test(unit_durations, of_short_calls_are_moved)
{
    struct short_durations counts = { 0 };
    struct durations *found = NULL, *expected = NULL;
    for (uint32_t i = 0; i < 200000; i++) {
        const uint64_t ticks = i % 50 == 0 ? 4090 + i % 11 : i % 7 == 0 ? i : 3, sum = ticks * TICK + i % TICK;
        short_durations_add_call(&counts, &found, ticks, sum);
        durations_add_call(&expected, ticks, sum);
    }
    short_durations_move(&counts, &found);
    size_t found_count, expected_count;
    struct durations_step *list = durations_list(found, &found_count),
                          *expected_list = durations_list(expected, &expected_count);
    cr_assert(eq(u64, found->sum, expected->sum));
    cr_assert(eq(sz, found_count, expected_count));
    for (size_t i = 0; i < found_count; i++) {
        cr_assert(eq(u64, list[i].ticks, expected_list[i].ticks));
        cr_assert(eq(u64, list[i].calls, expected_list[i].calls));
    }
    const uint64_t sum = found->sum;
    short_durations_move(&counts, &found); /* there is none any more */
    cr_assert(eq(u64, found->sum, sum));
    cr_assert(eq(u64, durations_calls(found), 200000));
    free(list);
    free(expected_list);
    free(found);
    free(expected);
}

/* ---- sessions ---- */

struct followed {
    const struct profile *profile;
    uint64_t **ticks; /* by path */
    size_t *counts;
};

static bool durations_keep(void *context, const struct finished_call *call)
{
    const struct followed *f = context;
    if (!call->completed)
        return true;
    cr_assert(lt(u32, call->path, (uint32_t)f->profile->node_count));
    f->ticks[call->path] = need_more(f->ticks[call->path], f->counts[call->path] + 1, sizeof *f->ticks[call->path]);
    f->ticks[call->path][f->counts[call->path]++] = call_ticks(call->times[CALL_ELAPSED_INCLUSIVE]);
    return true;
}

/* They add up to the calls' times, which are rounded to ticks. A call of no time may be shorter than its probes. */
static void expect_sum(const struct durations *d, const uint64_t *ticks, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)ticks[i];
        if (!ticks[i])
            return;
    }
    cr_assert(le(dbl, fabs((double)d->sum / TICK - sum), (double)count / 2));
}

/* The durations of each path in `p` are those of the analysis' calls. */
static void expect_durations_of(const struct analysis *analysis, const struct profile *p, uint64_t slack)
{
    const struct followed f = { p, need_memory(p->node_count, sizeof *f.ticks),
                                need_memory(p->node_count, sizeof *f.counts) };
    bool *rare = rare_paths(p);
    analysis_follow_calls(analysis, false, durations_keep, (void *)&f);
    for (size_t i = 0; i < p->node_count; i++) {
        expect_percentiles(p->nodes[i].durations, f.ticks[i], f.counts[i], rare[i] ? 0 : slack, "a path");
        if (f.counts[i] && analysis->limits) { /* the ticks are sorted */
            cr_assert(eq(u64, p->nodes[i].shortest, f.ticks[i][0]));
            cr_assert(eq(u64, p->nodes[i].longest, f.ticks[i][f.counts[i] - 1]));
        }
        if (rare[i] && f.counts[i])
            expect_sum(p->nodes[i].durations, f.ticks[i], f.counts[i]);
        free(f.ticks[i]);
    }
    free(f.ticks);
    free(f.counts);
    free(rare);
}

static void expect_durations(const struct analysis *analysis, uint64_t slack)
{
    expect_durations_of(analysis, analysis->profile, slack);
}

/* The same of durations that are kept while the session is read once. */
static void expect_collected(const struct analysis *analysis, uint64_t slack)
{
    size_t count;
    bool kept;
    struct probe_cost *costs = single_calls_list_costs(analysis->file, &count);
    struct profile *p = collect_durations(analysis->file, NULL, 1, NULL, costs, analysis->raw ? 0 : count, &kept);
    cr_assert(kept);
    cr_assert(eq(sz, p->node_count, analysis->profile->node_count));
    expect_durations_of(analysis, p, slack);
    profile_free(p);
    free(costs);
}

static struct analysis durations_load(struct writer *w, const struct analysis_options *options)
{
    struct analysis analysis;
    writer_save(w, test_path("durations.dwell"));
    writer_free(w);
    load_with(&analysis, test_path("durations.dwell"), options);
    return analysis;
}

static struct writer *durations_begin(uint32_t in_callee, uint32_t in_caller, uint32_t first_callee)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_probes(w, 1, in_callee, in_caller, first_callee);
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    return w;
}

/* Calls that lie in several chunks, and work of the system. Durations are much longer than probes, whose costs are
 * whole ticks. */
static struct writer *durations_random(uint32_t seed, uint32_t cost)
{
    struct writer *w = durations_begin(cost * 2 * TICK, cost * TICK, cost * 3 * TICK);
    uint64_t state = seed, time = 0;
    uint32_t depth = 0, sequence = 0;
    struct open_call stack[6];
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint32_t calls = 0; calls < 3000 || depth;) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint32_t number = (uint32_t)(state >> 40);
        time += 500 + number % 100000 / (1 + number % 113);
        if (number % 101 == 0) {
            end_events(w, true);
            begin_events(w, 1, 1, ++sequence, time, stack, depth);
        }
        if (number % 53 == 0)
            write_os(w);
        if (calls < 3000 && depth < 6 && (depth == 0 || number & 64)) {
            stack[depth] = (struct open_call){ F + (number >> 8) % 3 * 0x1000, time };
            write_enter(w, time, stack[depth++].function);
            calls++;
        } else {
            write_exit(w, time);
            depth--;
        }
    }
    end_events(w, true);
    return w;
}

/* Some chunks tell whether a path's calls or its callees have the cost of first callees. In a path with about as many
 * of both, it can be the others: then a call has one such cost more or less. */
Test(unit_durations, of_random_sessions, .timeout = 300)
{
    for (uint32_t seed = 1; seed <= 12; seed++) {
        struct analysis analysis = durations_load(durations_random(seed, seed % 3), &(struct analysis_options){
                                                                                        .durations = true,
                                                                                        .jobs = 1 + seed % 2,
                                                                                        .raw = seed % 4 == 0,
                                                                                    });
        const uint64_t slack = analysis.raw ? 0 : 6 * (seed % 3); /* a first callee, of a frequent path */
        expect_durations(&analysis, slack);
        if (analysis.jobs == 1) /* the paths have the same numbers */
            expect_collected(&analysis, slack);
        for (size_t i = 0; i < analysis.profile->node_count; i++) /* no call is unfinished */
            cr_assert(eq(u64, durations_calls(analysis.profile->nodes[i].durations), analysis.profile->nodes[i].calls));
        analysis_drop(&analysis);
    }
}

/* F is held at zero: most of its calls are shorter than their probes. So the calls must be read again. */
Test(unit_durations, with_a_path_that_is_held_at_zero)
{
    struct writer *w = durations_begin(20 * TICK, 0, 0);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, F);
    for (uint64_t at = 100; at < 50000; at += 50) {
        write_enter(w, at, F + 0x1000);
        write_exit(w, at + 10);
    }
    write_exit(w, 50100);
    end_events(w, true);
    struct analysis analysis = durations_load(w, &(struct analysis_options){ .durations = true });
    expect_durations(&analysis, 0);
    analysis_drop(&analysis);
}

/* The same of a rare path. Its calls have their time off the CPU, in whichever chunk that is. */
Test(unit_durations, with_a_rare_path_that_is_held)
{
    struct writer *w = durations_begin(20 * TICK, 0, 0);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, F);
    for (uint64_t at = 1000; at < 10000; at += 1000) {
        write_enter(w, at, F + 0x1000);
        write_off_cpu(w, false, at + 5, at == 3000 ? 5 : 0);
        write_enter(w, at + 10, F + 0x2000);
        write_exit(w, at + 15);
        write_exit(w, at + 25);
    }
    write_enter(w, 20000, F + 0x1000);
    write_off_cpu(w, false, 20030, 30);
    write_enter(w, 20035, F + 0x2000);
    write_exit(w, 20040);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 20040, (struct open_call[]){ { F, 0 }, { F + 0x1000, 20000 } }, 2);
    write_off_cpu(w, false, 20045, 3);
    write_exit(w, 20050);
    write_exit(w, 30000);
    end_events(w, true);
    struct analysis analysis = durations_load(w, &(struct analysis_options){ .durations = true });
    const struct profile_node *held = &analysis.profile->nodes[2];
    cr_assert(eq(u64, held->calls, 10));
    cr_assert(eq(u64, held->elapsed, held->blocked + held->preempted), "the path is not held");
    cr_assert(eq(u64, held->elapsed, 38));
    expect_durations(&analysis, 0);
    expect_collected(&analysis, 0);
    analysis_drop(&analysis);
}

/* A pause, a call that is found open after it, a call that is left, and missing chunks. */
static struct writer *durations_chunks(void)
{
    struct writer *w = durations_begin(2 * TICK, 3 * TICK, TICK);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, F);
    write_enter(w, 1000, 2 * F);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 1000, (struct open_call[]){ { F, 0 }, { 2 * F, 1000 } }, 2);
    write_enter(w, 2000, 3 * F);
    write_exit(w, 3100);
    write_pause(w, 4000);
    write_resume(w, 5000, 0);
    write_off_cpu(w, false, 5100, 200);
    write_enter(w, 6000, 3 * F);
    end_events(w, true);
    begin_events(w, 1, 1, 2, 6000, (struct open_call[]){ { F, 1000 }, { 2 * F, 2000 }, { 3 * F, 6000 } }, 3);
    write_enter(w, 6500, F);
    write_unwind(w, 2);
    write_exit(w, 7000);
    write_enter(w, 7500, 2 * F);
    end_events(w, true);
    begin_events(w, 1, 1, 5, 20000, (struct open_call[]){ { F, 1000 }, { 3 * F, 15000 } }, 2);
    write_exit(w, 21000);
    write_enter(w, 21500, 2 * F);
    write_exit(w, 22000);
    write_exit(w, 23000);
    end_events(w, true);
    return w;
}

Test(unit_durations, of_calls_in_several_chunks)
{
    for (unsigned raw = 0; raw < 2; raw++)
        for (unsigned jobs = 1; jobs <= 3; jobs++) {
            struct analysis analysis = durations_load(
                durations_chunks(), &(struct analysis_options){ .durations = true, .jobs = jobs, .raw = raw });
            expect_durations(&analysis, 0);
            if (jobs == 1) /* the paths have the same numbers */
                expect_collected(&analysis, 0);
            analysis_drop(&analysis);
        }
}

/* Samples take 50 of each 1,000 ns of CPU time, which is no time of the calls. So the call that waits loses nothing. */
Test(unit_durations, of_calls_that_were_sampled)
{
    for (unsigned raw = 0; raw < 2; raw++) {
        struct writer *w = writer_new();
        sampling_write_modules(w);
        begin_events(w, 1, 1, 0, 0, NULL, 0);
        for (uint64_t call = 0; call < 2; call++) {
            write_enter(w, 1000 * call, F);
            write_off_cpu(w, false, 21000, 20000 * call);
            write_exit(w, call ? 21000 : 1000);
        }
        end_events(w, true);
        write_header(w, 252, 50, 4);
        begin_samples(w, 1, 1, 70, 71, 0);
        sampling_write(w, 100, F);
        sampling_write(w, 101, COPY);
        end_samples(w, true);
        struct analysis analysis =
            durations_load(w, &(struct analysis_options){ .durations = true, .limits = true, .raw = raw });
        const struct profile *p = analysis.profile;
        bool taken = false;
        for (size_t i = 0; i < p->node_count; i++)
            taken |= p->nodes[i].durations && p->nodes[i].given;
        cr_assert(taken, "no path with calls has lost time");
        expect_durations(&analysis, 0);
        analysis_drop(&analysis);
    }
}

/* Only the order of time tells which calls are open on which stack. */
Test(unit_durations, of_several_stacks)
{
    struct writer *w = durations_begin(TICK, TICK, 0);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t at = 0; at < 100000; at += 10000) {
        write_enter(w, at + 1000, F);
        write_enter(w, at + 2000, 2 * F);
        write_switch(w, at + 3000, 2);
        write_enter(w, at + 4000, 3 * F);
        write_exit(w, at + 5000);
        write_switch(w, at + 6000, 1);
    }
    end_events(w, true);
    struct analysis analysis = durations_load(w, &(struct analysis_options){ .durations = true });
    expect_durations(&analysis, 0);
    analysis_drop(&analysis);
}

Test(unit_durations, are_kept_only_if_they_are_wanted)
{
    struct analysis analysis = durations_load(durations_chunks(), &(struct analysis_options){ .limits = true });
    for (size_t i = 0; i < analysis.profile->node_count; i++)
        cr_assert(eq(ptr, analysis.profile->nodes[i].durations, NULL));
    analysis_drop(&analysis);
}

Test(unit_durations, columns_are_known_by_their_keys)
{
    cr_assert(percentiles_are_named("calls,p99"));
    cr_assert(percentiles_are_named("p50_ns,calls"));
    cr_assert(not(percentiles_are_named("p9,elapsed_inclusive_p99,p500")));
    cr_assert(not(percentiles_are_named(NULL)));
}
