/* Places in sorted arrays, and the order of numbers and members. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/memory.h"
#include "base/sorted.h"

TestSuite(unit_sorted, .timeout = 300);

struct stamp {
    uint32_t thread;
    uint64_t time;
    int32_t order;
    struct {
        double weight;
    } of;
};

static size_t stamps_before(const struct stamp *list, size_t count, uint32_t thread, uint64_t time)
{
    return LOWER_BOUND(s, list, count, s->thread < thread || (s->thread == thread && s->time < time));
}

Test(unit_sorted, the_lower_bound_is_the_first_that_is_not_before)
{
    const uint64_t numbers[] = { 2, 4, 4, 4, 9 };
    const size_t below[] = { 0, 0, 0, 1, 1, 4, 4, 4, 4, 4, 5 }, up_to[] = { 0, 0, 1, 1, 4, 4, 4, 4, 4, 5, 5 };
    for (uint64_t wanted = 0; wanted < 11; wanted++) {
        const size_t first = LOWER_BOUND(number, numbers, 5, *number < wanted);
        const size_t after = LOWER_BOUND(number, numbers, 5, *number <= wanted);
        cr_assert(eq(sz, first, below[wanted]));
        cr_assert(eq(sz, after, up_to[wanted]));
    }
}

Test(unit_sorted, the_lower_bound_is_right_for_each_length_and_place)
{
    uint32_t numbers[40];
    for (uint32_t i = 0; i < 40; i++)
        numbers[i] = 2 * i;
    for (uint32_t count = 0; count <= 40; count++)
        for (uint32_t wanted = 0; wanted <= 2 * count; wanted++) {
            const size_t place = LOWER_BOUND(number, numbers, count, *number < wanted);
            cr_assert(eq(sz, place, (wanted + 1) / 2), "%u of %u", wanted, count);
        }
}

Test(unit_sorted, nothing_is_read_of_an_empty_array)
{
    const struct stamp *none = NULL;
    cr_assert(eq(sz, stamps_before(none, 0, 1, 1), 0));
}

/* The array and its length can be calls: they are evaluated once. */
Test(unit_sorted, the_array_is_evaluated_once)
{
    const uint32_t numbers[] = { 1, 2, 3, 4 };
    const uint32_t *next = numbers;
    size_t left = 4;
    const size_t place = LOWER_BOUND(number, ++next, --left, *number < 4);
    cr_assert(eq(sz, place, 2));
    cr_assert(eq(sz, left, 3));
    cr_assert(next == numbers + 1);
}

Test(unit_sorted, a_lower_bound_can_be_in_another_one)
{
    const uint32_t rows[3][2] = { { 1, 5 }, { 2, 6 }, { 9, 9 } };
    const size_t place = LOWER_BOUND(row, rows, 3, LOWER_BOUND(cell, *row, 2, *cell < 4) > 0);
    cr_assert(eq(sz, place, 2));
}

Test(unit_sorted, threads_come_before_times)
{
    const struct stamp list[] = { { 1, 10, 0, { 0 } }, { 1, 20, 0, { 0 } }, { 3, 5, 0, { 0 } } };
    cr_assert(eq(sz, stamps_before(list, 3, 1, 10), 0));
    cr_assert(eq(sz, stamps_before(list, 3, 1, 11), 1));
    cr_assert(eq(sz, stamps_before(list, 3, 2, 0), 2));
    cr_assert(eq(sz, stamps_before(list, 3, 3, 5), 2));
    cr_assert(eq(sz, stamps_before(list, 3, 3, 6), 3));
}

Test(unit_sorted, numbers_have_an_order_whatever_their_distance)
{
    const uint64_t large[] = { 0, UINT64_MAX };
    const uint32_t small[] = { 0, UINT32_MAX };
    cr_assert(eq(int, ORDER(INT64_MIN, INT64_MAX), -1));
    cr_assert(eq(int, ORDER(large[1], large[0]), 1));
    cr_assert(eq(int, ORDER(0.5, 0.25), 1));
    cr_assert(eq(int, ORDER(7, 7), 0));
    cr_assert(eq(int, compare_numbers(&large[0], &large[1]), -1));
    cr_assert(eq(int, compare_numbers(&large[1], &large[0]), 1));
    cr_assert(eq(int, compare_numbers(&large[1], &large[1]), 0));
    cr_assert(eq(int, compare_numbers_32(&small[0], &small[1]), -1));
    cr_assert(eq(int, compare_numbers_32(&small[1], &small[0]), 1));
    cr_assert(eq(int, compare_numbers_32(&small[0], &small[0]), 0));
    static const double parts[] = { 0.25, 0.5 };
    cr_assert(eq(int, compare_doubles(&parts[0], &parts[1]), -1));
    cr_assert(eq(int, compare_doubles(&parts[1], &parts[0]), 1));
    cr_assert(eq(int, compare_doubles(&parts[0], &parts[0]), 0));
}

Test(unit_sorted, later_members_decide_where_earlier_ones_are_equal)
{
    const struct stamp first = { 1, UINT64_MAX, -1, { 0.5 } };
    struct stamp other = first;
    const struct stamp *x = &first, *y = &other;
    cr_assert(eq(int, ORDER_BY(x, y, thread, time, order, of.weight), 0));
    other.of.weight = 0.25;
    cr_assert(eq(int, ORDER_BY(x, y, of.weight), 1));
    cr_assert(eq(int, ORDER_BY(x, y, thread, time, order), 0));
    cr_assert(eq(int, ORDER_BY(x, y, thread, time, order, of.weight), 1));
    other.order = 1;
    cr_assert(eq(int, ORDER_BY(x, y, thread, time, order, of.weight), -1));
    other.time = 0;
    cr_assert(eq(int, ORDER_BY(x, y, thread, time, order, of.weight), 1));
    cr_assert(eq(int, ORDER_BY(x, y, thread, order), -1));
    other.thread = 2;
    cr_assert(eq(int, ORDER_BY(x, y, thread, time, order, of.weight), -1));
    cr_assert(eq(int, ORDER_BY(y, x, thread, time), 1));
}

Test(unit_sorted, an_array_grows_by_several_elements)
{
    uint16_t *list = NULL;
    size_t count = 0, room = 0;
    for (uint16_t i = 0; i < 100; i++) {
        GROW_BY(list, count, (size_t)i, room);
        cr_assert(le(sz, count + i, room));
        for (uint16_t j = 0; j < i; j++)
            list[count++] = i;
    }
    cr_assert(eq(sz, count, 4950));
    cr_assert(le(sz, room, 2 * count));
    cr_assert(eq(u16, list[0], 1));
    cr_assert(eq(u16, list[4950 - 100], 98));
    cr_assert(eq(u16, list[4949], 99));
    free(list);
}
