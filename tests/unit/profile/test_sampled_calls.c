/* Single calls of paths that samples took a part of. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "analysis/single_calls.h"
#include "profile/calls.h"
#include "support/sampled_session.h"

TestSuite(unit_sampled_calls, .timeout = 300);

enum { CALLS = 20000, EACH = 101, BETWEEN = 49, PERIOD = 1000, COST = 50 };

/* F makes very many calls of G, which take equally long. A sample stops the thread for a twentieth of its period. */
static void sampled_calls_load(struct analysis *analysis, unsigned jobs)
{
    const uint64_t end = (uint64_t)CALLS * (EACH + BETWEEN);
    struct writer *w = writer_new();
    sampling_write_modules(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, F);
    for (uint64_t at = 0; at < end; at += EACH + BETWEEN) {
        write_enter(w, at + BETWEEN, G);
        write_exit(w, at + BETWEEN + EACH);
    }
    write_exit(w, end);
    end_events(w, true);
    write_header(w, 252, COST, 4);
    begin_samples(w, 1, 1, 70, 71, 0);
    for (uint64_t at = 0; at < end; at += PERIOD)
        sampling_write(w, at, at % 3 ? G : F);
    end_samples(w, true);
    writer_save(w, test_path("calls.data"));
    writer_free(w);
    load_with(analysis, test_path("calls.data"), &(struct analysis_options){ .limits = true, .jobs = jobs });
}

static bool sampled_calls_add(void *context, const struct finished_call *call)
{
    uint64_t *longest = context;
    if (call->times[CALL_ELAPSED_INCLUSIVE] > *longest)
        *longest = call->times[CALL_ELAPSED_INCLUSIVE];
    return true;
}

static void sampled_calls_scan(void *context, const struct finished_call *call)
{
    sampled_calls_add(context, call);
}

/* Each call of G loses a fraction of 1/256 ticks more than a whole number, and they do not add up: to within a tick,
 * the call of F is as long as all of F. */
Test(unit_sampled_calls, equal_calls_add_up_in_their_caller)
{
    for (unsigned jobs = 1; jobs <= 2; jobs++) {
        struct analysis analysis;
        sampled_calls_load(&analysis, jobs);
        const struct times f = sampling_times(&analysis, "f"), g = sampling_times(&analysis, "g");
        uint64_t followed = 0, scanned[2] = { 0, 0 };
        analysis_follow_calls(&analysis, true, sampled_calls_add, &followed);
        analysis_scan_calls(&analysis, PROFILE_NONE, sampled_calls_scan, (void *[]){ &scanned[0], &scanned[1] });
        cr_assert(eq(u64, f.elapsed_inclusive + f.overhead_inclusive, (uint64_t)CALLS * (EACH + BETWEEN)));
        cr_assert(eq(u64, f.overhead_inclusive, (uint64_t)CALLS * (EACH + BETWEEN) * COST / PERIOD));
        cr_assert(
            le(u64, llabs((int64_t)(followed - f.elapsed_inclusive * DWELL_PROBE_FRACTION)), DWELL_PROBE_FRACTION));
        cr_assert(eq(u64, scanned[0] > scanned[1] ? scanned[0] : scanned[1], followed));
        cr_assert(le(u64, f.longest, f.elapsed_inclusive));
        cr_assert(eq(u64, f.shortest, f.longest));
        cr_assert(le(u64, f.elapsed_inclusive - f.longest, 1));
        cr_assert(all(eq(u64, g.shortest, 96), eq(u64, g.longest, 96))); /* 95.95 */
        analysis_drop(&analysis);
    }
}
