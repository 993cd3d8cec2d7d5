/* Compares the waits of a session with its report. */
#include "support/wait_sums.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "causes/wait_causes.h"
#include "support/scenario.h"

void wait_sums_check(const char *name)
{
    struct analysis analysis;
    struct error error = { NULL };
    cr_assert(analysis_load(&analysis, test_path(name), &(struct analysis_options){ .jobs = 2 }, &error));
    struct wait_causes c = wait_causes_find(&analysis);
    uint64_t sum = 0;
    for (size_t i = 0; i < c.count; i++)
        sum += c.list[i].ticks;
    cr_assert(eq(u64, sum, analysis.rollup->session.blocked_inclusive), "%s", name);
    wait_causes_drop(&c);
    analysis_drop(&analysis);
}

const char *wait_sums_others(const char *row)
{
    return strstr(row, ",none,") ? ",waker," : ",none,";
}
