/* What recording took beside the budget: by samples, or by what was subtracted, and when that is worth a remark. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget_reached.h"

/* Two seconds of CPU time of the program, at 1,000 ticks a second. */
static struct session_file file;
static struct profile_counted counted;
static struct profile profile;
static struct analysis loaded;

static void budget_reached_begin(void)
{
    file = (struct session_file){ .levels.decision_count = 1 };
    file.more.overhead = 125;
    counted = (struct profile_counted){ .calls = 50000000 };
    profile = (struct profile){ .counted = &counted, .counted_count = 1 };
    loaded = (struct analysis){ .file = &file, .profile = &profile };
    struct summary *s = &loaded.summary;
    s->ticks_per_second = 1000;
    s->off_cpu_known = true;
    s->path = "run.data";
    s->sums.elapsed_inclusive = 2000;
    s->overhead = 99;
}

TestSuite(unit_budget_reached, .init = budget_reached_begin);

static void budget_reached_expect(const char *wanted)
{
    budget_reached_find(&loaded);
    char *text = budget_reached_text(&loaded.summary);
    cr_assert(eq(int, text != NULL, wanted != NULL));
    cr_assert(eq(int, strcmp(text ? text : "", wanted ? wanted : ""), 0), "%s", text);
    free(text);
}

/* Probes 100 ms of 1,000 that were sampled, 1,000 samples of 20 us, counted calls 1 ns each, changes of code 10 ms. Of
 * the samples, half were in probes: those were taken in a shorter time. */
Test(unit_budget_reached, by_samples)
{
    loaded.summary.stack_samples = 1000;
    loaded.summary.samples_in_probes = 500;
    profile.sampled_time = 1000000000;
    profile.sampled_in_probes = 100000000;
    file.header.sample_period = 1000000;
    file.header.sample_cost = 20000;
    file.header.count_cost = 1000;
    file.more.change_time = 10000000;
    budget_reached_expect("overhead 12.5 % asked, 15 % reached");
    cr_assert(lt(dbl, loaded.summary.reached_percent - (100.0 / 9 + 1 + 2.5 + 0.5), 1e-9));
    cr_assert(gt(dbl, loaded.summary.reached_percent - (100.0 / 9 + 1 + 2.5 + 0.5), -1e-9));
}

/* Stubs counted calls for 9 or 90 ms of 900, and the calls take 50 ms of 2,000 if all are counted in place. */
Test(unit_budget_reached, with_calls_that_stubs_count)
{
    struct profile_node node = { .stub_time = 9000000 };
    loaded.summary.stack_samples = 1000;
    profile.sampled_time = 1000000000;
    profile.sampled_in_probes = 100000000;
    profile.nodes = &node;
    profile.node_count = 1;
    file.header.count_cost = 1000;
    budget_reached_expect("overhead 12.5 % asked, 13 % reached");
    cr_assert(lt(dbl, loaded.summary.reached_percent - (100.0 / 9 + 2.5 - 1), 1e-9));
    cr_assert(gt(dbl, loaded.summary.reached_percent - (100.0 / 9 + 2.5 - 1), -1e-9));
    node.stub_time = 90000000;
    budget_reached_expect("overhead 12.5 % asked, 11 % reached");
    cr_assert(lt(dbl, loaded.summary.reached_percent - 100.0 / 9, 1e-9));
    cr_assert(gt(dbl, loaded.summary.reached_percent - 100.0 / 9, -1e-9));
}

Test(unit_budget_reached, by_what_was_subtracted)
{
    loaded.summary.stack_samples = 99;
    loaded.summary.samples_in_probes = 98;
    file.more.change_time = 10000000;
    budget_reached_expect("overhead 12.5 % asked, 5.5 % reached");
    cr_assert(eq(sz, loaded.summary.remark_count, 0));
}

static void budget_reached_drop_remarks(void)
{
    free(loaded.summary.remarks[0]);
    free(loaded.summary.remarks);
    loaded.summary.remarks = NULL;
    loaded.summary.remark_count = loaded.summary.remark_room = 0;
}

Test(unit_budget_reached, above_the_budget)
{
    loaded.summary.overhead = 400;
    budget_reached_expect("overhead 12.5 % asked, 20 % reached");
    cr_assert(eq(sz, loaded.summary.remark_count, 1));
    cr_assert(eq(str, loaded.summary.remarks[0],
                 "overhead above the budget, before it knew the functions: record --levels-from"));
    budget_reached_drop_remarks();
    counted.calls = 0; /* the functions were open whenever they were to be counted */
    budget_reached_expect("overhead 12.5 % asked, 20 % reached");
    cr_assert(eq(sz, loaded.summary.remark_count, 1));
    cr_assert(eq(str, loaded.summary.remarks[0],
                 "overhead above the budget, as recursion is timed until its outermost call ends"));
    budget_reached_drop_remarks();
    file.levels.decision_count = 0; /* nothing could be changed, or nothing had to */
    budget_reached_expect("overhead 12.5 % asked, 20 % reached");
    cr_assert(eq(sz, loaded.summary.remark_count, 0));
}

/* Next to all time was that of the probes. */
Test(unit_budget_reached, far_above_the_budget)
{
    loaded.summary.overhead = 20000;
    budget_reached_expect("overhead 12.5 % asked, 1000 % reached");
    budget_reached_drop_remarks();
    loaded.summary.overhead = 20001;
    budget_reached_expect("overhead 12.5 % asked, over 1000 % reached");
    budget_reached_drop_remarks();
}

Test(unit_budget_reached, unknown)
{
    loaded.summary.raw = true;
    budget_reached_expect(NULL);
    loaded.summary.raw = false;
    loaded.summary.partial_paths = true;
    budget_reached_expect(NULL);
    loaded.summary.partial_paths = false;
    file.more.overhead = 0;
    budget_reached_expect(NULL);
    file.more.overhead = 100;
    loaded.summary.sums.elapsed_inclusive = 0;
    budget_reached_expect("overhead 10 % asked, 0.0 % reached");
}

static void budget_added_expect(const char *added, const char *parts)
{
    char *one = budget_added_text(&loaded.summary), *all = budget_parts_text(&loaded.summary);
    cr_expect(eq(str, one ? one : "none", (char *)added));
    cr_expect(eq(str, all ? all : "none", (char *)parts));
    free(all);
    free(one);
}

/* One figure says how much recording disturbed the run. Info relates the others to it. */
Test(unit_budget_reached, one_figure_of_disturbance)
{
    struct summary *s = &loaded.summary;
    s->asked_percent = 10;
    s->reached_percent = 17.4;
    s->budget_acted = s->overhead_known = true;
    s->stack_samples = 280;
    s->samples_in_probes = 39;
    budget_added_expect("recording added 17 % to the CPU time (10 % asked)",
                        "added 17 % to the CPU time (10 % asked): 99.000 ms, 5.0 %, are left out as the probes' own; "
                        "13.9 % of the samples are in probes");
    s->stack_samples = 0;
    s->reached_percent = 2000;
    budget_added_expect("recording added over 1000 % to the CPU time (10 % asked)",
                        "added over 1000 % to the CPU time (10 % asked): 99.000 ms, 5.0 %, are left out as the probes' "
                        "own");
    s->budget_acted = false;
    budget_added_expect("probes added 5.0 % to the CPU time, left out here (--raw)",
                        "99.000 ms, 5.0 %, are left out as the probes' own");
    s->off_cpu_known = false;
    s->overhead = 300;
    budget_added_expect("probes added 15 % to the elapsed time, left out here (--raw)",
                        "300.000 ms, 15 %, are left out as the probes' own");
    s->overhead_known = false;
    budget_added_expect("none", "none");
}
