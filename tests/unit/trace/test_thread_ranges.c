/* The time that two lists of ranges have in common. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "trace/thread_ranges.h"

static void ranges_expect(const struct thread_ranges *r, size_t at, uint32_t thread, uint64_t begin, uint64_t end)
{
    cr_assert(lt(sz, at, r->count));
    cr_expect(eq(u32, r->list[at].thread, thread));
    cr_expect(eq(u64, r->list[at].begin, begin));
    cr_expect(eq(u64, r->list[at].end, end));
}

Test(unit_thread_ranges, keeps_what_is_in_both)
{
    struct thread_ranges one = { .list = NULL }, other = { .list = NULL };
    thread_ranges_add(&one, 1, 10, 20);
    thread_ranges_add(&one, 1, 30, 60);
    thread_ranges_add(&one, 2, 0, 100);
    thread_ranges_add(&one, 4, 5, 6);
    thread_ranges_add(&other, 1, 0, 12);
    thread_ranges_add(&other, 1, 15, 35);
    thread_ranges_add(&other, 1, 40, 50);
    thread_ranges_add(&other, 1, 60, 70);
    thread_ranges_add(&other, 2, 99, 200);
    thread_ranges_add(&other, 3, 0, 100);
    thread_ranges_keep(&one, &other);
    cr_assert(eq(sz, one.count, 5));
    ranges_expect(&one, 0, 1, 10, 12);
    ranges_expect(&one, 1, 1, 15, 20);
    ranges_expect(&one, 2, 1, 30, 35);
    ranges_expect(&one, 3, 1, 40, 50);
    ranges_expect(&one, 4, 2, 99, 100);
    thread_ranges_free(&other);
    thread_ranges_keep(&one, &other);
    cr_expect(eq(sz, one.count, 0));
    thread_ranges_free(&one);
}
