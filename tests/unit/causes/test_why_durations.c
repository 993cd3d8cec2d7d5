/* The durations of a function's calls are kept once each. */
#include <criterion/criterion.h>

#include "causes/why_durations.h"

Test(unit_why_durations, are_sorted_and_counted)
{
    struct why_durations d = { .count = 0 };
    why_durations_add(&d, 30, 1);
    why_durations_add(&d, 10, 2);
    why_durations_add(&d, 30, 4);
    why_durations_add(&d, 0, 1);
    why_durations_sort(&d);
    static const struct why_calls_of wanted[] = { { 0, 1 }, { 10, 2 }, { 30, 5 } };
    cr_assert_eq(d.count, 3);
    cr_assert_eq(d.calls, 8);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(d.list[i].ticks, wanted[i].ticks);
        cr_assert_eq(d.list[i].calls, wanted[i].calls);
    }
    static const uint64_t by_rank[] = { 0, 10, 10, 30, 30, 30, 30, 30 };
    for (size_t i = 0; i < 8; i++)
        cr_assert_eq(why_durations_at(&d, i), by_rank[i]);
    why_durations_drop(&d);
}

/* Millions of calls of few durations take the memory of these. */
Test(unit_why_durations, many_calls_take_no_memory)
{
    struct why_durations d = { .count = 0 };
    for (uint64_t i = 0; i < 3000000; i++)
        why_durations_add(&d, 20 + i % 300, 1);
    cr_assert_eq(d.count, 300);
    cr_assert_eq(d.calls, 3000000);
    cr_assert_lt(d.room, 1000);
    why_durations_sort(&d);
    cr_assert_eq(why_durations_at(&d, 0), 20);
    cr_assert_eq(why_durations_at(&d, 1500000), 170);
    cr_assert_eq(why_durations_at(&d, 2999999), 319);
    why_durations_drop(&d);
}

Test(unit_why_durations, none)
{
    struct why_durations d = { .count = 0 };
    why_durations_sort(&d);
    cr_assert_eq(d.calls, 0);
    why_durations_drop(&d);
}
