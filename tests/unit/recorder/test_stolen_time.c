/* Stolen time of a virtual machine, from texts in the form of /proc/stat. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "recorder/stolen_time.h"

TestSuite(unit_stolen_time);

static uint64_t stolen_of(const char *text)
{
    FILE *stat = fmemopen((void *)text, strlen(text), "r");
    const uint64_t time = stolen_time_read(stat, 100);
    fclose(stat);
    return time;
}

Test(unit_stolen_time, all_processors)
{
    cr_assert(eq(u64,
                 stolen_of("cpu  2977142 205618 1340523 497813 4893 0 6261 3963 5 6\n"
                           "cpu0 1491468 102101 662677 257907 1426 0 574 1900 0 0\n"),
                 39630000000));
}

/* Kernels before 2.6.11 have no such number. */
Test(unit_stolen_time, not_said)
{
    cr_assert(eq(u64, stolen_of("cpu  2977142 205618 1340523 497813 4893 0 6261\ncpu0 1 2\n"), 0));
    cr_assert(eq(u64, stolen_of(""), 0));
    cr_assert(eq(u64, stolen_of("intr 1 2 3\n"), 0));
}

/* It only grows, whatever else the machine does. */
Test(unit_stolen_time, of_this_machine)
{
    const uint64_t before = stolen_time_now();
    cr_assert(le(u64, before, stolen_time_now()));
    cr_assert(eq(u64, before % 1000000, 0));
}
