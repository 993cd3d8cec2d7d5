/* The remark that the probes took most of the time: its bound, and sessions that never have it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "analysis/probe_share.h"

Test(unit_probe_share, more_than_half)
{
    const struct summary s = { .overhead_known = true, .off_cpu_known = true };
    cr_assert(eq(ptr, probe_share_remark(&s, 500, 500, ""), NULL));
    cr_assert(eq(ptr, probe_share_remark(&s, 0, 0, ""), NULL));
    char *line = probe_share_remark(&s, 830, 170, " of these");
    cr_assert(eq(str, line, "probes took 83 % of the CPU time of these: record with --overhead 10%"));
    free(line);
    line = probe_share_remark(&s, 501, 499, "");
    cr_assert(ne(ptr, line, NULL));
    free(line);
}

/* A small program is timed whatever the budget is. */
Test(unit_probe_share, within_the_allowance)
{
    struct summary s = { .overhead_known = true, .off_cpu_known = true, .budget = true, .asked_percent = 10 };
    char *line = probe_share_remark(&s, 830, 170, "");
    cr_assert(eq(str, line, "probes took 83 % of the CPU time: the first 250,000 calls are timed"));
    free(line);
    s.budget_acted = true;
    cr_assert(eq(ptr, probe_share_remark(&s, 830, 170, ""), NULL));
}

Test(unit_probe_share, sessions_without_it)
{
    const struct summary raw = { .off_cpu_known = true, .raw = true };
    const struct summary budget = { .overhead_known = true, .off_cpu_known = true, .budget = true };
    cr_assert(eq(ptr, probe_share_remark(&raw, 830, 170, ""), NULL));
    cr_assert(eq(ptr, probe_share_remark(&budget, 830, 170, ""), NULL));
    cr_assert(eq(int, probe_share_rest(&raw), VALUE_CPU));
    cr_assert(eq(int, probe_share_rest(&(struct summary){ 0 }), VALUE_ELAPSED));
}
