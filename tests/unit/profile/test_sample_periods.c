/* Samples that were taken at different rates: each stands for its period, also in intervals. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>

#include "profile/sample_sums.h"
#include "support/sampled_session.h"

TestSuite(unit_sample_periods, .timeout = 300);

enum { FIRST = 800000, LATER = 1200000 }; /* nanoseconds */

/* A chunk of samples that stand for as much each, at times from `begin` on. */
static void sampling_write_chunk(struct writer *w, uint32_t period, uint64_t begin, uint64_t address, unsigned count)
{
    begin_samples(w, 1, 1, 70, 71, begin);
    set_sample_period(w, period);
    for (unsigned i = 0; i < count; i++)
        sampling_write(w, begin + i, address);
    end_samples(w, true);
}

/* Of 500 ticks, F has 6 samples of 0.8 ms (4.8), and COPY one of 0.8 and 2 of 1.2 (3.2). Without its own period, a
 * sample has that of the header. */
Test(unit_sample_periods, samples_stand_for_their_periods)
{
    struct writer *w = sampling_two_calls();
    write_header(w, 240, LATER, 4);
    sampling_write_chunk(w, FIRST, 100, F, 6);
    sampling_write_chunk(w, FIRST, 110, COPY, 1);
    sampling_write_chunk(w, 0, 120, COPY, 1);
    sampling_write_chunk(w, LATER, 130, COPY, 1);
    struct analysis analysis;
    sampling_load(&analysis, w, 1);
    writer_free(w);
    const struct times f = sampling_times(&analysis, "f"), copy = sampling_times(&analysis, "copy");
    cr_assert(eq(u64, f.elapsed_exclusive, 100 + 300));
    cr_assert(eq(u64, copy.elapsed_exclusive, 200));
    cr_assert(eq(u64, f.samples, 6));
    cr_assert(eq(u64, copy.samples, 3));
    cr_assert(eq(u64, analysis.summary.stack_samples, 9));
    /* As certain as 8.33 samples of one weight: a half width of 0.3085 of 500 ticks. */
    cr_assert(eq(u64, times_error(&copy, VALUE_ELAPSED, EXCLUSIVE), 155));
    analysis_drop(&analysis);
}

/* A thread was stopped for 80 us by each sample. G has 30, half of them in COPY: 20 of 0.8 ms, 10 of 1.2 ms. The mean
 * is 0.933 ms, so they took 34 of G's 400 ticks. F has too few. It has the mean of the thread: of 32 samples, 0.95 ms,
 * and lacks 42 of 500 ticks. */
Test(unit_sample_periods, subtracts_what_samples_of_several_periods_cost)
{
    struct writer *w = sampling_two_calls();
    write_header(w, 240, LATER, 4);
    write_header(w, 252, 80000, 4);
    sampling_write_chunk(w, FIRST, 210, G, 10);
    sampling_write_chunk(w, FIRST, 220, COPY, 10);
    sampling_write_chunk(w, LATER, 300, G, 5);
    sampling_write_chunk(w, LATER, 310, COPY, 5);
    sampling_write_chunk(w, LATER, 610, F, 2);
    struct analysis analysis;
    sampling_load(&analysis, w, 1);
    writer_free(w);
    const struct times f = sampling_times(&analysis, "f"), g = sampling_times(&analysis, "g"),
                       copy = sampling_times(&analysis, "copy");
    cr_assert(eq(u64, g.overhead_exclusive, 34));
    cr_assert(eq(u64, g.elapsed_exclusive + copy.elapsed_exclusive, 366));
    cr_assert(eq(u64, f.overhead_exclusive, 16 + 25)); /* of 200 and 300, rounded down */
    analysis_drop(&analysis);
}

/* A run of `ms` of CPU time, of which the first 400 are sampled more often. The shares of COPY and PARSE change after a
 * quarter of the run: COPY has three times as much before, PARSE as much less. */
struct sampled_run {
    uint32_t ms, copy_percent, parse_percent;
};

static bool sampled_run_is_early(const struct sampled_run *run, uint64_t us)
{
    return us < run->ms * UINT64_C(250);
}

static uint64_t sampled_run_draw(const struct sampled_run *run, uint64_t us, uint64_t *state)
{
    const uint64_t drawn = sampling_next_random(state) % 300;
    const bool early = sampled_run_is_early(run, us);
    const uint32_t copy = run->copy_percent * (early ? 3 : 1), parse = run->parse_percent * (early ? 1 : 3);
    return drawn < copy ? COPY : drawn < copy + parse ? PARSE : F;
}

static struct writer *sampled_run_session(const struct sampled_run *run, uint64_t seed)
{
    enum { SWITCH = 400000 }; /* us */
    struct writer *w = writer_new();
    uint64_t state = seed * 77 + 5, at = sampling_next_random(&state) % (FIRST / 1000);
    const uint64_t end = run->ms * UINT64_C(1000);
    sampling_write_modules(w);
    write_header(w, 240, LATER, 4);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, F);
    write_exit(w, end);
    end_events(w, true);
    for (unsigned period = FIRST; at < end; period = LATER) {
        begin_samples(w, 1, 1, 70, 71, at);
        set_sample_period(w, period);
        for (; at < end && (period == LATER || at < SWITCH); at += period / 1000)
            sampling_write(w, at, sampled_run_draw(run, at, &state));
        end_samples(w, true);
    }
    return w;
}

static void sampling_check_run(const struct sampled_run *run)
{
    enum { RUNS = 400, LEAST = RUNS * 93 / 100 };
    int copy = 0, parse = 0, own = 0;
    const double quarter = run->ms * 1000.0 / 4, copy_time = quarter * run->copy_percent * (3 + 3) / 300,
                 parse_time = quarter * run->parse_percent * (1 + 9) / 300;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct writer *w = sampled_run_session(run, seed);
        struct analysis analysis;
        sampling_load(&analysis, w, 1);
        writer_free(w);
        copy += sampling_is_within(&analysis, "copy", copy_time);
        parse += sampling_is_within(&analysis, "parse", parse_time);
        own += sampling_is_within(&analysis, "f", 4 * quarter - copy_time - parse_time);
        analysis_drop(&analysis);
    }
    cr_assert(ge(int, copy, LEAST), "%u ms", run->ms);
    cr_assert(ge(int, parse, LEAST), "%u ms", run->ms);
    cr_assert(ge(int, own, LEAST), "%u ms", run->ms);
}

Test(unit_sample_periods, intervals_hold_on_runs_that_are_sampled_more_often_at_first)
{
    sampling_check_run(&(struct sampled_run){ 300, 60, 20 });
    sampling_check_run(&(struct sampled_run){ 1000, 60, 20 });
    sampling_check_run(&(struct sampled_run){ 1000, 90, 3 });
    sampling_check_run(&(struct sampled_run){ 10000, 60, 20 });
}

/* Weights 2 and 3, and older sums, which say none. */
Test(unit_sample_periods, half_widths_of_weights)
{
    static const struct {
        uint64_t part[2], others[2]; /* samples of each weight */
        double width;
    } known[] = { { { 50, 0 }, { 50, 0 }, 0.0961684705 },
                  { { 0, 39 }, { 0, 1 }, 0.1038136909 },
                  { { 3, 0 }, { 0, 2 }, 0.3333685030 },
                  { { 10, 20 }, { 30, 40 }, 0.0985344651 },
                  { { 10, 20 }, { 0, 0 }, 0.1166469075 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct sample_sum part = { 0 }, all = { 0 };
        for (int weight = 0; weight < 2; weight++) {
            if (known[i].part[weight])
                sample_sum_add(&part, known[i].part[weight], known[i].part[weight] * (2 + weight));
            if (known[i].others[weight])
                sample_sum_add(&all, known[i].others[weight], known[i].others[weight] * (2 + weight));
        }
        sample_sum_join(&all, &part);
        cr_assert(lt(dbl, fabs(sample_sum_half_width(&part, &all) - known[i].width), 1e-9), "%zu", i);
    }
}
